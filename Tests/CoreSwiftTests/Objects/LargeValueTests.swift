// Values far larger than a leaf, up to the limit.

import Testing

@testable import CoreSwift
@testable import TestSupport

@Suite struct LargeValueTests {
    @Test func `page counts of blocks survive their two bytes`() {
        for bytes in [1, 4096, 4097, 0x7FFF << 12, 0x7FFF << 12 + 1, 300 << 20, 1 << 31 + 16] {
            let pages = PageCount.forBytes(bytes)
            #expect(pages << 12 >= bytes && pages << 12 < bytes + 65 * 4096)
            #expect(PageCount.decode(PageCount.encode(pages)) == pages)
            let location = BlockReference.location(page: 77, count: pages)
            let reference = BlockReference(location: location, version: 1, check0: 0, check1: 0)
            #expect(reference.page == 77 && reference.pageCount == pages)
        }
    }

    @Test func `a binary of 150 MiB is stored, found again, replaced and given back`() throws {
        let directory = TemporaryDirectory()
        let path = directory.file()
        let schema = Schema([
            ClassSchema("Film", properties: [PropertySchema("data", .binary)])
        ])
        let count = 150 << 20
        do {
            let realm = try Realm.open(TestSchema.configuration(path, schema))
            var bytes = [UInt8](repeating: 7, count: count)
            bytes[count - 1] = 9
            try realm.write { _ = try realm.create("Film", ["data": .binary(bytes)]) }
            realm.close()
        }
        let realm = try Realm.open(TestSchema.configuration(path, schema))
        let film = try #require(try realm.find(ClassKey(rawValue: 0), key: ObjectKey(rawValue: 0)))
        var raw = RawValue.null
        let key = realm.schema.classes[0].properties[0].key
        try film.handle.getValue(key, &raw)
        #expect(raw.bytes.count == count && raw.bytes[0] == 7 && raw.bytes[count - 1] == 9)
        let problems = try realm.check()
        #expect(problems == [])
        try realm.write { try film.set("data", .binary([1])) }
        #expect(try film.get("data") == .binary([1]))
        _ = try realm.compact()
        #expect(try realm.statistics().fileBytes < 1 << 20)
    }

    @Test func `a value above two gibibytes is refused without being read`() throws {
        let directory = TemporaryDirectory()
        let schema = Schema([
            ClassSchema("Film", properties: [PropertySchema("data", .binary)])
        ])
        let realm = try Realm.open(TestSchema.configuration(directory.file(), schema))
        try realm.beginWrite()
        let film = try realm.create("Film")
        let key = realm.schema.classes[0].properties[0].key
        let byte: UInt8 = 0
        withUnsafePointer(to: byte) { pointer in
            let value = RawValue.binary(UnsafeRawPointer(pointer), (1 << 31) + 1)
            #expect(errorCode { try film.handle.setValue(key, value) } == .limitExceeded)
        }
    }
}
