// Verification of what recovery relies on: the header slot of a version and the root's list of
// blocks written.

extension Store {
    /// What is wrong with the header and the written list of a pinned version that was the newest
    /// when it was pinned.
    func checkRoot(_ pin: Pin) throws(RealmError) -> [String] {
        let root = try VersionRoot(try admit(pin.root), pin.root)
        var header = FileHeader(
            fileID: fileID, version: pin.version, root: pin.root, pageCount: root.pageCount)
        // The slot may hold a newer version by now, which is fine.
        if case .valid(let slot) = try Self.readSlot(file, pin.version),
            slot.version == pin.version
        {
            if slot.root != pin.root || slot.fileID != fileID {
                return ["page \(pin.version & 1): the header names another root or file"]
            }
            header = slot
        }
        // After newer versions gave back the end of the file, the list may reach beyond it.
        guard header.pageCount <= lockFile.filePages else { return [] }
        try extendMapping(to: header.pageCount)
        return Self.verify(header, mapping).map { [$0] } ?? []
    }
}
