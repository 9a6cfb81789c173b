// JSON text to value trees: what is read, exactly, and what is refused, with the byte at fault.

import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct JSONReaderTests {
    private func read(_ text: String) throws -> ValueTree { try JSONReader.read(text) }

    private func message(_ bytes: [UInt8]) -> String? {
        do {
            _ = try bytes.withUnsafeBytes { try JSONReader.read($0) }
            return nil
        } catch let error as RealmError {
            #expect(error.code == .malformedJson || error.code == .limitExceeded)
            return error.message
        } catch {
            return "\(error)"
        }
    }

    private func message(_ text: String) -> String? { message(Array(text.utf8)) }

    @Test func `scalars read as themselves, with blanks around them`() throws {
        #expect(try read("null") == .null)
        #expect(try read(" true\n") == true)
        #expect(try read("\t\r false ") == false)
        #expect(try read("\"\"") == "")
        #expect(try read("0") == 0)
        #expect(try read("-0") == 0)
        #expect(try read("-12") == -12)
    }

    @Test func `integers of 64 bits are exact, other numbers keep their digits`() throws {
        #expect(try read("9223372036854775807") == .value(.int(.max)))
        #expect(try read("-9223372036854775808") == .value(.int(.min)))
        for text in [
            "9223372036854775808", "-9223372036854775809", "1.0", "1e5", "1E+5", "-0.0", "1e400",
            "0.1234567890123456789012345678901234567890",
        ] {
            #expect(try read(text) == .number(text))
        }
    }

    @Test func `strings are unescaped, also surrogate pairs`() throws {
        #expect(try read(#""a\"\\\/\b\f\n\r\tz""#) == "a\"\\/\u{8}\u{C}\n\r\tz")
        #expect(try read(#""\u00e9\u20AC\ud83d\uDE00\u0000""#) == "é€😀\0")
        #expect(try read("\"é€😀\u{7F}\"") == "é€😀\u{7F}")
    }

    @Test func `containers keep their order, and of a name given twice the later value counts`()
        throws
    {
        #expect(try read("[]") == [])
        #expect(try read("{}") == [:])
        #expect(try read("[1,[2,{}],[]]") == [1, [2, [:]], []])
        #expect(try read(#"{"b":1,"a":{"c":[null]}}"#) == ["b": 1, "a": ["c": [.null]]])
        #expect(try read(#"{"b":1,"a":2,"b":3}"#) == ["b": 3, "a": 2])
        let names = (0..<40).map { "\"k\($0 % 20)\":\($0)" }.joined(separator: ",")
        #expect(
            try read("{\(names)}")
                == .dictionary((0..<20).map { .init("k\($0)", .value(.int(Int64($0 + 20)))) }))
        // Canonically equivalent, and different: what counts is bytes.
        guard case .dictionary(let two) = try read("{\"\u{E9}\":1,\"e\u{301}\":2}") else {
            Issue.record("no dictionary")
            return
        }
        #expect(two.count == 2)
    }

    @Test func `errors tell the byte, what was expected and what was found`() {
        #expect(message("") == "malformed JSON at byte 0: expected a value, found the end")
        #expect(message("[1,]") == "malformed JSON at byte 3: expected a value, found ']'")
        #expect(message("[1 2]") == "malformed JSON at byte 3: expected ',' or ']', found '2'")
        #expect(message("{\"a\" 1}") == "malformed JSON at byte 5: expected ':', found '1'")
        #expect(
            message("{a:1}") == "malformed JSON at byte 1: expected a name in quotes, found 'a'")
        #expect(
            message("1 2")
                == "malformed JSON at byte 2: expected nothing behind the value, found '2'")
        #expect(message("nul") == "malformed JSON at byte 0: expected null, found 'n'")
        #expect(message("nulL") == "malformed JSON at byte 3: expected null, found 'L'")
        for text in [
            " ", "[", "{", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":1,", "{\"a\":1,}", "]", "}",
            ",",
            "01", "-", "-a", "1.", ".5", "+1", "1e", "1e+", "0x1", "NaN", "Infinity", "'a'", "\"",
            "\"\\", "\"\\x\"", "\"\\u12\"", "\"\\ud800\"", "\"\\udc00\"", "\"\\ud800\\u0041\"",
            "\"a\nb\"", "\"\t\"", "/* */1", "[1}", "{\"a\":1]", "\u{FEFF}1", "truefalse",
        ] {
            #expect(message(text) != nil, "\(text)")
        }
    }

    @Test func `bytes that are not UTF-8 are refused where they are`() {
        for bad: [UInt8] in [
            [0x80], [0xC0, 0x80], [0xC1, 0xBF], [0xC3], [0xE0, 0x80, 0x80], [0xE2, 0x82],
            [0xED, 0xA0, 0x80], [0xF0, 0x80, 0x80, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xF5],
            [0xFF], [0xE2, 0x28, 0xA1],
        ] {
            let text = message([0x22, 0x61] + bad + [0x22])
            #expect(text?.hasPrefix("malformed JSON at byte 2: expected UTF-8") == true, "\(bad)")
        }
    }

    @Test func `a thousand levels are read, more are an error`() throws {
        let depth = JSONReader.depthMax
        let deepest =
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        _ = try read(deepest)
        #expect(errorCode { _ = try read("[" + deepest + "]") } == .limitExceeded)
        #expect(
            errorCode { _ = try read(String(repeating: "[", count: 1 << 20)) } == .limitExceeded)
        let objects = String(repeating: "{\"a\":", count: 1 << 18)
        #expect(errorCode { _ = try read(objects) } == .limitExceeded)
    }

    @Test func `random bytes and mutated text are read or refused`() {
        let samples = [
            #"{"a":[1,-2.5e-3,true,false,null,"xé\u00e9\ud83d\ude00"],"b":{"c":{}}}"#,
            #"[[[[[["\\\"\/\b\f\n\r\t"]]]]]]"#, "123456789012345678901234567890e-99999999999",
        ].map { Array($0.utf8) }
        let alphabet = Array("{}[]\",:\\u0123456789eE+-.truefalsn \n".utf8)
        for item in Campaign("JSON fuzz", seconds: 0.5, atLeast: 1000) {
            let round = item.seed
            var random = item.random
            var bytes: [UInt8]
            if round % 3 == 0 {
                bytes = (0..<Int.random(in: 0..<40, using: &random)).map { _ in
                    UInt8(Int.random(in: 0..<256, using: &random))
                }
            } else if round % 3 == 1 {
                bytes = (0..<Int.random(in: 0..<40, using: &random)).map { _ in
                    alphabet[Int.random(in: 0..<alphabet.count, using: &random)]
                }
            } else {
                bytes = samples[Int.random(in: 0..<samples.count, using: &random)]
                for _ in 0...Int.random(in: 0..<4, using: &random) {
                    let place = Int.random(in: 0..<bytes.count, using: &random)
                    switch Int.random(in: 0..<3, using: &random) {
                    case 0: bytes[place] = UInt8(Int.random(in: 0..<256, using: &random))
                    case 1: bytes.remove(at: place)
                    default:
                        bytes.insert(
                            alphabet[Int.random(in: 0..<alphabet.count, using: &random)], at: place)
                    }
                }
            }
            _ = message(bytes)
        }
    }
}
