// Object ids and UUIDs: bytes, text, order, new ones.

import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct IdentifierValueTests {
    @Test func objectIdsGoThroughTextAndBytes() throws {
        let text = "0123456789abcdefFEDCBA98"
        let id = try ObjectId(parsing: text)
        #expect(id.description == text.lowercased())
        #expect(id.bytes == [1, 0x23, 0x45, 0x67, 0x89, 0xAB, 0xCD, 0xEF, 0xFE, 0xDC, 0xBA, 0x98])
        #expect(try ObjectId(bytes: id.bytes) == id)
        #expect(RawValue.objectId(id).objectIdValue == id)
        #expect(id.seconds == 0x0123_4567)
    }

    @Test(arguments: ["", "0123", "0123456789abcdefFEDCBA9", "0123456789abcdefFEDCBA9g", "é"])
    func whatIsNoObjectIdIsRefused(text: String) {
        #expect(errorCode { _ = try ObjectId(parsing: text) } == .invalidArgument)
    }

    @Test func newObjectIdsDifferAndAscendWithTime() {
        var seen: Set<ObjectId> = []
        for _ in 0..<10_000 { #expect(seen.insert(.generate()).inserted) }
        let early = ObjectId.generate(seconds: 1)
        let late = ObjectId.generate(seconds: 0x8000_0000)
        #expect(early < late)
        #expect(early.bytes[4..<9] == late.bytes[4..<9])
        #expect(ObjectId.generate().seconds > 1_600_000_000)
    }

    @Test func uuidsGoThroughTextAndBytes() throws {
        let text = "01234567-89ab-cdef-FEDC-BA9876543210"
        let id = try UUIDValue(parsing: text)
        #expect(id.description == text.lowercased())
        #expect(try UUIDValue(bytes: id.bytes) == id)
        #expect(id.bytes.first == 1 && id.bytes.last == 0x10)
        #expect(RawValue.uuid(id).uuidValue == id)
    }

    @Test(arguments: [
        "", "0123456789abcdeffedcba9876543210", "01234567-89ab-cdef-FEDC-BA987654321",
        "01234567-89ab-cdef-FEDC-BA98765432100", "0123456-789ab-cdef-FEDC-BA9876543210",
        "g1234567-89ab-cdef-FEDC-BA9876543210",
    ])
    func whatIsNoUUIDIsRefused(text: String) {
        #expect(errorCode { _ = try UUIDValue(parsing: text) } == .invalidArgument)
    }

    @Test func newUUIDsAreOfVersion4() {
        var seen: Set<UUIDValue> = []
        for _ in 0..<1000 {
            let id = UUIDValue.random()
            #expect(seen.insert(id).inserted)
            #expect(id.bytes[6] >> 4 == 4 && id.bytes[8] >> 6 == 2)
        }
    }
}
