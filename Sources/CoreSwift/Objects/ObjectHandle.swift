// Object handles: an object of a realm as a 64-byte slot of `HandleSlab`, with the place of its
// row remembered as long as the session's stamp stands.
//
//   offset  size  field
//        0     8  tag (HandleKind.object)
//        8     8  Session
//       16     8  Table, valid while the stamp is the session's
//       24     8  object key
//       32     8  stamp at which the place below was found
//       40     8  leaf
//       48     4  row
//       52     1  LeafState
//       53     1  1: the notifier is to hear of the end of the handle
//       54     2  0
//       56     4  class key
//       60     2  generation of the session (low half)
//       62     2  rollbacks of the session (low half)
//
// A call with an unchanged stamp costs two compares before it touches the row. Whoever lets go of
// a realm while handles exist has the session keep it (`pinIfNeeded`).

import CKernels

package struct ObjectHandle {
    package let slot: UnsafeMutableRawPointer

    @inline(__always) package init(checked slot: UnsafeMutableRawPointer) { self.slot = slot }

    @inline(__always) var session: Session {
        slot.load(fromByteOffset: 8, as: Session.self)
    }
    @inline(__always) var table: Table {
        get { slot.load(fromByteOffset: 16, as: Table.self) }
        nonmutating set { slot.storeBytes(of: newValue, toByteOffset: 16, as: Table.self) }
    }
    @inline(__always) package var objectKey: ObjectKey {
        slot.load(fromByteOffset: 24, as: ObjectKey.self)
    }
    @inline(__always) package var classKey: ClassKey {
        slot.load(fromByteOffset: 56, as: ClassKey.self)
    }
    @inline(__always) private var stamp: UInt64 {
        get { slot.load(fromByteOffset: 32, as: UInt64.self) }
        nonmutating set { slot.storeBytes(of: newValue, toByteOffset: 32, as: UInt64.self) }
    }
    @inline(__always) private var place: RowPlace {
        get {
            RowPlace(
                leaf: slot.load(fromByteOffset: 40, as: UnsafeMutableRawPointer.self),
                row: Int(slot.load(fromByteOffset: 48, as: UInt32.self)),
                state: slot.load(fromByteOffset: 52, as: LeafState.self))
        }
        nonmutating set {
            slot.storeBytes(of: newValue.leaf, toByteOffset: 40, as: UnsafeMutableRawPointer.self)
            slot.storeBytes(of: UInt32(newValue.row), toByteOffset: 48, as: UInt32.self)
            slot.storeBytes(of: newValue.state, toByteOffset: 52, as: LeafState.self)
        }
    }

    /// Of the session, the low half.
    @inline(__always) private var generation: UInt16 {
        get { slot.load(fromByteOffset: 60, as: UInt16.self) }
        nonmutating set { slot.storeBytes(of: newValue, toByteOffset: 60, as: UInt16.self) }
    }
    @inline(__always) private var rollbacks: UInt16 {
        get { slot.load(fromByteOffset: 62, as: UInt16.self) }
        nonmutating set { slot.storeBytes(of: newValue, toByteOffset: 62, as: UInt16.self) }
    }
    private var isOfThisGeneration: Bool {
        generation == UInt16(truncatingIfNeeded: session.pointee.generation)
    }

    // MARK: Making and ending

    @inline(__always)
    static func make(
        _ session: Session, _ table: Table, _ key: ObjectKey, _ place: RowPlace
    ) -> ObjectHandle {
        let handle = ObjectHandle(checked: HandleSlab.allocate(.object))
        handle.slot.storeBytes(of: session, toByteOffset: 8, as: Session.self)
        handle.name(session, table, key, place)
        retainRealm(session)
        return handle
    }

    /// Names another object of the same realm and class from now on. False, and the old one, where the handle is of
    /// others or observed, or several threads use it.
    @inline(__always)
    func point(_ session: Session, _ table: Table, _ key: ObjectKey, _ place: RowPlace) -> Bool {
        guard self.session == session, classKey == table.classKey, !isObserved,
            session.pointee.threadMask != 0
        else { return false }
        name(session, table, key, place)
        return true
    }

    @inline(__always)
    private func name(_ session: Session, _ table: Table, _ key: ObjectKey, _ place: RowPlace) {
        self.table = table
        slot.storeBytes(of: key, toByteOffset: 24, as: ObjectKey.self)
        stamp = session.pointee.stamp.pointee
        slot.storeBytes(of: place.leaf, toByteOffset: 40, as: UnsafeMutableRawPointer.self)
        slot.storeBytes(of: UInt32(place.row), toByteOffset: 48, as: UInt32.self)
        slot.storeBytes(of: UInt32(place.state.rawValue), toByteOffset: 52, as: UInt32.self)
        slot.storeBytes(of: table.classKey, toByteOffset: 56, as: ClassKey.self)
        generation = UInt16(truncatingIfNeeded: session.pointee.generation)
        rollbacks = UInt16(truncatingIfNeeded: session.pointee.rollbacks)
    }

    @inline(__always)
    private static func retainRealm(_ session: Session) {
        if session.pointee.threadMask == 0 {
            session.pointee.realm.takeUnretainedValue().keepAlive()
        } else {
            session.pointee.handles &+= 1
        }
    }

    /// Gives the handle back.
    @inline(__always)
    package func release() {
        let session = session
        if isObserved { forgetObservers() }
        HandleSlab.release(slot)
        if session.pointee.threadMask != 0 && session.pointee.isOnKnownThread {
            session.pointee.handles &-= 1
            if session.pointee.isPinned != 0 { session.unpinIfPossible() }
            return
        }
        Self.releaseElsewhere(session)
    }

    /// Whether somebody observes the object by this handle, or did.
    @inline(__always) private var isObserved: Bool {
        slot.load(fromByteOffset: 53, as: UInt8.self) != 0
    }

    func noteObserved() { slot.storeBytes(of: 1, toByteOffset: 53, as: UInt8.self) }

    @inline(never)
    private func forgetObservers() {
        session.pointee.realm.takeUnretainedValue().notifier?.forget(UInt(bitPattern: slot))
    }

    /// A handle of a frozen realm, or one released by another thread than the realm's.
    @inline(never)
    private static func releaseElsewhere(_ session: Session) {
        if session.pointee.isFrozen {
            session.pointee.realm.takeUnretainedValue().letGo()
            return
        }
        _ = ck_add_u64(&session.pointee.foreignReleases, 1)
        if ck_load_u64(&session.pointee.isPinned) != 0 { session.unpinIfPossible() }
    }

    /// Another handle to the same object, also of an invalid one.
    package func clone() -> ObjectHandle {
        let copy = ObjectHandle(checked: HandleSlab.allocate(.object))
        memcpy(copy.slot + 8, slot + 8, HandleSlab.slotSize - 8)
        copy.slot.storeBytes(of: 0, toByteOffset: 53, as: UInt8.self)
        Self.retainRealm(session)
        return copy
    }

    // MARK: Finding the row

    /// The row; throws when the object is gone, the realm closed or the thread wrong.
    @inline(__always)
    func row() throws(RealmError) -> RowPlace {
        let session = session
        if stamp == session.pointee.stamp.pointee && session.pointee.isOnKnownThread {
            return place
        }
        return try findRow()
    }

    @inline(never)
    private func findRow() throws(RealmError) -> RowPlace {
        guard let place = try lookUp() else { throw invalidated() }
        return place
    }

    private func invalidated() -> RealmError {
        RealmError(.invalidatedObject, "\(named) was deleted, or its realm closed")
    }

    /// The object as messages name it; without its class where the tables are gone with the session.
    var named: String {
        let session = session
        guard session.pointee.status != .closed, isOfThisGeneration else {
            return "object \(objectKey)"
        }
        return "object \(objectKey) of \(table.named)"
    }

    /// Finds the row anew; nil when the object is not there any more.
    private func lookUp() throws(RealmError) -> RowPlace? {
        let session = session
        if session.pointee.status == .closed { return nil }
        let realm = session.pointee.realm.takeUnretainedValue()
        try realm.checkUsable()
        guard isOfThisGeneration else { return nil }
        if rollbacks != UInt16(truncatingIfNeeded: session.pointee.rollbacks) {
            let passed = UInt16(truncatingIfNeeded: session.pointee.rollbacks) &- rollbacks
            let since = session.pointee.rollbacks &- UInt32(passed)
            if realm.aborted.contain(classKey, objectKey, since: since) { return nil }
        }
        guard let table = try realm.readTables().table(classKey),
            let found = try table.find(objectKey)
        else { return nil }
        // Frozen realms are read by several threads: nothing is remembered anew there.
        if session.pointee.threadMask != 0 {
            self.table = table
            place = found
            stamp = session.pointee.stamp.pointee
        }
        return found
    }

    /// Whether the object is there.
    package var isValid: Bool {
        let session = session
        if stamp == session.pointee.stamp.pointee && session.pointee.isOnKnownThread {
            return true
        }
        do throws(RealmError) {
            return try lookUp() != nil
        } catch {
            // Off the realm's thread or with a damaged file: nothing can be done with it.
            return false
        }
    }

    /// What any thread may ask: the realm was closed or invalidated, or the handle has ended. The object may be gone
    /// otherwise, too.
    package var isOver: Bool {
        session.pointee.status == .closed || !isOfThisGeneration
    }

    /// Names no object from now on, also where its own comes back with a rollback: it is of another generation.
    package func end() {
        generation = UInt16(truncatingIfNeeded: session.pointee.generation) &- 1
        stamp = 0
    }

    /// Throws unless the object is there, to be used by this thread.
    package func checkValid() throws(RealmError) { _ = try row() }

    /// Whether both handles name one object of one realm.
    package func isEqual(_ other: ObjectHandle) -> Bool {
        session == other.session && objectKey == other.objectKey && classKey == other.classKey
    }

    package var realm: Realm { session.pointee.realm.takeUnretainedValue() }

    // MARK: Values

    /// Column of a property key, or `.invalidProperty`.
    @inline(__always)
    static func column(_ table: Table, _ key: PropertyKey) throws(RealmError) -> Int {
        let column = key.column
        guard column < table.columnCount,
            table.columns[column].propertyKey == key
        else { throw unknownProperty(table, key) }
        return column
    }

    @inline(never)
    private static func unknownProperty(_ table: Table, _ key: PropertyKey) -> RealmError {
        RealmError(
            .invalidProperty,
            "\(table.named) has no property with key \(key)")
    }

    /// Reads one value. Text is borrowed until the realm moves or changes.
    @inline(__always)
    package func getValue(
        _ propertyKey: PropertyKey, _ target: UnsafeMutablePointer<RawValue>?
    ) throws(RealmError) {
        let place = try row()
        let table = table
        let column = try Self.column(table, propertyKey)
        var value = try table.value(place, objectKey, column)
        if table.columns[column].kind.hasHeap {
            value = try self.text(value, column, place)
        }
        target?.pointee = value
    }

    /// The same, as what is returned.
    package func value(_ propertyKey: PropertyKey) throws(RealmError) -> RawValue {
        var value = RawValue.null
        try getValue(propertyKey, &value)
        return value
    }

    /// Text where it stays; collections are no values.
    @inline(__always)
    private func text(
        _ value: RawValue, _ column: Int, _ place: RowPlace
    ) throws(RealmError) -> RawValue {
        if table.columns[column].kind == .collection { throw isCollection(column) }
        return place.state == .sealed ? value : realm.keep(value)
    }

    @inline(never)
    private func isCollection(_ column: Int) -> RealmError {
        RealmError(
            .propertyTypeMismatch,
            "property \(table.named(column: column)) is a "
                + "\(table.columns[column].collection), not a value")
    }

    /// Reads several values; on an error earlier ones are written.
    package func getValues(
        _ count: Int, _ keys: UnsafePointer<PropertyKey>, _ target: UnsafeMutablePointer<RawValue>?
    ) throws(RealmError) {
        _ = try row()
        for index in 0..<count { try getValue(keys[index], target.map { $0 + index }) }
    }

    /// Writes one value. It and its key are passed as they are: given with `&` as the address of a
    /// variable that a closure captures, the optimiser (6.3.1) took the variable for unused.
    @inline(__always)
    package func setValue(_ key: PropertyKey, _ value: RawValue) throws(RealmError) {
        let place = try row()
        let table = table
        let column = try Self.column(table, key)
        try table.checkType(value, column)
        guard session.pointee.status == .writing else { throw try refused(value) }
        if table.columns[column].isPrimaryKey {
            self.place = try setKey(table, place, column, value)
            stamp = session.pointee.stamp.pointee
            return
        }
        let written = try table.setValue(place, objectKey, column, value)
        self.place = written
        stamp = session.pointee.stamp.pointee
    }

    /// Writes several values. Keys and types are checked before anything is written.
    @inline(__always)
    package func setValues(
        _ count: Int, _ keys: UnsafePointer<PropertyKey>, _ values: UnsafePointer<RawValue>
    ) throws(RealmError) {
        var place = try row()
        let table = table
        for index in 0..<count {
            let column = try Self.column(table, keys[index])
            try table.checkType(values[index], column)
        }
        guard session.pointee.status == .writing else {
            throw count > 0 ? try refused(values[0]) : realm.notWriting()
        }
        for index in 0..<count {
            let column = keys[index].column
            if table.columns[column].isPrimaryKey {
                place = try setKey(table, place, column, values[index])
                continue
            }
            place = try table.setValue(place, objectKey, column, values[index])
        }
        self.place = place
        stamp = session.pointee.stamp.pointee
    }

    /// Why a value of a fitting type cannot be written outside a write transaction: that a link leads
    /// nowhere comes first.
    @inline(never)
    private func refused(_ value: RawValue) throws(RealmError) -> RealmError {
        try table.checkElementTarget(value)
        return realm.notWriting()
    }

    /// Writes the primary key where a migration allows that. Returns where the row is afterwards.
    @inline(never)
    private func setKey(
        _ table: Table, _ place: RowPlace, _ column: Int, _ value: RawValue
    ) throws(RealmError) -> RowPlace {
        guard try realm.mayEditKeys(table) else {
            try checkSameKey(table, place, column, value)
            return place
        }
        // Which may have moved the row.
        guard let current = try table.find(objectKey) else { throw invalidated() }
        try table.willSet(current, objectKey, column, value)
        return try table.store(current, objectKey, column, table.columns[column], value)
    }

    /// Writing the primary key that the object has is no change; another one is refused.
    @inline(never)
    private func checkSameKey(
        _ table: Table, _ place: RowPlace, _ column: Int, _ value: RawValue
    ) throws(RealmError) {
        let old = try table.value(place, objectKey, column)
        // By bytes: texts that look alike are different keys.
        if old.isNull || value.isNull ? old.isNull && value.isNull : ValueOrder.equal(old, value) {
            return
        }
        throw RealmError(
            .modifyPrimaryKey,
            "the primary key of object \(objectKey) of \(table.named) cannot be "
                + "changed after its creation")
    }

    /// Adds to an integer, or a mixed value that is one, wrapping around.
    package func addInt(_ propertyKey: PropertyKey, _ delta: Int64) throws(RealmError) {
        let place = try row()
        let table = table
        let column = try Self.column(table, propertyKey)
        let kind = table.columns[column].kind
        guard kind == .int || kind == .mixed else {
            throw RealmError(
                .illegalOperation,
                "property \(table.named(column: column)) is no integer to add to")
        }
        let old = try table.integer(place, objectKey, column)
        guard session.pointee.status == .writing else { throw realm.notWriting() }
        if table.columns[column].isPrimaryKey {
            return try checkSameKey(table, place, column, .int(old &+ delta))
        }
        self.place = try table.add(place, objectKey, column, delta)
        stamp = session.pointee.stamp.pointee
    }

    /// The object that a to-one link points to, or nil; also that of a mixed value that is a link.
    /// Null in a mixed or string property is nil, too, as in the C interface.
    @inline(__always)
    package func linkedObject(_ propertyKey: PropertyKey) throws(RealmError) -> ObjectHandle? {
        let place = try row()
        let table = table
        let column = try Self.column(table, propertyKey)
        let info = table.columns[column]
        guard info.kind.holdsLinks || info.kind == .string else { throw noLink(column) }
        let value = try table.value(place, objectKey, column)
        if value.isNull { return nil }
        guard value.type == ValueType.link.rawValue else { throw noLink(column) }
        let target = value.linkTarget
        guard let other = table.table(value.linkClass),
            let found = try other.find(target)
        else {
            throw RealmError(
                .invalidDatabase,
                "object \(objectKey) of \(table.named) links to object \(target) of "
                    + "\(table.named(value.linkClass)), which is not there")
        }
        return Self.make(session, other, target, found)
    }

    private func noLink(_ column: Int) -> RealmError {
        RealmError(
            .invalidTableRef, "property \(table.named(column: column)) holds no link")
    }

    /// Deletes the object; the handle stays to be released.
    package func delete() throws(RealmError) {
        let place = try row()
        _ = place
        guard session.pointee.status == .writing else { throw realm.notWriting() }
        try table.deleteRow(objectKey)
        // Whatever row comes to stand there: the place is not this object's any more.
        stamp = 0
        session.pointee.stamp.pointee &+= 1
    }
}
