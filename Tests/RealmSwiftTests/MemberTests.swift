// Conditions, orders and aggregates over every kind of property: enumerations, types of the program, optionals, and the
// elements of collections have those of the type that is stored for them.

import Foundation
import Testing

@_spi(RealmSwiftTesting) @testable import RealmSwift

enum Grade: Int, PersistableEnum { case none, low, middle, high }
enum Word: String, PersistableEnum, Codable { case ant, ape, bee }

struct Code: CustomPersistable, Codable {
    var text: String
    init(_ text: String) { self.text = text }
    init(persistedValue: String) { text = persistedValue }
    var persistableValue: String { text }
}

class Sample: Object {
    @Persisted(primaryKey: true) var code: Code
    @Persisted(indexed: true) var other: Code?
    @Persisted var grade: Grade
    @Persisted var optGrade: Grade?
    @Persisted var word: Word
    @Persisted var optWord: Word?
    @Persisted var heat: Celsius
    @Persisted var optInt: Int?
    @Persisted var amount: Decimal128
    @Persisted var flag: Bool
    @Persisted var data: Data
    @Persisted var name: String
    @Persisted var pattern: String
    @Persisted var any: AnyRealmValue
    @Persisted var parts: List<Sample>
    @Persisted var ints: List<Int>
    @Persisted var optInts: List<Int?>
    @Persisted var grades: List<Grade>
    @Persisted var optWords: List<Word?>
    @Persisted var codes: MutableSet<Code>
    @Persisted var map: Map<String, Int>
    @Persisted var optMap: Map<String, Int?>
    @Persisted var words: Map<String, Word>
    @Persisted var optGrades: Map<String, Grade?>
    @Persisted var heats: Map<String, Celsius>
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class SampleCard: Projection<Sample> {
    @Projected(\Sample.name) var title
    @Projected(\Sample.parts.projectTo.name) var parts: ProjectedCollection<String>
}

@Suite struct MemberTests {
    /// "a" has a low grade and small values, "b" high and large ones, "c" none, and both as parts.
    private func filled() throws -> Results<Sample> {
        let realm = try Realm(configuration: memory([Sample.self]))
        try realm.write {
            for (code, factor) in [("a", 1), ("b", 2)] {
                let it = Sample(value: ["code": code, "other": code, "name": "N\(code)"])
                it.grade = factor == 1 ? .low : .high
                it.optGrade = it.grade
                it.word = factor == 1 ? .ant : .bee
                it.optWord = it.word
                it.heat = Celsius(Double(factor))
                it.optInt = factor
                it.amount = Decimal128(value: factor)
                it.flag = factor == 2
                it.data = Data([UInt8(factor)])
                it.pattern = factor == 1 ? "N?" : "x*"
                it.any = .int(factor)
                it.ints.append(objectsIn: [factor, factor * 10])
                it.optInts.append(objectsIn: [factor, nil])
                it.grades.append(it.grade)
                it.optWords.append(objectsIn: [it.word, nil])
                it.codes.insert(Code(code))
                it.map["k"] = factor
                it.optMap["k"] = factor
                it.words["k"] = it.word
                it.optGrades["k"] = it.grade
                it.heats["k"] = it.heat
                realm.add(it)
            }
            let both = realm.create(Sample.self, value: ["code": "c"])
            both.parts.append(objectsIn: realm.objects(Sample.self).filter("code != 'c'"))
        }
        return realm.objects(Sample.self).sorted(by: \.code)
    }

