// Verification of what recovery relies on: the header slot of a version and the root's list of
// blocks written.

extension Store {
    /// What is wrong with the header and the written list of a pinned version that was the newest
    /// when it was pinned.
    func checkRoot(_ pin: Pin) throws(RealmError) -> [String] {
        let root = try VersionRoot(try admit(pin.root), pin.root)
        var header = FileHeader(
            slot: FileHeader.homeSlot(pin.version), fileID: fileID, version: pin.version,
            root: pin.root, pageCount: root.pageCount)
        // The slots may hold newer versions by now, which is fine.
        for slot in 0...1 {
            guard case .valid(let found) = try Self.readSlot(file, slot, codec),
                found.version == pin.version
            else { continue }
            if found.root != pin.root || found.fileID != fileID {
                return ["page \(slot): the header names another root or file"]
            }
            header = found
        }
        // After newer versions gave back the end of the file, the list may reach beyond it.
        guard header.pageCount <= lockFile.filePages else { return [] }
        try extendMapping(to: header.pageCount)
        return try Self.verify(header, mapping).problem.map { [$0] } ?? []
    }
}
