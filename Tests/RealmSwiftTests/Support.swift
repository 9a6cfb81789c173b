// Models and helpers of the tests.

import Foundation
import Testing

@_spi(RealmSwiftTesting) @testable import RealmSwift

class Person: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var name = ""
    @Persisted(indexed: true) var age: Int
    @Persisted var dogs: List<Dog>
    @Persisted var address: Address?
    @Persisted var homes: List<Address>
}

class Dog: Object {
    @Persisted var name: String
    @Persisted var age: Int
    @Persisted var weight: Double
    @Persisted var nick: String?
    @Persisted var best: Dog?
    @Persisted(originProperty: "dogs") var owners: LinkingObjects<Person>
}

class Address: EmbeddedObject {
    @Persisted var street: String
    @Persisted var city: String?
}

enum Color: String, PersistableEnum {
    case red, green, blue
}

enum Level: Int, PersistableEnum {
    case low = 1
    case high = 10
}

struct Celsius: CustomPersistable {
    var degrees: Double
    init(_ degrees: Double) { self.degrees = degrees }
    init(persistedValue: Double) { degrees = persistedValue }
    var persistableValue: Double { degrees }
}

class Everything: Object {
    @Persisted(primaryKey: true) var id: ObjectId
    @Persisted var int: Int
    @Persisted var int8: Int8
    @Persisted var int16: Int16
    @Persisted var int32: Int32
    @Persisted var int64: Int64
    @Persisted var bool: Bool
    @Persisted var float: Float
    @Persisted var double: Double
    @Persisted var string: String
    @Persisted var data: Data
    @Persisted var date: Date
    @Persisted var objectId: ObjectId
    @Persisted var uuid: UUID
    @Persisted var decimal: Decimal128
    @Persisted var any: AnyRealmValue
    @Persisted var color: Color
    @Persisted var level: Level
    @Persisted var heat: Celsius

    @Persisted var optInt: Int?
    @Persisted var optBool: Bool?
    @Persisted var optFloat: Float?
    @Persisted var optDouble: Double?
    @Persisted var optString: String?
    @Persisted var optData: Data?
    @Persisted var optDate: Date?
    @Persisted var optObjectId: ObjectId?
    @Persisted var optUuid: UUID?
    @Persisted var optDecimal: Decimal128?
    @Persisted var optColor: Color?
    @Persisted var optHeat: Celsius?

    @Persisted var other: Everything?
    @Persisted var address: Address?
    @Persisted var ints: List<Int>
    @Persisted var optInts: List<Int?>
    @Persisted var strings: List<String>
    @Persisted var colors: List<Color>
    @Persisted var anys: List<AnyRealmValue>
    @Persisted var intSet: MutableSet<Int>
    @Persisted var stringSet: MutableSet<String>
    @Persisted var dogSet: MutableSet<Dog>
    @Persisted var scores: Map<String, Int>
    @Persisted var names: Map<String, String?>
    @Persisted var dogMap: Map<String, Dog?>
    @Persisted var addressMap: Map<String, Address?>
}

/// A class with properties that are not stored: accessors are made by its initializer.
class Mixture: Object {
    @Persisted var name: String
    var note = "fresh"
    lazy var shout: String = name.uppercased()
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class Animal: Object {
    @Persisted var legs: Int
}

class Cat: Animal {
    @Persisted var name: String
    override class func propertiesMapping() -> [String: String] { ["name": "cat_name"] }
    override class func _realmObjectName() -> String? { "house_cat" }
}

private final class Counter: @unchecked Sendable {
    private let lock = NSLock()
    private var number = 0
    func next() -> Int {
        lock.withLock {
            number += 1
            return number
        }
    }
}
private let counter = Counter()

/// What the names of the files begin with that stand for realms in memory of this process.
private let ownFiles = "tests%2D\(ProcessInfo.processInfo.processIdentifier)%2D"

/// Realms stay open where a misuse was left by a jump over what held them: their files go with the process.
private let cleaning: Void = {
    atexit {
        let folder = FileManager.default.temporaryDirectory
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        for name in names where name.hasPrefix(ownFiles) {
            try? FileManager.default.removeItem(at: folder.appendingPathComponent(name))
        }
    }
}()

/// A configuration for a realm of its own in memory.
func memory(_ types: [ObjectBase.Type]? = nil) -> Realm.Configuration {
    _ = cleaning
    var configuration = Realm.Configuration(
        inMemoryIdentifier: "tests-\(ProcessInfo.processInfo.processIdentifier)-\(counter.next())")
    configuration.objectTypes = types
    return configuration
}

/// A configuration for a file of its own, in a folder that goes with the closure.
func withFile<R>(
    _ types: [ObjectBase.Type]? = nil, _ body: (Realm.Configuration) throws -> R
) throws -> R {
    let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("realm-tests-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    var configuration = Realm.Configuration(fileURL: folder.appendingPathComponent("a.realm"))
    configuration.objectTypes = types
    return try body(configuration)
}

/// The text of a misuse, up to what the engine adds behind a semicolon.
func misuse(_ body: @escaping () -> Void) -> String? {
    guard let text = misuseText(of: body) else { return nil }
    let parts = text.components(separatedBy: ".; ")
    return parts.count > 1 ? parts[0] + "." : text
}

private final class Answer<Value>: @unchecked Sendable { var value: Value? }

/// What `body` gives on a thread of its own, without a run loop.
func onAnotherThread<R>(_ body: @escaping () -> R) -> R {
    let (body, answer, ended) = (UncheckedBox(body), Answer<R>(), NSCondition())
    Thread {
        let value = body.value()
        ended.withLock {
            answer.value = value
            ended.signal()
        }
    }.start()
    return ended.withLock {
        while true {
            if let value = answer.value { return value }
            ended.wait()
        }
    }
}

/// The error that a block throws.
func caught(_ body: () throws -> Void) -> Realm.Error? {
    do {
        try body()
    } catch let error as Realm.Error {
        return error
    } catch {
        Issue.record(error)
        return nil
    }
    Issue.record("nothing was thrown")
    return nil
}
