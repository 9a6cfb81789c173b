import Testing

@testable import CoreSwift

/// Parses a text of the core dialect.
func parsed(_ text: String, _ dialect: QueryDialect = .core) throws -> SyntaxTree {
    try QueryText.with(Array(text.utf8)) { text throws(RealmError) in
        try Parser.parse(text, dialect: dialect)
    }
}

/// A compact rendering of a tree, to compare shapes.
func shape(_ text: String, _ dialect: QueryDialect = .core) throws -> String {
    let tree = try parsed(text, dialect)
    func children(_ node: SyntaxNode) -> String {
        tree.children[Int(node.a)..<Int(node.a + node.b)].map { render($0) }
            .joined(separator: " ")
    }
    func steps(_ node: SyntaxNode) -> String {
        tree.steps[Int(node.a)..<Int(node.a + node.b)].map {
            let name = String(
                decoding: Array(text.utf8)[Int($0.start)..<Int($0.end)], as: UTF8.self)
            return $0.kind == .name ? name : "[\($0.kind):\(name)]"
        }.joined(separator: ".")
    }
    func render(_ index: Int32) -> String {
        let node = tree.nodes[Int(index)]
        let word = node.quantifier == .unspecified ? "" : node.quantifier.word + " "
        switch node.kind {
        case .and, .or, .list, .function, .geoBox, .geoCircle, .geoPolygon, .geoRing:
            return "(\(word)\(node.kind) \(children(node)))"
        case .not, .negate: return "(\(node.kind) \(render(node.a)))"
        case .comparison:
            let op = ComparisonOperator(rawValue: node.op)!
            return "(\(op.spelling)\(ComparisonOptions(rawValue: node.options).spelling) "
                + "\(render(node.a)) \(render(node.b)))"
        case .arithmetic:
            return "(\(node.operation) \(render(node.a)) \(render(node.b)))"
        case .between, .geoWithin:
            return "(\(node.kind) \(render(node.a)) \(render(node.b)))"
        case .path, .aggregate:
            let ending = PathEnding(rawValue: node.op)!
            return word + steps(node) + (ending == .value ? "" : "." + ending.spelling)
        case .subquery:
            return "(subquery \(render(tree.subqueries[Int(node.a)].predicate)))"
        case .integer: return "\(Int64(bitPattern: node.payload))"
        case .double, .infinity: return "\(Double(bitPattern: node.payload))"
        case .float:
            return "\(Float(bitPattern: UInt32(truncatingIfNeeded: node.payload)))f"
        case .date: return "T\(Int64(bitPattern: node.payload)):\(node.extra)"
        case .argument: return "\(word)$\(node.payload)"
        case .booleanPath: return "(bool \(render(node.a)))"
        default:
            return String(
                decoding: Array(text.utf8)[Int(node.start)..<Int(node.end)], as: UTF8.self)
        }
    }
    return render(tree.root)
}

/// The error of a text that must not parse.
func syntaxError(_ text: String, _ dialect: QueryDialect = .core) -> RealmError? {
    do {
        _ = try parsed(text, dialect)
        return nil
    } catch {
        return error as? RealmError
    }
}

