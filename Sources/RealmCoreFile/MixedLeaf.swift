// A leaf of mixed values: an integer for each, which has its type, small values themselves, and for the
// others the number of an array of the leaf and the place there.

struct MixedLeaf {
    private enum Payload: Int { case none, ints, pairs, texts, collections }

    let count: Int
    private let composite: Node
    private let ints: Node?
    private let pairs: Node?
    private let texts: TextLeaf?
    private let collections: Node?
    private let reader: ValueReader

    init(_ reader: ValueReader, _ node: Node) throws(CoreFileError) {
        guard node.kind == .integers, node.hasRefs, !node.isInner, node.count >= 4, node.count <= 6
        else { throw node.fail("not a leaf of mixed values") }
        let store = reader.store
        self.reader = reader
        composite = try store.integers(try node.ref(0), "types of mixed values")
        count = composite.count
        let intsRef = try node.ref(1)
        ints = intsRef == 0 ? nil : try store.integers(intsRef, "integers of mixed values")
        let pairsRef = try node.ref(2)
        pairs = pairsRef == 0 ? nil : try store.integers(pairsRef, "pairs of mixed values")
        let textsRef = try node.ref(3)
        texts =
            textsRef == 0
            ? nil
            : try TextLeaf(store, try store.node(textsRef, "texts of mixed values"), TextRules())
        let collectionsRef = try node.refIfThere(4)
        collections =
            collectionsRef == 0
            ? nil : try store.references(collectionsRef, "collections in mixed values")
    }

    func value(_ index: Int) throws(CoreFileError) -> CoreValue {
        let word = try composite.int(index)
        if word == 0 { return .null }
        let type = Int(word & 31) - 1
        let place = word >> 8
        guard let payload = Payload(rawValue: Int(word >> 5 & 7)), place >= 0 || payload == .none
        else { throw composite.fail("mixed value \(index): \(word)") }
        switch (type, payload) {
        case (0, .none): return .int(place)
        case (0, .ints): return .int(try int(place))
        case (1, .none): return .bool(place != 0)
        case (2, .texts): return .string(try reader.store.heldText(try bytes(place), composite))
        case (4, .texts): return .binary(try reader.store.heldBytes(try bytes(place), composite))
        case (8, .pairs):
            return try reader.timestamp(try first(place), try second(place), composite)
        case (9, .ints):
            return .float(Float(bitPattern: UInt32(truncatingIfNeeded: try int(place))))
        case (10, .ints): return .double(Double(bitPattern: UInt64(bitPattern: try int(place))))
        case (11, .pairs):
            return .decimal(
                UInt64(bitPattern: try second(place)), UInt64(bitPattern: try first(place)))
        case (12, .ints): throw composite.fail("a link without a class in a mixed value")
        case (15, .texts): return .objectID(try bytes(place, 12))
        case (16, .pairs):
            return try reader.link(tableKey: try first(place), try second(place), composite)
        case (17, .texts): return .uuid(try bytes(place, 16))
        case (19, .collections): return .list(try reader.nestedList(try ref(place), composite))
        case (21, .collections):
            return .dictionary(try reader.nestedDictionary(try ref(place), composite))
        default:
            throw composite.fail(
                "mixed value \(index): type \(type) stored in way \(payload.rawValue)")
        }
    }

    /// A place in an array of the leaf, which is there.
    private func array(_ node: Node?, _ place: Int64) throws(CoreFileError) -> Node {
        guard let node, place < node.count else {
            throw composite.fail("a mixed value leads to \(place) of \(node?.count ?? 0) values")
        }
        return node
    }

    private func int(_ place: Int64) throws(CoreFileError) -> Int64 {
        try array(ints, place).int(Int(place))
    }

    private func first(_ place: Int64) throws(CoreFileError) -> Int64 {
        try array(pairs, place &* 2).int(Int(place &* 2))
    }

    private func second(_ place: Int64) throws(CoreFileError) -> Int64 {
        try array(pairs, place &* 2 &+ 1).int(Int(place &* 2 &+ 1))
    }

    private func ref(_ place: Int64) throws(CoreFileError) -> UInt64 {
        try array(collections, place).ref(Int(place))
    }

    /// Null stands for empty here.
    private func bytes(_ place: Int64) throws(CoreFileError) -> UnsafeRawBufferPointer {
        guard let texts, place < texts.count else {
            throw composite.fail("a mixed value leads to \(place) of \(texts?.count ?? 0) texts")
        }
        return try texts.bytes(Int(place)) ?? UnsafeRawBufferPointer(start: nil, count: 0)
    }

    private func bytes(_ place: Int64, _ length: Int) throws(CoreFileError) -> [UInt8] {
        // Stored as a string, with the zero byte that those end with.
        let bytes = try bytes(place)
        guard bytes.count == length else {
            throw composite.fail("\(bytes.count) bytes in a mixed value where \(length) are due")
        }
        return try reader.store.heldBytes(bytes, composite)
    }
}