    @Test func everyKindOfPropertyIsCompared() throws {
        let all = try filled()
        func found(_ condition: (Query<Sample>) -> Query<Bool>) -> String {
            all.where(condition).map { $0.code.text }.joined()
        }
        #expect(found { $0.code == Code("a") } == "a" && found { $0.code != Code("a") } == "bc")
        #expect(found { $0.code.persistableValue.starts(with: "b") } == "b")
        #expect(
            found { $0.other.persistableValue == "a" } == "a" && found { $0.other == nil } == "c")
        #expect(found { $0.grade > .low } == "b" && found { $0.grade.rawValue >= 1 } == "ab")
        #expect(found { $0.grade.contains(.low ... .middle) } == "a")
        #expect(found { $0.grade.contains(.low ..< .high) } == "a")
        #expect(found { $0.optGrade > .low } == "b" && found { $0.optGrade.rawValue == 1 } == "a")
        #expect(found { $0.optGrade.contains(.low ... .high) } == "ab")
        #expect(found { $0.word.rawValue.starts(with: "a") } == "ac")
        #expect(found { $0.optWord.rawValue.starts(with: "a") } == "a")
        #expect(
            found { $0.heat.persistableValue > 1 } == "b" && found { $0.heat > Celsius(1) } == "b")
        #expect(found { $0.optInt > 1 } == "b" && found { $0.optInt.contains(1..<2) } == "a")
        #expect(found { $0.optInt.contains(1...2) } == "ab")
        #expect(found { $0.any > .int(1) } == "b" && found { $0.any <= .int(1) } == "a")
        #expect(found { $0.name.like($0.pattern) && $0.name != "" } == "a")
        #expect(found { $0.name.contains($0.code.persistableValue) } == "ab")
        #expect(found { $0.name.equals($0.pattern) } == "c")
        #expect(found { $0.name.notEquals($0.pattern) } == "ab")
    }

    @Test func elementsOfCollectionsAreCompared() throws {
        let all = try filled()
        func found(_ condition: (Query<Sample>) -> Query<Bool>) -> String {
            all.where(condition).map { $0.code.text }.joined()
        }
        #expect(
            found { $0.ints.contains(1..<11) } == "a" && found { $0.ints.contains(2...20) } == "b")
        #expect(found { $0.optInts.contains(1..<2) } == "a")
        #expect(found { $0.optInts.contains(1...2) } == "ab")
        #expect(found { $0.grades > .low } == "b" && found { $0.grades.rawValue == 1 } == "a")
        #expect(found { $0.optWords.rawValue == "bee" } == "b")
        #expect(found { $0.codes.persistableValue == "a" } == "a")
        #expect(found { $0.codes.contains(Code("b")) } == "b")
        #expect(found { $0.map.sum == 1 } == "a" && found { $0.map.max > 1 } == "b")
        #expect(found { $0.map.min == 2 } == "b" && found { $0.map.avg == 2 } == "b")
        #expect(found { $0.map.contains(1..<2) } == "a" && found { $0.map.contains(1...2) } == "ab")
        #expect(found { $0.optMap.contains(2...3) } == "b")
        #expect(found { $0.map.containsAny(in: [2, 7]) } == "b")
        #expect(found { $0.words.rawValue["k"] == "ant" } == "a")
        #expect(found { $0.optGrades.rawValue.values > 1 } == "b")
        #expect(found { $0.heats.persistableValue["k"] > 1 } == "b")
        #expect(found { $0.parts.heat.persistableValue.sum == 3 } == "c")
        #expect(found { $0.parts.grade.rawValue.max == 3 && $0.parts.optInt.min == 1 } == "c")
        #expect(found { $0.parts.heat.persistableValue.avg > 1.4 } == "c")
        #expect(misuse { _ = all.where { $0.optInt.max > 1 } }?.contains("collection") == true)
        let text = (Query<Sample>._constructForTesting().parts.optInt.avg > 1)._constructPredicate()
            .0
        #expect(text == "(parts.@avg.optInt > %@)")
    }

    @Test func everyKindOfPropertyIsSortedAndSummedUp() throws {
        let all = try filled()
        func order(_ sorted: Results<Sample>) -> String { sorted.map { $0.code.text }.joined() }
        #expect(order(all.sorted(by: \.code, ascending: false)) == "cba")
        #expect(
            order(all.sorted(by: \.grade)) == "cab" && order(all.sorted(by: \.optWord)) == "cab")
        #expect(order(all.sorted(by: \.flag, ascending: false)).first == "b")
        #expect(order(all.sorted(by: \.data)) == "cab" && order(all.sorted(by: \.any)) == "cab")
        let descriptor = RealmSwift.SortDescriptor(keyPath: \Sample.optInt, ascending: false)
        #expect(order(all.sorted(by: [descriptor])) == "bac")
        #expect(descriptor.description == "SortDescriptor(keyPath: optInt, direction: descending)")
        let least: Int? = all.min(of: \.optInt)
        let largest: Int? = all.max(of: \.optInt)
        let mean: Decimal128? = all.average(of: \.amount)
        #expect(least == 1 && largest == 2 && all.sum(of: \.optInt) == 3 && mean == 1)
        #expect(all.average(of: \.optInt) == 1.5)
        #expect(all.max(of: \.heat) == Celsius(2) && all.max(of: \.any) == .int(2))
        let both = try #require(all.last)
        try #require(both.realm).write { both.optInts.append(objectsIn: [nil, 4, 6]) }
        let smallest: Int? = both.optInts.min()
        let greatest: Int? = both.optInts.max()
        let sum: Int = both.optInts.sum()
        #expect(smallest == 4 && greatest == 6 && sum == 10)
        #expect(Map<String, Int?>().isEmpty && all[0].optMap.values == [1])
    }

    @Test func typesOfTheProgramAreKeys() throws {
        let all = try filled()
        let realm = try #require(all.realm)
        let found = realm.object(ofType: Sample.self, forPrimaryKey: Code("b"))
        #expect(found?.grade == .high)
        let schema = try #require(realm.schema["Sample"])
        #expect(schema.primaryKeyProperty?.name == "code" && schema["other"]?.isIndexed == true)
        try realm.write {
            realm.create(Sample.self, value: ["code": "b", "optInt": 9], update: .modified)
        }
        #expect(found?.optInt == 9 && all.count == 3)
        let projected = realm.objects(SampleCard.self).sorted(by: \.title)
        #expect(projected.map { $0.title } == ["", "Na", "Nb"])
        #expect(realm.objects(SampleCard.self).distinct(by: [\.title]).count == 3)
        #expect(_name(for: \SampleCard.title) == "name")
    }

    @Test func genericCodeTakesMaps() throws {
        let all = try filled()
        func total<Values: RealmKeyedCollection>(_ values: Values) -> Int
        where Values.Value == Int {
            let known = values.keys.reduce(0) { $0 + (values[$1] ?? 0) }
            return values.contains(where: { _, value in value > 1 }) ? -known : known
        }
        #expect(all.prefix(2).map { total($0.map) } == [1, -2])
        let map = Map<String, Int>()
        map.merge(["a": 1, "b": 2]) { $0 + $1 }
        map.merge([("a", 4), ("c", 5)]) { $0 + $1 }
        #expect(map["a"] == 5 && map["b"] == 2 && map["c"] == 5)
    }

    @Test @MainActor func projectedCollectionsAreObserved() async throws {
        let all = try filled()
        let realm = try #require(all.realm)
        let card = try #require(realm.objects(SampleCard.self).filter("code == 'c'").first)
        let log = Log()
        let parts = card.parts
        #expect(parts.realm == realm && !parts.isFrozen && parts.index(of: "Nb") == 1)
        let token = parts.observe { change in
            guard case .update(let values, let gone, let added, let changed) = change else {
                return log.add("initial")
            }
            log.add("\(Array(values)) -\(gone) +\(added) ~\(changed)")
        }
        let actors = await parts.observe(on: MainActor.shared) { _, change in
            if case .update(let values, _, _, _) = change { log.add("actor \(values.count)") }
        }
        #expect(try await log.wait(1) == ["initial"])
        let frozen = parts.freeze()
        try realm.write { all[0].name = "X" }
        #expect(
            Set(try await log.wait(3).suffix(2)) == ["[\"X\", \"Nb\"] -[] +[] ~[0]", "actor 2"])
        try realm.write { all[0].optInt = 7 }
        try realm.write { realm.delete(all[1]) }
        let lines = try await log.wait(5)
        #expect(Set(lines.suffix(2)) == ["[\"X\"] -[1] +[] ~[]", "actor 1"])
        #expect(Array(frozen) == ["Na", "Nb"] && frozen.isFrozen)
        #expect(frozen.thaw().map { Array($0) } == ["X"] && !parts.isInvalidated)
        token.invalidate()
        actors.invalidate()
    }

    @Test func sectionsAreFrozenAndDescribed() throws {
        let all = try filled()
        let realm = try #require(all.realm)
        let sections = all.sectioned(by: \.grade)
        let section = try #require(sections.first { $0.key == .low })
        let frozen = section.freeze()
        try realm.write { realm.delete(section[0]) }
        #expect(section.isEmpty && frozen.count == 1 && frozen.isFrozen && !section.isInvalidated)
        #expect(frozen.thaw()?.isEmpty == true)
        #expect(frozen.description.hasPrefix("low: [Sample {"))
        #expect(sections.description.contains("\thigh: [Sample {"))
    }
}
