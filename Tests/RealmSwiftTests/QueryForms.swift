// The forms of conditions: as in CollectionForms, each operation is written with the type that it has to have.

import Foundation
import RealmSwift

enum QueryForms {
    static func values(_ it: Query<Everything>) {
        let _: Query<Int> = it.int
        let _: Query<String?> = it.optString
        let _: [Query<Bool>] = [
            it.int == 1, it.int != 1, it.int < 1, it.int <= 1, it.int > 1, it.int >= 1,
            it.int == it.int, it.int < it.int,
            it.int != it.int, it.int <= it.int, it.int > it.int, it.int >= it.int,
            it.int.in([1, 2]), it.int.contains(1..<2),
            it.int.contains(1...2), it.int8 > 1, it.int16 > 1, it.int32 > 1, it.int64 > 1,
            it.float > 1, it.double > 1,
            it.decimal > 1, it.date > Date(), it.date.contains(Date()...Date()), it.optInt == nil,
            it.optInt != 3,
            it.optInt > 3, it.optInt.contains(1..<2), it.optDouble >= 1, it.optDate < Date(),
            it.optDecimal <= 3,
            it.optInt.in([1, nil]), it.bool == true, it.bool, !it.bool, it.bool && it.int == 1,
            it.bool || it.int == 1,
            it.optBool == nil, it.uuid == UUID(), it.objectId == ObjectId.generate(),
            it.optUuid != nil,
            it.data == Data(), it.color == .red, it.color != .blue, it.color.in([.red]),
            it.optColor == nil,
            it.level > .low, it.level.contains(.low ... .high), it.heat == Celsius(1),
            it.optHeat == nil,
            it.any == .int(1), it.any != .none, it.any > .int(1), it.any.in([.int(1)]),
            it.any[0] == .int(1),
            it.any["key"] == .string("x"), it.any.any == .int(1), it.any["a"][1].any["b"] != .none,
        ]
        let _: Query<String> = it.color.rawValue
        let _: Query<Int> = it.level.rawValue
        let _: Query<String?> = it.optColor.rawValue
        let _: Query<Double> = it.heat.persistableValue
        let _: Query<AnyRealmValue> = it.any["a"]
    }

    static func texts(_ it: Query<Everything>) {
        let options: RealmSwift.StringOptions = [.caseInsensitive, .diacriticInsensitive]
        let _: [Query<Bool>] = [
            it.string.contains("a"), it.string.contains("a", options: options),
            it.string.contains(it.string, options: options),
            it.string.starts(with: "a"), it.string.starts(with: "a", options: .caseInsensitive),
            it.string.starts(with: it.string, options: options), it.string.ends(with: "a"),
            it.string.ends(with: "a", options: options), it.string.ends(with: it.string),
            it.string.like("a*"),
            it.string.like("a*", caseInsensitive: true),
            it.string.like(it.string, caseInsensitive: true),
            it.string.equals("a"), it.string.equals("a", options: options),
            it.string.equals(it.string, options: options),
            it.string.notEquals("a"), it.string.notEquals("a", options: options),
            it.string.notEquals(it.string),
            it.optString.contains("a", options: options), it.optString.starts(with: "a"),
            it.optString.ends(with: "a"),
            it.optString.like("a"), it.optString.equals("a"), it.optString.notEquals(nil),
            it.optString == nil,
            it.data.contains(Data()), it.data.starts(with: Data()), it.data.ends(with: Data()),
            it.data.equals(Data()),
            it.data.notEquals(Data()), it.optData.starts(with: Data()),
            it.color.rawValue.starts(with: "r"),
            it.string.in(["a"]), it.optString.in(["a", nil]),
        ]
    }

