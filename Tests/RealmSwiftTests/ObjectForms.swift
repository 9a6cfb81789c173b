// The forms of objects and values: as in CollectionForms, each member is used with the type that it has to have, and
// models are declared in every form.

import Foundation
@preconcurrency import RealmSwift

/// Every form of `@Persisted`; what must not compile is not here.
private class Declared: Object {
    @Persisted(primaryKey: true) var id = UUID()
    @Persisted(indexed: true) var text: String
    @Persisted(indexed: true) var name = "none"
    @Persisted(indexed: true) var day: Date
    @Persisted(indexed: true) var flag: Bool?
    @Persisted(indexed: true) var any: AnyRealmValue
    @Persisted var number = 3
    @Persisted var list: List<Int>
    @Persisted var other = List<Dog>()
    @Persisted var color = Color.red
    @Persisted var maybe: Color?
    @Persisted(originProperty: "dogs") var owners: LinkingObjects<Person>
    var plain = "not stored"

    override class func primaryKey() -> String? { "id" }
    override class func indexedProperties() -> [String] { [] }
    override class func ignoredProperties() -> [String] { [] }
    override class func propertiesMapping() -> [String: String] { [:] }
    override class func _realmColumnNames() -> [String: String]? { nil }
    override class func _realmObjectName() -> String? { "DeclaredForm" }
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
    required init() { super.init() }
}

