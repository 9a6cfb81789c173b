// The one place through which the bytes of blocks go out to the file and come in from it. In a
// plain file they are what they are in memory and the check value is a hash; an encrypted file
// will seal and open them here.

enum BlockCodec {
    /// The reference of a block that is about to be written at `page`.
    @inline(__always)
    static func seal(
        _ block: UnsafeRawPointer, page: UInt64, pages: Int, version: UInt64
    ) -> BlockReference {
        let location = BlockReference.location(page: page, count: pages)
        let check = ContentHash.of(
            block, count: pages * Page.size, seed0: location, seed1: version)
        return BlockReference(
            location: location, version: version, check0: check.low, check1: check.high)
    }

    /// Whether the bytes are those the reference was made for.
    static func isIntact(_ block: UnsafeRawPointer, _ reference: BlockReference) -> Bool {
        let check = ContentHash.of(
            block, count: reference.pageCount * Page.size, seed0: reference.location,
            seed1: reference.version)
        return check.low == reference.check0 && check.high == reference.check1
    }
}
