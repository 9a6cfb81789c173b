// Rules B7 and B8 of the query language: functions in queries.

import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct FunctionRuleTests {
    @Test func `B7: functions of numbers`() throws {
        let world = try RuleWorld()
        world.check([
            ("B7", "abs(tons) == 7", [2]), ("B7", "ABS(tons - 5) < 2", [1, 3]),
            ("B7", "ceiling(draft) == 2", [1]), ("B7", "floor(draft) == 1", [1]),
            ("B7", "round(price) == 1", [1]), ("B7", "trunc(draft) == 0", [4]),
            ("B7", "sqrt(tons) > 30", [4]), ("B7", "sqrt(tons) == null", [2]),
            ("B7", "ln(draft) == null", [3, 4]), ("B7", "log(tons) == 3", [4]),
            ("B7", "exp(draft) == 1", [4]), ("B7", "modulus(tons, 3) == -1", [2]),
            ("B7", "modulus(tons, 0) == null", [1, 2, 3, 4]), ("B7", "add(tons, id) == 6", [1]),
            ("B7", "subtract(tons, 5) == 0", [1, 3]), ("B7", "multiply(tons, 2) == 10", [1, 3]),
            ("B7", "divide(draft, 0) == null", [1, 2, 3, 4]), ("B7", "power(tons, 2) == 49", [2]),
            ("B7", "abs(abs(tons - 5)) == 12", [2]), ("B7", "tons == abs(-5)", [1, 3]),
            ("B7", "abs:(tons) == 7", [2]), ("B7", "abs(cargo) == 7", [2]),
            ("B7", "abs(draft) == null", [3]), ("B7", "tons == round(4.5) AND id > 0", [1, 3]),
        ])
    }

    @Test func `B7: functions of texts and dates`() throws {
        let world = try RuleWorld()
        world.check([
            ("B7", "lowercase(title) == 'éclair'", [2]),
            ("B7", "uppercase(title) BEGINSWITH 'STAR'", [1]),
            ("B7", "trim('  Starling ') == title", [1]), ("B7", "length(title) == 6", [2]),
            ("B7", "length(seal) == 2", [1]), ("B7", "length(cargo) == 4", [3]),
            ("B7", "title == lowercase('X')", []), ("B7", "uppercase(title) ==[cd] 'eclair'", [2]),
            ("B7", "uppercase(notes) == 'BCD'", [1]),
            ("B7", "ANY uppercase(notes) == null", [1, 3]),
            ("B7", "year(built) == 1970", [1]), ("B7", "year(built) == 1969", [2]),
            ("B7", "month(built) == 12 AND day(built) == 31 AND hour(built) == 23", [2]),
            ("B7", "minute(built) == 1 AND second(built) == 40", [1]),
            ("B7", "weekday(built) == 4", [1]), ("B7", "weekday(built) == 3", [2]),
            ("B7", "hour(built, 'UTC+02:30') == 2", [1, 2]), ("B7", "now() > built", [1, 2]),
            ("B7", "year(now()) > 2020 AND id == 1", [1]), ("B7", "year(built) == null", [3, 4]),
            ("B7", "SUBQUERY(crew, $s, uppercase($s.name) == 'JO').@count == 2", [1]),
            ("B7", "SUBQUERY(notes, $n, length($n) > 2).@count == 1", [1]),
        ])
    }

    @Test func `B7: functions of collections, and the choice`() throws {
        let world = try RuleWorld()
        world.check([
            ("B7", "max(marks) == 3", [1]), ("B7", "min(marks) == 5", [4]),
            ("B7", "sum(marks) == 0", [2]), ("B7", "average(marks) == 2", [1, 3]),
            ("B7", "count(marks) == 2", [4]), ("B7", "count(crew.age) == 3", [1]),
            ("B7", "max(crew.age) == 62", [3, 4]), ("B7", "tons == max({1, 5, 3})", [1, 3]),
            ("B7", "ANY abs(marks) == 5", [4]), ("B7", "ALL modulus(marks, 2) == 1", [2, 4]),
            ("B7", "TERNARY(tons > 4, id, 0) == 4", [4]),
            ("B7", "TERNARY(title == null, 'none', title) == 'none'", [3]),
            ("B7", "TERNARY(tons > 4 AND NOT id == 3, 1, 2.5) == 2.5", [2, 3]),
            ("B7", "TERNARY(ANY marks == 2, TERNARY(id == 1, 'a', 'b'), 'c') == 'b'", [3]),
            ("B7", "SUBQUERY(crew, $s, TERNARY($s.age > 30, 1, 0) == 1).@count == 1", [1, 3, 4]),
            ("B7", "TERNARY(TRUEPREDICATE, tons, id) == 1000", [4]),
        ])
    }

    @Test func `B8: CAST, and dates as ISO texts`() throws {
        let world = try RuleWorld()
        world.check([
            ("B8", "CAST(tons, 'String') == '5'", [1, 3]), ("B8", "CAST(cargo, 'Int') == 7", [2]),
            ("B8", "CAST(title, 'Int') == null", [1, 2, 3, 4]),
            ("B8", "built > CAST('1970-01-01', 'Date')", [1]),
            ("B8", "CAST(built, 'String') == '1970-01-01T00:01:40.000000005Z'", [1]),
            ("B8", "CAST(tons, 'Date') == T5:0", [1, 3]), ("B8", "CAST(active, 'Int') == 1", [1]),
            ("B8", "CAST(tons, 'NSDate') == 2001-01-01T00:00:05Z", [1, 3]),
            ("B8", "CAST(price, 'Double') == 1.1", [1]),
            ("B8", "CAST(draft, 'Decimal') == 1.5", [1]),
            ("B8", "CAST(CAST(tons, 'NSString'), 'NSNumber') == 1000", [4]),
            ("B8", "CAST(tons, 'Bool') == true AND id < 3", [1, 2]),
            ("B8", "built == 1970-01-01T00:01:40.000000005Z", [1]),
            ("B8", "built < 1970-01-01", [2]), ("B8", "built > 1970-01-01T01:00:00+01:00", [1]),
        ])
    }

    @Test func `B7 and B8: refused, with name and signature`() throws {
        let world = try RuleWorld()
        world.refuse([
            ("B7", "frobnicate(tons) == 1", .invalidQuery, "unknown function 'frobnicate'"),
            ("B7", "abs(title) == 1", .invalidQuery, "abs(number)"),
            ("B7", "abs(tons, 2) == 1", .invalidQuery, "abs(number)"),
            ("B7", "abs() == 1", .invalidQuery, "abs(number)"),
            ("B7", "lowercase(tons) == 'a'", .invalidQuery, "lowercase(string)"),
            ("B7", "year(tons) == 1", .invalidQuery, "year(date"),
            ("B7", "year('x') == id", .invalidQuery, "year(date"),
            ("B7", "hour(T5:0, 'CET') == id", .invalidQuery, "hour(date"),
            ("B7", "max(tons) == 1", .invalidQuery, "max("),
            ("B7", "add(marks, codes) == 1", .invalidQuery, "at most one collection"),
            ("B7", "abs(1) == 1", .invalidQuery, "two constants"),
            ("B7", "TERNARY(tons > 1, 1, 'a') == 1", .invalidQuery, "TERNARY"),
            ("B7", "TERNARY(tons > 1, 1) == 1", .invalidQuery, "TERNARY"),
            ("B8", "CAST(tons, 'Integer') == 1", .invalidQuery, "NSNumber"),
            ("B8", "CAST(captain, 'Int') == 1", .invalidQuery, "CAST"),
            ("B8", "CAST(tons, title) == 1", .invalidQuery, "CAST"),
            ("B8", "built > CAST('someday', 'Date')", .invalidQuery, "CAST"),
            ("B7", "FUNCTION(title, 'foo') == 1", .invalidQuery, "FUNCTION"),
        ])
    }
}