@Suite struct ParserTests {
    @Test(arguments: [
        ("tons==5", "(== tons 5)"),
        ("tons  ==\t5", "(== tons 5)"),
        ("tons==5AND id>1", "(and (== tons 5) (> id 1))"),
        ("dead\\ weight > 3", "(> dead\\ weight 3)"),
        ("gross-tons > 3", "(> gross-tons 3)"),
        ("løa > 3", "(> løa 3)"),
        ("berth . depth == 9", "(== berth.depth 9)"),
        ("tons > 1 And id > 0", "(and (> tons 1) (> id 0))"),
        ("tons =< 4 && !active == true", "(and (<= tons 4) (not (== active true)))"),
        ("limit > 3 SORT(limit ASC)", "(> limit 3)"),
        ("tons == 0x1F", "(== tons 31)"),
        ("tons == 011", "(== tons 11)"),
        ("tons -5 == 0", "(== (subtract tons 5) 0)"),
        ("tons > -5", "(> tons -5)"),
        ("tons == +5", "(== tons 5)"),
        ("draft > 1.5e1", "(> draft 15.0)"),
        ("draft > 2.5f", "(> draft 2.5f)"),
        ("draft > 1.", "(> draft 1.0)"),
        ("draft > .5", "(> draft 0.5)"),
        ("draft < +Inf", "(< draft inf)"),
        ("draft < -infinity", "(< draft -inf)"),
        ("built > T-5:-1", "(> built T-5:-1)"),
        ("built > 2021-3-4T0:0:0:250", "(> built T1614816000:250)"),
        ("built > 2021-3-4@1:2:3", "(> built T1614819723:0)"),
        ("built > 2024-05-01T10:00:00.250Z", "(> built T1714557600:250000000)"),
        ("built > 2024-05-01T10:00:00+02:00", "(> built T1714550400:0)"),
        ("built > 2024-05-01", "(> built T1714521600:0)"),
        ("built > 1969-12-31T23:59:59:1", "(> built T-1:-1)"),
        ("tons == $00", "(== tons $0)"),
        ("$x == 3", "(== $x 3)"),
        ("title == 'it\\'s'", "(== title 'it\\'s')"),
        ("title == B64\"YWI=\"", "(== title B64\"YWI=\")"),
        ("cargo == oid(0123456789abcdef01234567)", "(== cargo oid(0123456789abcdef01234567))"),
        ("uuid == 3", "(== uuid 3)"),
        ("tons != 3 or tons <> 4", "(or (!= tons 3) (!= tons 4))"),
        ("a == 1 AND b == 2 OR c == 3", "(or (and (== a 1) (== b 2)) (== c 3))"),
        ("a == 1 AND (b == 2 OR c == 3)", "(and (== a 1) (or (== b 2) (== c 3)))"),
        ("!active == true && tons > 1", "(and (not (== active true)) (> tons 1))"),
        ("(tons + 1) * 2 == 8", "(== (multiply (add tons 1) 2) 8)"),
        ("(tons == 3)", "(== tons 3)"),
        ("((tons)) == (3)", "(== tons 3)"),
        ("tons + 1 * 2 - 3 == 8", "(== (subtract (add tons (multiply 1 2)) 3) 8)"),
        ("-tons == 8", "(== (negate tons) 8)"),
        ("id IN {1, 4}", "(IN id (list 1 4))"),
        ("id NOT IN {1,2}", "(not (IN id (list 1 2)))"),
        ("title NOT BETWEEN {'A','F'}", "(not (between title (list 'A' 'F')))"),
        ("tons BETWEEN {2, 8}", "(between tons (list 2 8))"),
        ("tons BETWEEN $0", "(between tons $0)"),
        ("title CONTAINS [c] 'st'", "(CONTAINS[c] title 'st')"),
        ("title ==[cd] 'st'", "(==[cd] title 'st')"),
        ("title ==[ n C ] 'st'", "(== title 'st')"),
        ("title MATCHES 'S.*'", "(MATCHES title 'S.*')"),
        ("matches == 3", "(== matches 3)"),
        ("ALL crew.age > 17", "(> ALL crew.age 17)"),
        ("SOME crew.age > 17", "(> ANY crew.age 17)"),
        ("anyone == 1", "(== anyone 1)"),
        ("tons != ALL {5,9}", "(!= tons (ALL list 5 9))"),
        ("tons == ANY $0", "(== tons ANY $0)"),
        ("crew.@avg.wage > 9", "(> crew.@avg 9)"),
        ("marks.@max - marks.@min > 3", "(> (subtract marks.@max marks.@min) 3)"),
        ("crew[SIZE] > 2", "(> crew.@size 2)"),
        ("marks[LAST] > 3", "(> marks.[last:LAST] 3)"),
        ("extras['kg'] == 2", "(== extras.[key:'kg'] 2)"),
        ("extras.@keys BEGINSWITH 'c'", "(BEGINSWITH extras.[keys:@keys] 'c')"),
        ("captain.@links.@count > 2", "(> captain.[allLinks:@links].@size 2)"),
        (
            "SUBQUERY(crew, $s, $s.age > 30 AND $s.wage > 9).@count > 1",
            "(> (subquery (and (> $s.age 30) (> $s.wage 9))) 1)"
        ),
        ("lowercase(title) == 'star'", "(== (function title) 'star')"),
        ("abs(tons - 5) < 2", "(< (function (subtract tons 5)) 2)"),
        ("1 + abs(tons * 2) * 3 < 2", "(< (add 1 (multiply (function (multiply tons 2)) 3)) 2)"),
        (
            "spot GEOWITHIN geoCircle([10.5, 59.9], 0.01)",
            "(geoWithin spot (geoCircle 10.5 59.9 0.01))"
        ),
        ("Not (tons > 1)", "(not (> tons 1))"),
        ("Any crew.age > 3", "(> ANY crew.age 3)"),
        ("tons In {1}", "(IN tons (list 1))"),
        ("TRUEPREDICATE AND !FALSEPREDICATE", "(and TRUEPREDICATE (not FALSEPREDICATE))"),
        ("'Starling' BEGINSWITH title", "(BEGINSWITH 'Starling' title)"),
    ])
    func textsParseToTheirShape(text: String, expected: String) throws {
        #expect(try shape(text) == expected)
    }

    @Test(arguments: [
        ("active AND tons > 1", "(and (bool active) (> tons 1))"),
        ("active", "(bool active)"),
        ("%K > %d", "(> [keyPathArgument:%K] $1)"),
        ("tons == 0b101", "(== tons 5)"),
        ("#none == 3", "(== none 3)"),
        ("tons-5 == 1", "(== (subtract tons 5) 1)"),
    ])
    func formatStringsParseToTheirShape(text: String, expected: String) throws {
        #expect(try shape(text, .format) == expected)
    }

