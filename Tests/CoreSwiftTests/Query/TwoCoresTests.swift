// Scans and sorts that are large enough for a second thread give what plain Swift gives.

import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite(.serialized) struct TwoCoresTests {
    private static let note = ClassSchema(
        "Note",
        properties: [
            PropertySchema("rank", .int, flags: [.nullable]),
            PropertySchema("text", .string),
            PropertySchema("marks", .int, collection: .list),
            PropertySchema("near", .object, collection: .list, linkTarget: "Note"),
            PropertySchema("weights", .double, collection: .list),
            PropertySchema("words", .string, collection: .set),
            PropertySchema("days", .timestamp, collection: .list, flags: [.nullable]),
            PropertySchema("named", .int, collection: .dictionary),
        ])

    private struct Row {
        var key: ObjectKey
        var rank: Int?
        var text: String
    }

    /// A realm with so many notes, and what they hold.
    private static func make(_ path: String, _ count: Int) throws -> (Realm, [Row]) {
        let realm = try Realm.open(TestSchema.configuration(path, Schema([note])))
        var random = Random(31)
        var rows: [Row] = []
        try realm.write {
            let owner = realm.schema.class_(named: "Note")!
            let rankKey = owner.property(named: "rank")!.key
            let textKey = owner.property(named: "text")!.key
            for _ in 0..<count {
                let rank = random.below(40) == 0 ? nil : random.below(90)
                let text = "note \(random.below(30_000)) of \(random.below(7))"
                let object = try realm.createObject(owner.key)
                let value = rank.map { Value.int(Int64($0)) } ?? .null
                try value.withRaw { raw throws(RealmError) in try object.setValue(rankKey, raw) }
                try Value.string(text).withRaw { raw throws(RealmError) in
                    try object.setValue(textKey, raw)
                }
                rows.append(Row(key: object.objectKey, rank: rank, text: text))
                object.release()
            }
        }
        return (realm, rows)
    }

    /// Gives every `step`-th note marks and near notes: its number, and the one before.
    private static func addLists(_ realm: Realm, _ rows: [Row], step: Int) throws {
        let owner = realm.schema.class_(named: "Note")!
        let marks = owner.property(named: "marks")!.key
        let near = owner.property(named: "near")!.key
        for index in stride(from: step, to: rows.count, by: step) {
            let key = rows[index].key
            guard let object = try realm.find(owner.key, key: key) else { continue }
            let numbers = try object.handle.collection(marks, .list)
            let links = try object.handle.collection(near, .list)
            // Some lists are too long to stand in their rows.
            for place in 0..<(index % 50 == 0 ? 1200 : 3) {
                try Value.int(Int64(index % 90 + place)).withRaw { raw throws(RealmError) in
                    try numbers.insert(raw, at: place)
                }
            }
            let other = rows[index - step].key
            try Value.link(Link(owner.key, other)).withRaw { raw throws(RealmError) in
                try links.insert(raw, at: 0)
            }
        }
    }

    /// Gives every `step`-th note the first three numbers of its marks in other types.
    private static func addOthers(_ realm: Realm, _ rows: [Row], step: Int) throws {
        let owner = realm.schema.class_(named: "Note")!
        for index in stride(from: step, to: rows.count, by: step) {
            let key = rows[index].key
            guard let object = try realm.find(owner.key, key: key) else { continue }
            let weights = try object.collection("weights")
            let words = try object.collection("words")
            let days = try object.collection("days")
            let named = try object.collection("named")
            for place in 0..<3 {
                let number = index % 90 + place
                try Value.double(Double(number) / 2).withRaw { raw throws(RealmError) in
                    try weights.insert(raw, at: place)
                }
                try Value.string("word \(number)").withRaw { raw throws(RealmError) in
                    _ = try words.insert(raw)
                }
                let day: Value =
                    place == 1
                    ? .null : .timestamp(Timestamp(seconds: Int64(number), nanoseconds: 0))
                try day.withRaw { raw throws(RealmError) in try days.insert(raw, at: place) }
                try insert(number, "key \(place)", named)
            }
        }
    }

    private static func insert(
        _ number: Int, _ key: String, _ dictionary: RealmCollection
    ) throws(RealmError) {
        try Value.string(key).withRaw { rawKey throws(RealmError) in
            try Value.int(Int64(number)).withRaw { raw throws(RealmError) in
                _ = try dictionary.insert(raw, key: rawKey)
            }
        }
    }

    private func keys(_ results: Results) throws -> [ObjectKey] {
        try results.keys()
    }

    /// Expects all of the rows, whose keys ascend, none before one that precedes it, and equal ones in the order of `ties`,
    /// or else of their keys: what a sort would give, and less work than one.
    private func expect<R>(
        _ found: [ObjectKey], areSorted rows: [R], _ key: (R) -> ObjectKey, _ text: String,
        ties: [Int]? = nil, _ precedes: (R, R) -> Bool
    ) throws {
        try #require(found.count == rows.count, "\(text)")
        var places: [ObjectKey: Int] = [:]
        places.reserveCapacity(rows.count)
        for index in rows.indices { places[key(rows[index])] = index }
        let order = try found.map { key in
            let place = places.removeValue(forKey: key)
            return try #require(place, "\(text)")
        }
        for (before, after) in zip(order, order.dropFirst()) {
            let isEqual = !precedes(rows[before], rows[after])
            guard isEqual else { continue }
            try #require(!precedes(rows[after], rows[before]), "\(text)")
            let tie = ties.map { ($0[before], $0[after]) } ?? (before, after)
            try #require(tie.0 < tie.1, "\(text)")
        }
    }

    @Test func bothHalvesOfTheWorkAreDone() throws {
        for _ in 0..<50 {
            let results = try TwoCores.run { half in half + 10 }
            #expect(results.0 == 10 && results.1 == 11)
        }
        for failing in 0..<2 {
            #expect(
                errorCode {
                    _ = try TwoCores.run { half throws(RealmError) -> Int in
                        if half == failing { throw RealmError(.logic, "half \(half)") }
                        return half
                    }
                } == .logic)
        }
    }

    /// With and without a second core.
    @Test(arguments: [60_000, 20_000]) func largeSortsOrderAsSwiftDoes(count: Int) throws {
        let directory = TemporaryDirectory()
        let (realm, rows) = try Self.make(directory.file(), count)
        defer { realm.close() }
        let all = try realm.objects("Note")
        func expect(_ text: String, _ precedes: (Row, Row) -> Bool) throws {
            try self.expect(
                keys(all.sorted(text)), areSorted: rows, { $0.key }, text, precedes)
        }
        try expect("rank ASC, text DESC") { a, b in
            (a.rank ?? -1) != (b.rank ?? -1)
                ? (a.rank ?? -1) < (b.rank ?? -1)
                : b.text.precedes(a.text)
        }
        try expect("text ASC") { a, b in a.text.precedes(b.text) }
        // All equal but for the order of keys, and only two values.
        try expect("rank DESC") { a, b in (a.rank ?? -1) > (b.rank ?? -1) }
        // Results that are frozen may be read by several threads at once.
        let frozen = try all.sorted("rank ASC, text DESC").resolved(in: realm.freeze())
        #expect(try keys(frozen) == keys(all.sorted("rank ASC, text DESC")))
    }

    /// What the first eight bytes leave undecided is sorted on two cores again, or in many small parts.
    @Test func largeTiesAreResolved() throws {
        let directory = TemporaryDirectory()
        let line = ClassSchema(
            "Line",
            properties: [
                PropertySchema("text", .string, flags: [.nullable]),
                PropertySchema("at", .timestamp, flags: [.nullable]),
            ])
        let realm = try Realm.open(
            TestSchema.configuration(directory.file(), Schema([line])))
        defer { realm.close() }
        var random = Random(77)
        var rows: [(key: ObjectKey, text: String?, at: Timestamp?)] = []
        let owner = realm.schema.class_(named: "Line")!
        let equal = String(repeating: "=", count: 40)
        try realm.write {
            for index in 0..<104_000 {
                let text =
                    index % 1000 == 7
                    ? nil
                    : (index % 2 == 0 ? "A" : "B") + equal + "\(random.below(900))"
                        + (index % 5 == 0 ? equal + "\(random.below(30))" : "")
                let at =
                    index % 700 == 3
                    ? nil
                    : Timestamp(
                        seconds: Int64(random.below(3)), nanoseconds: Int32(random.below(9)))
                let object = try realm.createObject(owner.key)
                let values = [
                    text.map { Value.string($0) } ?? .null, at.map { Value.timestamp($0) } ?? .null,
                ]
                for (property, value) in zip(owner.properties, values) {
                    try value.withRaw { raw throws(RealmError) in
                        try object.setValue(property.key, raw)
                    }
                }
                rows.append((object.objectKey, text, at))
                object.release()
            }
        }
        let all = try realm.objects("Line")
        typealias Line = (key: ObjectKey, text: String?, at: Timestamp?)
        func number(_ row: Line) -> Int64 {
            row.at.map { $0.seconds * 100 + Int64($0.nanoseconds) } ?? -1
        }
        for isDescending in [false, true] {
            let order = isDescending ? "DESC" : "ASC"
            func textPrecedes(_ a: Line, _ b: Line) -> Bool {
                let (x, y) = (a.text ?? "", b.text ?? "")
                return x != y && (x < y) != isDescending
            }
            let byText = try keys(all.sorted("text \(order)"))
            try expect(byText, areSorted: rows, { $0.key }, "text \(order)", textPrecedes)
            // Which place each line has among them all.
            let first = rows[0].key
            var places = [Int](repeating: 0, count: rows.count)
            for (place, key) in byText.enumerated() { places[first.distance(to: key)] = place }
            try expect(
                keys(all.sorted("at ASC, text \(order)")), areSorted: rows, { $0.key },
                "at ASC, text \(order)", ties: places
            ) { number($0) < number($1) }
        }
    }

    @Test func largeScansFindWhatALoopFinds() throws {
        let directory = TemporaryDirectory()
        let (realm, rows) = try Self.make(directory.file(), 410_000)
        defer { realm.close() }
        try realm.write {
            // Dead rows in the leaves of both halves.
            let owner = realm.schema.class_(named: "Note")!.key
            for row in stride(from: 3, to: rows.count, by: 4001) {
                try realm.find(owner, key: rows[row].key)?.delete()
            }
        }
        let live = rows.enumerated().filter { $0.offset % 4001 != 3 }.map(\.element)
        let all = try realm.objects("Note")
        let found = live.filter { $0.text.utf8.elementsEqual("note 777 of 3".utf8) }
        #expect(try keys(all.filter("text == 'note 777 of 3'")) == found.map(\.key))
        let many = live.filter { $0.text.contains("77") && ($0.rank ?? 0) > 5 }
        let results = try all.filter("text CONTAINS '77' AND rank > 5")
        #expect(try results.count() == many.count)
        #expect(try keys(results) == many.map(\.key))
        #expect(try all.filter("text CONTAINS[c] 'NOTE 77'").count() > 0)
        #expect(try all.filter("text MATCHES 'note 1[0-9] of 5'").count() > 0)
    }

    @Test func largeScansOfListsFindWhatALoopFinds() throws {
        let directory = TemporaryDirectory()
        let (realm, rows) = try Self.make(directory.file(), 401_000)
        defer { realm.close() }
        let step = 1009
        try realm.write { try Self.addLists(realm, rows, step: step) }
        let all = try realm.objects("Note")
        func count(_ holds: (Int) -> Bool) -> Int {
            stride(from: step, to: rows.count, by: step).filter(holds).count
        }
        func marks(_ index: Int) -> ClosedRange<Int> {
            index % 90...index % 90 + (index % 50 == 0 ? 1199 : 2)
        }
        #expect(try all.filter("ANY marks == 40").count() == count { marks($0).contains(40) })
        #expect(try all.filter("marks.@count == 3").count() == count { $0 % 50 != 0 })
        #expect(try all.filter("marks.@count > 3").count() == count { $0 % 50 == 0 })
        #expect(try all.filter("marks.@count == 0").count() == rows.count - count { _ in true })
        let far = count { (rows[$0 - step].rank ?? -1) > 20 }
        #expect(try all.filter("ANY near.rank > 20").count() == far)
        #expect(try all.filter("SUBQUERY(near, $n, $n.rank > 20).@count == 1").count() == far)
        #expect(try all.filter("@links.Note.near.@count == 1").count() == count { _ in true })
        #expect(
            try all.filter("@links.Note.near.@count == 0").count() == rows.count
                - count { _ in true })
        #expect(
            try all.filter("SUBQUERY(@links.Note.near, $n, $n.rank > 20).@count == 1").count()
                == count { (rows[$0].rank ?? -1) > 20 })
        #expect(
            try all.filter("ANY near.rank > 20 AND text CONTAINS '7'").count()
                == count { (rows[$0 - step].rank ?? -1) > 20 && rows[$0].text.contains("7") })
        try realm.write {
            // Gaps between the keys, and links that go with their objects.
            let owner = realm.schema.class_(named: "Note")!.key
            for index in stride(from: step, to: rows.count, by: step * 3) {
                try realm.find(owner, key: rows[index].key)?.delete()
                try realm.find(owner, key: rows[index + 1].key)?.delete()
            }
        }
        // Links are left where neither the one nor the other was deleted.
        let linked = stride(from: step, to: rows.count, by: step).filter { index in
            index % (step * 3) != step && (index - step) % (step * 3) != step
        }
        #expect(
            try keys(all.filter("@links.Note.near.@count == 1"))
                == linked.map { rows[$0 - step].key })
        let stillFar = linked.count { (rows[$0 - step].rank ?? -1) > 20 }
        #expect(try all.filter("ANY near.rank > 20").count() == stillFar)
    }

    @Test func countsOfNumbersInLargeClassesAreThoseOfALoop() throws {
        let directory = TemporaryDirectory()
        let number = ClassSchema(
            "Number",
            properties: [
                PropertySchema("value", .int), PropertySchema("maybe", .int, flags: [.nullable]),
            ])
        let realm = try Realm.open(TestSchema.configuration(directory.file(), Schema([number])))
        defer { realm.close() }
        let owner = realm.schema.class_(named: "Number")!
        let (value, maybe) = (owner.properties[0].key, owner.properties[1].key)
        let count = 2_100_000
        // A quarter of them have another than the one they begin with.
        func of(_ index: Int) -> Int { index % 4 == 0 ? index &* 7919 % 1000 : 0 }
        var numbers = [Int](repeating: 0, count: 1000)
        var maybes = numbers
        try realm.write {
            for index in 0..<count {
                let object = try realm.createObject(owner.key)
                if index % 4 == 0 {
                    try Value.int(Int64(of(index))).withRaw { raw throws(RealmError) in
                        try object.setValue(value, raw)
                        if index % 3 == 0 { try object.setValue(maybe, raw) }
                    }
                    if index % 3 == 0 { maybes[of(index)] += 1 }
                }
                numbers[of(index)] += 1
                object.release()
            }
            for index in stride(from: 11, to: count, by: 50_021) {
                try realm.find(owner.key, key: ObjectKey(rawValue: Int64(index)))?.delete()
                numbers[of(index)] -= 1
                if index % 12 == 0 { maybes[of(index)] -= 1 }
            }
        }
        let all = try realm.objects("Number")
        #expect(try all.count() == numbers.reduce(0, +))
        for (low, high) in [(30, 39), (0, 999), (998, 5000), (2000, 3000)] {
            let text = "value >= \(low) AND value <= \(high)"
            let expected = numbers.indices.filter { $0 >= low && $0 <= high }
            #expect(
                try all.filter(text).count() == expected.reduce(0) { $0 + numbers[$1] }, "\(text)")
        }
        #expect(try all.filter("maybe < 10").count() == maybes[..<10].reduce(0, +))
    }

    @Test func largeScansOfElementsOfOtherTypesFindWhatALoopFinds() throws {
        let directory = TemporaryDirectory()
        let (realm, rows) = try Self.make(directory.file(), 401_000)
        defer { realm.close() }
        let step = 1009
        try realm.write { try Self.addOthers(realm, rows, step: step) }
        let all = try realm.objects("Note")
        let holders = stride(from: step, to: rows.count, by: step)
        func expect(_ text: String, _ holds: (Int) -> Bool) throws {
            let found = holders.filter { index in
                (index % 90...index % 90 + 2).contains(where: holds)
            }
            #expect(!found.isEmpty, "\(text)")
            #expect(try all.filter(text).count() == found.count, "\(text)")
            #expect(try keys(all.filter(text)) == found.map { rows[$0].key }, "\(text)")
        }
        try expect("ANY weights > 40") { $0 > 80 }
        try expect("ANY words == 'word 40'") { $0 == 40 }
        try expect("ANY words CONTAINS[c] 'D 5'") { "\($0)".hasPrefix("5") }
        try expect("ANY words BEGINSWITH 'word 7'") { "\($0)".hasPrefix("7") }
        try expect("ANY words IN {'word 3', 'word 60'}") { $0 == 3 || $0 == 60 }
        try expect("ANY named.@values < 7") { $0 < 7 }
        let dates = holders.filter { $0 % 90 == 50 || $0 % 90 + 2 == 50 }
        #expect(try keys(all.filter("ANY days == T50:0")) == dates.map { rows[$0].key })
        #expect(try all.filter("ANY days == NULL").count() == holders.count { _ in true })
        let light = holders.count { $0 % 90 < 20 }
        let empty = rows.count - holders.count { _ in true }
        #expect(try all.filter("ALL weights < 11").count() == light + empty)
    }

    @Test func largeSortsInAWriteTransactionSeeItsChanges() throws {
        let directory = TemporaryDirectory()
        var (realm, rows) = try Self.make(directory.file(), 60_000)
        defer { realm.close() }
        let all = try realm.objects("Note")
        let owner = realm.schema.class_(named: "Note")!
        try realm.beginWrite()
        for index in stride(from: 5, to: rows.count, by: 701).reversed() {
            let object = try #require(
                try realm.find(owner.key, key: rows[index].key))
            if index % 2 == 0 {
                try object.delete()
                rows.remove(at: index)
            } else {
                try object.set("rank", .int(Int64(index % 90)))
                rows[index].rank = index % 90
            }
        }
        for number in 0..<300 {
            let object = try realm.create(
                "Note", ["rank": .int(Int64(number % 90)), "text": .string("new \(number)")])
            rows.append(
                Row(key: object.handle.objectKey, rank: number % 90, text: "new \(number)"))
        }
        let sorted = rows.sorted { a, b in
            let (x, y) = (a.rank ?? -1, b.rank ?? -1)
            if x != y { return x < y }
            let order = a.text.order(b.text)
            return order == 0 ? a.key < b.key : order > 0
        }
        #expect(try keys(all.sorted("rank ASC, text DESC")) == sorted.map(\.key))
        try realm.rollback()
    }
}
