// Values and arguments between the C records and the engine. `RawValue` has the layout of
// `realm_value_t`, so a value crosses as it is; what callers may get wrong (a type number that is
// none) is checked where the value is used.

import CRealm
import CoreSwift

extension RawValue {
    /// The value of a C caller, bit for bit.
    @inline(__always)
    init(_ value: realm_value_t) { self = unsafeBitCast(value, to: RawValue.self) }

    /// For a C caller, bit for bit.
    @inline(__always)
    var cValue: realm_value_t { unsafeBitCast(self, to: realm_value_t.self) }
}

extension UnsafeMutablePointer where Pointee == realm_value_t {
    @inline(__always)
    var raw: UnsafeMutablePointer<RawValue> {
        UnsafeMutableRawPointer(self).assumingMemoryBound(to: RawValue.self)
    }
}

extension UnsafePointer where Pointee == realm_value_t {
    @inline(__always)
    var raw: UnsafePointer<RawValue> {
        UnsafeRawPointer(self).assumingMemoryBound(to: RawValue.self)
    }
}

// Keys are the engine's types from here on; arrays of them have the layout of arrays of numbers.

extension ClassKey {
    @inline(__always) init(_ key: realm_class_key_t) { self.init(rawValue: key) }
}

extension PropertyKey {
    @inline(__always) init(_ key: realm_property_key_t) { self.init(rawValue: key) }
}

extension ObjectKey {
    @inline(__always) init(_ key: realm_object_key_t) { self.init(rawValue: key) }
}

extension UnsafePointer where Pointee == realm_property_key_t {
    @inline(__always)
    var propertyKeys: UnsafePointer<PropertyKey> {
        UnsafeRawPointer(self).assumingMemoryBound(to: PropertyKey.self)
    }
}

extension UnsafeMutablePointer where Pointee == realm_object_key_t {
    @inline(__always)
    var objectKeys: UnsafeMutablePointer<ObjectKey> {
        UnsafeMutableRawPointer(self).assumingMemoryBound(to: ObjectKey.self)
    }
}