    static func collections(_ it: Query<Everything>) {
        let _: Query<Int> = it.ints.count
        let _: [Query<Int>] = [
            it.ints.min, it.ints.max, it.ints.sum, it.scores.min, it.scores.max, it.scores.sum,
        ]
        let _: [Query<Double>] = [it.ints.avg, it.scores.avg]
        let _: Query<Int> = it.dogSet.count
        let _: Query<Int> = it.dogMap.count
        let _: [Query<Bool>] = [
            it.ints.contains(1), it.ints.contains(1..<2), it.ints.contains(1...2),
            it.ints.containsAny(in: [1, 2]),
            it.ints == 1, it.ints != 1, it.ints > 1, it.ints >= 1, it.ints < 1, it.ints <= 1,
            it.intSet.contains(1),
            it.intSet.containsAny(in: [1]), it.strings.contains("a"), it.optInts.contains(nil),
            it.optInts.contains(1...2),
            it.colors.contains(.red), it.colors.rawValue == "red", it.scores.contains(1),
            it.scores.contains(1...2),
            it.scores.containsAny(in: [1]), it.scores["k"] == 1, it.scores["k"] > 1,
            it.scores.keys == "k",
            it.scores.keys.starts(with: "k"), it.scores.values > 1, it.scores.values == 1,
            it.scores.keys.contains("k"),
            it.names["k"].starts(with: "x"), it.ints.count > 3, it.anys.contains(.int(1)),
            it.dogMap["k"].name == "x", it.dogMap.values.age > 3, it.addressMap["k"].city == "x",
        ]
        let _: Query<String> = it.scores.keys
        let _: Query<Int> = it.scores.values
        let _: Query<Int> = it.scores["k"]
    }

    static func links(
        _ person: Query<Person>, _ dog: Query<Dog>, _ known: Dog, _ it: Query<Everything>
    ) {
        let _: [Query<Bool>] = [
            dog.best == nil, dog.best != nil, dog.best == known, dog.best.name == "x",
            dog.best.best.age > 1,
            dog.best.in([known]), dog.owners.age > 3, dog.owners.count == 1,
            dog.owners.name.starts(with: "A"),
            person.dogs.age > 3, person.dogs.name == "x", person.dogs.contains(known),
            person.dogs.containsAny(in: [known]),
            person.dogs.count > 3, person.dogs.age.max > 3, person.dogs.age.min > 3,
            person.dogs.age.sum > 3,
            person.dogs.age.avg > 3, person.dogs.best.name == "x", person.address.street == "x",
            person.address == nil,
            person.homes.city == "x", (person.dogs.age > 3 && person.dogs.name == "x").count == 1,
            !(person.dogs.age > 3 || person.age > 3), it.dogSet.age > 3,
        ]
    }

    static func places(_ shop: Query<Shop>, _ ship: Query<Ship>) throws {
        guard let box = GeoBox(bottomLeft: (1, 2), topRight: (3, 4)),
            let point = GeoPoint(latitude: 1, longitude: 2),
            let distance = Distance.kilometers(1),
            let polygon = GeoPolygon(outerRing: [(1, 2), (3, 4), (5, 6), (1, 2)])
        else { return }
        let _: [Query<Bool>] = [
            shop.place.geoWithin(box),
            shop.place.geoWithin(GeoCircle(center: point, radius: distance)),
            shop.place.geoWithin(polygon), ship.at == Vector(1, 2), ship.goal == nil,
            ship.goal != Vector(1, 2),
        ]
    }

    static func descriptors(_ realm: Realm) throws {
        let one: RealmSwift.SortDescriptor = RealmSwift.SortDescriptor(keyPath: "a")
        let _: [RealmSwift.SortDescriptor] = [
            one, .init(keyPath: "a", ascending: false), .init(keyPath: \Dog.age),
            .init(keyPath: \Dog.age, ascending: true),
            "a", one.reversed(),
        ]
        let _: [String] = [one.keyPath, one.description]
        let _: [Bool] = [one.ascending, one == one]
        let (format, arguments): (String, [Any]) = Query<Dog>._constructForTesting()
            ._constructPredicate()
        let _: (String, [Any]) = (format, arguments)
        let _: NSPredicate = NSPredicate(format: "a > %@ AND b == %@", 1, "x")
        let _: NSPredicate = NSPredicate(format: "a > %@", argumentArray: [1])
        let _: Results<Dog> = try realm.objects(Dog.self).filter(#Predicate { $0.age > 1 })
        let _: Results<Dog> = try realm.objects(Dog.self).filtered("age > %@", 1)
        let _: String = _name(for: \Dog.best?.name)
    }
}
