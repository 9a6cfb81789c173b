// Rules Q, A, I, K and N of the query language: collections, quantifiers, sizes, aggregates, indexes,
// subqueries, types, names.

import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct CollectionRuleTests {
    @Test func `Q: collections and quantifiers`() throws {
        let world = try RuleWorld()
        world.check([
            ("Q1", "ALL crew.age > 44", [2, 3]), ("Q1", "SOME crew.age > 44", [1, 3, 4]),
            ("Q1", "NONE crew.age > 44", [2]), ("Q2", "marks == 3", [1]),
            ("Q2", "crew.age > 60", [3, 4]), ("Q3", "ALL marks > 1", [2, 3, 4]),
            ("Q3", "NONE marks > 0", [2]), ("Q4", "NOT marks == 2", [2, 4]),
            ("Q4", "marks != 2", [1, 4]), ("Q5", "ALL marks IN ANY {1, 2, 3}", [1, 2, 3]),
            ("Q5", "ANY crew.name BEGINSWITH ALL {'A', 'An'}", [1]),
            ("Q6", "marks == {1, 2, 3}", [1]), ("Q6", "marks < {2, 3, 4}", [1]),
            ("Q7", "marks != {1, 2, 3}", [2, 3, 4]), ("Q7", "marks != {1, 2, 4}", [1, 2, 3, 4]),
            ("Q8", "marks IN {1, 9}", []), ("Q8", "ANY marks IN {1, 9}", [1]),
            ("Q9", "codes == {1, 3}", [1]),
            ("Q10", "crew == {obj('Sailor','Mia'), obj('Sailor','Ann')}", [1, 4]),
            ("Q10", "captain != ALL {obj('Sailor','Mia'), obj('Sailor','Jo')}", [3, 4]),
            ("Q10", "crew IN {obj('Sailor','Bob')}", [3]),
            ("Q11", "ALL crew.boss.age > 20", [1, 2, 3, 4]),
            ("Q11", "ALL crew.boss.age > 40", [2, 3, 4]),
            ("Q12", "ALL crew.skills == 'cook'", [1, 2]),
            ("Q12", "NONE crew.skills == 'cook'", [1, 2, 3, 4]),
            ("Q15", "tons != ALL {5, 9}", [2, 4]), ("Q15", "tons == NONE {5, 9}", [2, 4]),
            ("Q15", "tons == ALL {}", [1, 2, 3, 4]), ("Q15", "tons == NONE {}", [1, 2, 3, 4]),
            ("Q16", "marks == codes", [2, 3]), ("Q16", "ANY marks IN ANY codes", [1, 3, 4]),
            ("B11", "ALL marks IN ANY codes", [2, 3, 4]), ("Q17", "marks == id", [1]),
            ("Q17", "tons > ALL marks", [1, 2, 3, 4]), ("Q18", "captain IN guests", [1]),
            ("Q18", "captain IN crew", []), ("Q19", "NONE extras.@keys == 'color'", [2, 3]),
            ("Q20", "crew == {}", [2]), ("Q20", "ANY crew == {}", []),
            ("Q20", "ALL crew == {}", [2]), ("Q20", "NONE crew == {}", [1, 2, 3, 4]),
            ("Q6", "crew == guests", [2]), ("B11", "ANY crew == guests", [3]),
            ("null", "notes == null", [1, 3]), ("null", "ALL notes == null", [2, 3]),
            ("null", "NONE notes == null", [2, 4]), ("null", "notes != null", [1, 4]),
            ("null", "notes.@count == 0", [2]),
        ])
        // The empty text lies where the next one begins.
        let cooks = try world.ids("ANY crew.skills == 'cook'")
        #expect(!cooks.isEmpty)
        world.check([("C5", "ANY crew.skills IN[c] {'', 'COOK', 'x'}", cooks)])
        world.refuse([
            ("Q13", "ALL berth.depth > 3", .invalidQuery, "ALL"),
            ("Q13", "SOME tons > 3", .invalidQuery, "ANY"),
        ])
    }

    @Test func `A: sizes and aggregates`() throws {
        let world = try RuleWorld()
        world.check([
            ("A1", "crew[SIZE] > 2", [1]), ("A1", "crew.@size == crew.@count", [1, 2, 3, 4]),
            ("A2", "roster.@count == 0", [2, 3, 4]), ("A3", "notes.@count == 3", [1]),
            ("A3", "extras.@count == 1", [3]), ("A4", "captain.@count == 0", [3]),
            ("A5", "title.@size > 4", [1, 2]), ("A5", "title.@size == null", [3]),
            ("A5", "title.@size == 7", [2]), ("A5", "cargo.@size == 2", [1]),
            ("A5", "cargo.@size == 3", [4]), ("A5", "cargo.@size == 4", [3]),
            ("A6", "crew.skills.@count == 0", [1]), ("A6", "captain.skills.@count == 0", [3, 4]),
            ("A7", "ALL crew.skills.@count > 0", [2, 3, 4]), ("A8", "crew.@avg.age > 30", [3, 4]),
            ("A8", "crew.@avg.wage > 9", [3, 4]), ("A8", "crew.@sum.age == 85", [1]),
            ("A8", "crew.@max.wage == 9", [1]), ("A9", "marks.@max > 4", [4]),
            ("A9", "marks.@sum == 6", [1]), ("A9", "codes.@min == 1", [1]),
            ("A10", "crew.@avg.wage == null", [2]), ("A10", "marks.@sum == 0", [2]),
            ("A10", "marks.@min == null", [2]), ("A11", "marks.@avg == 2.0", [1, 3]),
            ("A12", "bag.@min == false", [3]), ("A12", "bag.@sum == 3.5", [1]),
            ("A13", "marks.@max - marks.@min > 1", [1]), ("A13", "marks.@max < tons", [1, 3, 4]),
            ("A14", "captain.@max.age == null", [3]), ("A14", "captain.@max.age == 45", [4]),
            ("B12", "crew.@max.boss.age > 40", [3, 4]),
        ])
        world.refuse([
            ("A5", "tons.@size > 1", .invalidQuery, "int"),
            ("A8", "crew.@max.name == 'x'", .invalidQuery, "string"),
            ("A8", "marks.@max.x == 1", .invalidQuery, "@max"),
            ("A9", "notes.@max == 1", .invalidQuery, "string"),
            ("A15", "crew.@sum.skills == 1", .invalidQuery, "collection"),
            ("A8", "crew.@sum.nope == 1", .invalidQuery, "nope"),
        ])
    }

    @Test func `I: indexes, keys and nested values`() throws {
        let world = try RuleWorld()
        world.check([
            ("I1", "marks[LAST] > 3", [4]), ("I1", "marks[FIRST] == 1", [1]),
            ("I1", "marks[1] == 2", [1]), ("I1b", "marks[0] IN {1, 5}", [1, 4]),
            ("I1b", "marks[0] BETWEEN {2, 5}", [3, 4]), ("I2", "marks[9] == null", [1, 3, 4]),
            ("I2", "marks[9] != 7", [1, 3, 4]), ("I4", "crew[0].age > 30", [3]),
            ("I4", "crew[0] == obj('Sailor', 'Jo')", [1]), ("I5", "ALL marks[*] > 1", [2, 3, 4]),
            ("I6", "extras.color == 'red'", [1]), ("I6", "extras['color'] == 'red'", [1]),
            ("I6", "extras.color == null", [3]), ("I6", "extras.kg == null", [3, 4]),
            ("I7", "extras.@keys BEGINSWITH 'c'", [1, 4]), ("I7", "extras.@values == 7", [1]),
            ("I7", "extras == 7", [1]), ("I7", "extras[*] == 7", [1]),
            ("I8", "roster.age > 30", [1]),
            ("I8", "roster.cook.age == 20", [1]), ("I8", "roster['mate'].name == 'Ann'", [1]),
            ("I9", "cargo.boxes[0].kg > 2", [1]), ("I9", "cargo.boxes[1].kg == 1", [1]),
            ("I9", "cargo.boxes[2].kg == null", []), ("I9", "cargo.nope == null", [1]),
            ("I9", "cargo[0] == 1", [4]), ("I9", "cargo[*] == 3", [4]),
            ("I9", "cargo.boxes[*].kg == 1", [1]), ("I9", "extras.deep.x == 1", [4]),
            ("I10", "cargo[*][*] == {1, 2}", [4]), ("I11", "cargo.@keys == 'boxes'", [1]),
            ("I13", "'color' IN extras.@keys", [1, 4]),
            ("I13", "extras.@keys.@count == 2", [1, 4]),
            ("B13", "marks[-1] == 3", [1]), ("B13", "extras.@values.@count == 2", [1, 4]),
            ("N4", "weight > 3", [1]), ("X9", "ANY extras.@allKeys == 'kg'", [1, 3]),
        ])
        world.refuse([
            ("I3", "codes[0] == 1", .invalidQuery, "Vessel.codes"),
            ("I3", "tons[0] == 1", .invalidQuery, "Vessel.tons"),
            ("I7", "marks.@values == 1", .invalidQuery, "@values"),
            ("I12", "marks[0][0] == 1", .invalidQuery, "Vessel.marks"),
            ("N2", "berth.nope == 1", .invalidQuery, "'Harbor' has no property 'nope'"),
            ("N3", "tons.x == 1", .invalidQuery, "Vessel.tons"),
            ("N2", "ttle == 'x'", .invalidQuery, "did you mean 'title'"),
        ])
    }

    @Test func `K: links, subqueries and types`() throws {
        let world = try RuleWorld()
        world.check([
            ("K1", "captain == obj('Sailor', 'Mia')", [1]),
            ("K1", "captain IN {obj('Sailor', 'Mia'), null}", [1, 3]),
            ("K2", "crew == obj('Sailor', 'Bob')", [3, 4]),
            ("K2", "crew != obj('Sailor', 'Bob')", [1, 4]),
            ("K2", "NONE crew == obj('Sailor', 'Bob')", [1, 2]),
            ("K3", "SUBQUERY(crew, $s, $s.age > 30).@count == 1", [1, 3, 4]),
            ("K3", "SUBQUERY(crew, $s, $s.age == 20).@count == 2", [1]),
            ("K4", "SUBQUERY(guests, $s, $s.age > 30).@count > 0", [3]),
            ("K4", "SUBQUERY(roster, $s, $s.age > 30).@count > 0", [1]),
            (
                "K6",
                "SUBQUERY(crew, $s, SUBQUERY($s.ships, $x, $x.tons > 100).@count > 0).@count > 0",
                [3, 4]
            ),
            ("K6", "SUBQUERY(crew, $s, age > 30).@count > 0", [1, 3, 4]),
            ("K7", "SUBQUERY(crew, $s, $s.age > 30).@count == crew.@count", [2, 3]),
            ("K7", "1 + SUBQUERY(crew, $s, $s.age > 30).@count == 2", [1, 3, 4]),
            ("K9", "cargo.@type == 'int'", [2]), ("K9", "cargo.@type == 'numeric'", [2]),
            ("K9", "cargo.@type == 'collection'", [1, 4]),
            ("K9", "cargo.@type != 'list'", [1, 2, 3]),
            ("K10", "cargo.@type IN {'int', 'string'}", [2, 3]),
            ("K11", "cargo.@type == tons.@type", [2]), ("K11", "ALL bag.@type == 'numeric'", [2]),
            ("K11", "bag.@type == 'bool'", [3, 4]),
            ("K12", "!FALSEPREDICATE AND tons > 1", [1, 3, 4]),
            ("B5", "SUBQUERY(marks, $m, $m > 1 AND $m < 4).@count > 1", [1]),
            ("B5", "SUBQUERY(notes, $m, $m == null).@count == 1", [1, 3]),
            ("B5", "SUBQUERY(notes, $m, $m.@size > 1).@count == 1", [1]),
            ("B5", "SUBQUERY(crew, $s, $s IN guests).@count > 0", [3]),
            ("B5", "SUBQUERY(extras.@keys, $k, $k BEGINSWITH 'c').@count == 1", [1, 4]),
            ("B5", "SUBQUERY(bag, $b, $b.@type == 'numeric').@count == 2", [1]),
            ("B6", "SUBQUERY(crew, $s, $s.age > SELF.tons).@count > 0", [1, 3]),
            ("B6", "SUBQUERY(crew, $s, $s.age > tons).@count == 3", [1]),
            (
                "B6",
                "SUBQUERY(crew,$s,SUBQUERY($s.ships,$x,$x.captain == $s.boss).@count>0).@count>0",
                [1, 3, 4]
            ),
            ("B12", "SUBQUERY(crew, $s, $s.age > 30).@avg.wage > 10", [3, 4]),
            ("B12", "SUBQUERY(marks, $m, $m > 1).@sum == 5", [1]),
            ("B12", "SUBQUERY(crew, $s, $s.age > 100).@max.age == null", [1, 2, 3, 4]),
        ])
        world.refuse([
            ("K4", "SUBQUERY(captain, $s, $s.age > 1).@count > 0", .invalidQuery, "captain"),
            ("K4", "SUBQUERY(tons, $s, $s > 1).@count > 0", .invalidQuery, "int"),
            ("K5", "SUBQUERY(crew, s, s.age > 1).@count > 0", .invalidQueryString, "variable"),
            (
                "K6", "SUBQUERY(crew,$s,SUBQUERY($s.ships.crew,$s,$s.age>3).@count>0).@count>0",
                .invalidQuery, "$s"
            ),
            ("K10", "cargo.@type == 'frob'", .invalidQueryArg, "frob"),
            ("K10", "cargo.@type == 5", .invalidQueryArg, "5"),
            ("K11", "tons.@type == 'int'", .invalidQuery, "two constants"),
            ("K11", "marks.@type == 'int'", .invalidQuery, "marks"),
            ("B5", "SUBQUERY(marks, $m, $m.x > 1).@count > 0", .invalidQuery, "x"),
        ])
    }

    @Test func `D5: the first by an entry of a dictionary, which no index has`() throws {
        let world = try RuleWorld()
        world.check([
            ("D5", "TRUEPREDICATE SORT(extras['kg'] DESC) LIMIT(1)", [1]),
            ("D5", "id > 1 SORT(extras.color DESC) LIMIT(1)", [4]),
        ])
    }

    @Test func `N: backlinks`() throws {
        let world = try RuleWorld()
        #expect(try world.names("ships.tons > 900") == ["Mia", "Bob"])
        #expect(try world.names("ALL ships.tons < 900") == ["Jo", "Ann"])
        #expect(try world.names("ships.@count == 2") == ["Jo", "Bob"])
        #expect(try world.names("@links.Vessel.captain.tons > 3") == ["Mia", "Ann"])
        #expect(try world.names("@links.Vessel.captain.@count == 0") == ["Bob"])
        #expect(try world.names("@links.@count > 4") == ["Mia", "Jo"])
        #expect(try world.names("ships == obj('Vessel', 4)") == ["Mia", "Bob"])
        #expect(
            try world.names("SUBQUERY(ships, $v, $v.tons > 900).@count == 1") == ["Mia", "Bob"])
        world.check([
            ("N7", "captain.@links.@count > 4", [1, 2]), ("N7", "captain.@links.@count == 0", [3]),
            ("N5", "crew.ships.id == 4", [3, 4]),
            ("N6", "crew.@links.Vessel.crew.id == 4", [3, 4]),
        ])
        world.refuse([
            ("N6", "@links.Vessel.berth.tons > 3", .invalidQuery, "links to class 'Vessel'"),
            ("N6", "captain.@links.Vessel.tons.id > 3", .invalidQuery, "tons"),
        ])
    }
}