    @Test(arguments: [
        ("", 0), ("tons == 5;", 9), ("any == 1", 4), ("Not tons 1", 9), ("tons ==", 7),
        ("title == 'it''s'", 13), ("title == 'open", 9), ("title == 'a\\qb'", 11),
        ("title == '\\ud800'", 10), ("1 < tons < 4", 9), ("TRUEPREDICATE == true", 14),
        ("id IN {tons}", 7), ("tons == 5 TRUEPREDICATE", 10), ("(tons == 5", 10),
        ("tons == 5)", 9), ("tons = = 3", 7), ("$0[1] == 3", 2), ("$0.x == 3", 2),
        ("tons == B64\"YW*=\"", 14), ("built > T5:-1", 8), ("built > 2021-13-01T0:0:0", 8),
        ("built > T1:1000000000", 8), ("TRUEPREDICATE LIMIT(-1)", 20),
        ("tons > 1 SORT(tons SIDEWAYS)", 19), ("3 + (tons == 3) == 4", 4),
        ("ANY crew.@max.age > 3", 0), ("SUBQUERY(crew, s, s.age > 1).@count > 0", 15),
        ("tons > 1 AND", 12), ("AND tons > 1", 0), ("tons ==[] 3", 8), ("tons 5", 5),
        ("title == \"\\u12\"", 14),
    ])
    func errorsTellTheByteOffset(text: String, offset: Int) {
        guard let error = syntaxError(text) else {
            Issue.record("'\(text)' parses")
            return
        }
        #expect(error.code == .invalidQueryString)
        #expect(error.message.contains("'\(text)'"))
        #expect(error.message.contains("at byte \(offset):"), "\(error.message)")
    }

    @Test func unknownOptionLettersAreSyntaxErrors() {
        #expect(syntaxError("title ==[l] 'a'")?.code == .invalidQueryString)
        #expect(syntaxError("title CONTAINS[x] 'a'")?.code == .invalidQueryString)
    }

    @Test(arguments: ["built > 1970-13", "built > 1970-12", "1970-13 < built", "built == 1970-01 "])
    func datesWithoutADayAreSyntaxErrors(_ text: String) {
        #expect(syntaxError(text)?.code == .invalidQueryString)
    }

    @Test(arguments: ["tons > 1970 -13", "tons > 1970-1", "tons > 19700-13", "tons > 1970 - 13"])
    func differencesOfNumbersAreNoDates(_ text: String) {
        #expect(syntaxError(text) == nil)
    }

    @Test func yearsBefore1900AreInvalidQueries() {
        #expect(syntaxError("built > 1899-1-1T0:0:0")?.code == .invalidQuery)
    }

    @Test func longChainsAndDeepNestingDoNotRecurse() throws {
        let chain = (0..<50_000).map { "id == \($0)" }.joined(separator: " OR ")
        #expect(try parsed(chain).children.count == 50_000)
        let nested =
            String(repeating: "(", count: 50_000) + "id == 1"
            + String(repeating: ")", count: 50_000)
        #expect(try shape(nested) == "(== id 1)")
        let negated = String(repeating: "!", count: 50_000) + "(id == 1)"
        #expect(try parsed(negated).nodes.count == 50_003)
        let sum = String(repeating: "1 + ", count: 50_000) + "id == 1"
        #expect(try parsed(sum).nodes.count > 100_000)
        let subqueries =
            String(repeating: "SUBQUERY(a, $s, ", count: 50_000) + "b == 1"
            + String(repeating: ").@count > 0", count: 50_000)
        #expect(syntaxError(subqueries)?.code == .invalidQueryString)
    }

    @Test func randomBytesNeverTrap() {
        var random = SystemRandomNumberGenerator()
        let pieces = [
            "tons", "==", "5", "'a", "\"", "(", ")", "{", "}", "AND", "OR", "NOT", "!", "$0",
            "$K1", "BETWEEN", "IN", "ANY", "SUBQUERY(", "@count", ".", "[", "]", ",", "T5:1", "-",
            "+", "1.5e", "0x", "B64\"", "uuid(", "\\", "\u{e9}", "SORT(", "ASC", "LIMIT(",
            "geobox(", "GEOWITHIN", "obj(", "bin(", "@links", "2020-1-1T", "#", "%@", "\u{0}",
        ]
        for _ in 0..<20_000 {
            let count = Int.random(in: 1...12, using: &random)
            let text = (0..<count).map { _ in pieces.randomElement(using: &random)! }
                .joined(separator: Bool.random(using: &random) ? " " : "")
            _ = syntaxError(text)
            _ = syntaxError(text, .format)
        }
    }
}