private class DeclaredPart: EmbeddedObject, Codable {
    @Persisted var name: String
    @Persisted var numbers: List<Int>
    @Persisted var nick: String?
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private class DeclaredOlder: Object, LegacyDeclarations {
    @Persisted var name = ""
    let age = RealmOptional<Int>()
    let height = RealmProperty<Double?>()
    let any = RealmProperty<AnyRealmValue>()
    let dogs = List<Dog>()
    let set = MutableSet<Int>()
    let map = Map<String, Int>()
    let owners = LinkingObjects(fromType: Person.self, property: "dogs")
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private struct DeclaredCustom: FailableCustomPersistable {
    var text: String
    init?(persistedValue: String) { text = persistedValue }
    var persistableValue: String { text }
}

enum ObjectForms {
    static func made(_ dog: Dog) {
        let _: [Dog] = [Dog(), Dog(value: ["name": "x"]), Dog(value: ["x", 3]), Dog(value: dog)]
        let _: [Address] = [Address(), Address(value: ["street": "x"])]
        let _: Object = dog
        let _: ObjectBase = Address()
        let _: String = Dog.className()
        let _: String? = Person.primaryKey()
        let _: [String] = Dog.indexedProperties() + Dog.ignoredProperties()
        let _: [String: String] = Cat.propertiesMapping()
        let older = DeclaredOlder()
        let _: Int? = older.age.value
        let _: Double? = older.height.value
        let _: AnyRealmValue = older.any.value
        older.age.value = nil
        older.height.value = 3
        let _: DeclaredCustom? = DeclaredCustom(persistedValue: "x")
    }

    @MainActor static func members(_ dog: Dog, _ address: Address) async {
        let _: Realm? = dog.realm
        let _: ObjectSchema = dog.objectSchema
        let _: [Bool] = [
            dog.isInvalidated, dog.isFrozen, dog.isSameObject(as: nil), dog.isSameObject(as: dog),
            dog == dog,
        ]
        let _: [String] = [dog.description, dog.debugDescription]
        let _: Int = dog.hash
        let _: Bool = dog.isEqual(dog)
        let _: Dog = dog.freeze()
        let _: Dog? = dog.thaw()
        let _: Address? = address.freeze().thaw()
        let _: Any? = dog["name"]
        dog["name"] = "x"
        dog["nick"] = nil
        let _: Any? = dog.value(forKey: "name")
        let _: Any? = dog.value(forKeyPath: "best.name")
        dog.setValue("x", forKey: "name")
        dog.setValue("x", forKeyPath: "best.name")
        dog.setValuesForKeys(["name": "x"])
        let _: [String: Any] = dog.dictionaryWithValues(forKeys: ["name"])
        let _: List<DynamicObject> = dog.dynamicList("dogs")
        let _: MutableSet<DynamicObject> = dog.dynamicMutableSet("dogs")
        let _: Map<String, DynamicObject?> = dog.dynamicMap("dogs")
        let change: (ObjectChange<Dog>) -> Void = { change in
            switch change {
            case .change(let dog, let properties):
                let _: Dog = dog
                for property: PropertyChange in properties {
                    let _: String = property.name
                    let _: [Any?] = [property.oldValue, property.newValue]
                }
            case .deleted: break
            case .error(let error):
                let _: any Error = error
            }
        }
        let _: [NotificationToken] = [
            dog.observe(change), dog.observe { (_: ObjectChange<Dog>) in },
            dog.observe(on: .main, change),
            dog.observe(keyPaths: ["name"], change),
            dog.observe(keyPaths: ["name"], on: .main, change),
            dog.observe(keyPaths: [\Dog.name], change),
            dog.observe(keyPaths: [\Dog.name, \.age], on: .main, change),
            address.observe { (_: ObjectChange<Address>) in },
        ]
        let _: NotificationToken = await dog.observe(on: MainActor.shared) {
            (_, _: ObjectChange<Dog>) in
        }
        let _: NotificationToken = await dog.observe(keyPaths: ["name"], on: MainActor.shared) {
            (_, _: ObjectChange<Dog>) in
        }
        let _: NotificationToken = await dog.observe(keyPaths: [\.name], on: MainActor.shared) {
            (_, _: ObjectChange<Dog>) in
        }
    }

    static func mixed(_ dog: Dog) {
        let values: [AnyRealmValue] = [
            .none, .int(1), .bool(true), .float(1), .double(1), .string("x"), .data(Data()),
            .date(Date()), .object(dog),
            .objectId(.generate()), .decimal128(3), .uuid(UUID()),
            .dictionary(Map<String, AnyRealmValue>()),
            .list(List<AnyRealmValue>()), .fromArray([.int(1)]), .fromDictionary(["a": .int(1)]),
            nil,
        ]
        let one = values[0]
        let _: Int? = one.intValue
        let _: Bool? = one.boolValue
        let _: Float? = one.floatValue
        let _: Double? = one.doubleValue
        let _: String? = one.stringValue
        let _: Data? = one.dataValue
        let _: Date? = one.dateValue
        let _: ObjectId? = one.objectIdValue
        let _: Decimal128? = one.decimal128Value
        let _: UUID? = one.uuidValue
        let _: Map<String, AnyRealmValue>? = one.dictionaryValue
        let _: List<AnyRealmValue>? = one.listValue
        let _: Dog? = one.object(Dog.self)
        let _: DynamicObject? = one.dynamicObject
        let _: Bool = one == one && Set([one]).count == 1
    }

    static func values() throws {
        let id: ObjectId = ObjectId.generate()
        let _: [ObjectId] = [
            ObjectId(), try ObjectId(string: "x"), ObjectId("0123456789abcdef01234567"),
            ObjectId(timestamp: Date(), machineId: 1, processId: 2),
        ]
        let _: [String] = [id.stringValue, id.description]
        let _: Date = id.timestamp
        let _: [Bool] = [id == id, id < id, id <= id, id > id, id >= id]
        let _: ObjectId = try JSONDecoder().decode(
            ObjectId.self, from: try JSONEncoder().encode(id))

        var decimal: Decimal128 = 3
        let _: [Decimal128] = [
            1, 1.5, "1.5", Decimal128(), Decimal128(value: 3), Decimal128(number: 3),
            try Decimal128(string: "3"), .min, .max,
            decimal + 1, decimal - 1, decimal * 2, decimal / 2, decimal.magnitude, -decimal,
            decimal.advanced(by: 1),
            decimal.distance(to: 1),
            try JSONDecoder().decode(Decimal128.self, from: try JSONEncoder().encode(decimal)),
        ]
        let _: Decimal128? = Decimal128(exactly: 3)
        decimal *= 2
        decimal += 2
        decimal -= 2
        let _: [Bool] = [
            decimal.isNaN, decimal == 1, decimal < 1, decimal <= 1, decimal > 1, decimal >= 1,
        ]
        let _: Double = decimal.doubleValue
        let _: Decimal = decimal.decimalValue
        let _: [String] = [decimal.stringValue, decimal.description]
    }

    static func places() {
        guard let point: GeoPoint = GeoPoint(latitude: 1, longitude: 2),
            let _: GeoPoint = GeoPoint(latitude: 1, longitude: 2, altitude: 3),
            let far: Distance = Distance.kilometers(1),
            let box: GeoBox = GeoBox(bottomLeft: (1, 2), topRight: (3, 4)),
            let circle: GeoCircle = GeoCircle(center: point, radiusInRadians: 0.1),
            let _: GeoCircle = GeoCircle(center: (1, 2), radiusInRadians: 0.1),
            let _: GeoCircle = GeoCircle(center: (1, 2), radius: far),
            let polygon: GeoPolygon = GeoPolygon(outerRing: [point, point, point, point]),
            let _: GeoPolygon = GeoPolygon(
                outerRing: [(1, 2), (3, 4), (5, 6), (1, 2)],
                holes: [[(1, 2), (3, 4), (5, 6), (1, 2)]])
        else { return }
        let _: GeoBox = GeoBox(bottomLeft: point, topRight: point)
        let _: GeoCircle = GeoCircle(center: point, radius: far)
        let _: [Double] = [
            point.latitude, point.longitude, point.altitude, circle.radiusInRadians,
            far.asKilometers(), far.asMiles(),
            far.asDegrees(), far.radians,
        ]
        let _: [GeoPoint] =
            [box.bottomLeft, box.topRight, circle.center] + polygon.outerRing
            + (polygon.holes?.first ?? [])
        let _: [Distance?] = [.kilometers(1), .miles(1), .degrees(1), .radians(1)]
        let _: [Bool] = [
            point == point, box == box, circle == circle, polygon == polygon, far == far,
        ]
    }

    /// The forms of the class page of `RLMObject`.
    static func classPage(_ realm: Realm, _ ticket: Ticket) {
        let _: [Ticket] = [
            Ticket.createInDefaultRealm(withValue: ["title": "x"]),
            Ticket.create(in: realm, withValue: [:] as [String: Any]),
            Ticket.createOrUpdateInDefaultRealm(withValue: ["x"]),
            Ticket.createOrUpdate(in: realm, withValue: ["x"]),
            Ticket.createOrUpdateModifiedInDefaultRealm(withValue: ["x"]),
            Ticket.createOrUpdateModified(in: realm, withValue: ["x"]),
        ]
        let _: [Results<Ticket>] = [
            Ticket.allObjects(), Ticket.allObjects(in: realm),
            Ticket.objects(where: "price > %@", 1),
            Ticket.objects(in: realm, where: "price > %@", 1),
            Ticket.objects(with: NSPredicate(value: true)),
            Ticket.objects(in: realm, with: nil),
        ]
        let _: [Ticket?] = [
            Ticket.object(forPrimaryKey: "x"), Ticket.object(in: realm, forPrimaryKey: "x"),
        ]
        let _: Bool = ticket.isEqual(to: ticket)
        let _: NotificationToken = ticket.addNotificationBlock {
            (deleted: Bool, changes: [PropertyChange]?, error: (any Error)?) in
        }
        let _: NotificationToken = ticket.addNotificationBlock({ _, _, _ in }, queue: .main)
    }
}
