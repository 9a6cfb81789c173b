// What opening does about encryption: which codec a file needs, and that of a new one.

extension Store {
    /// The first two pages; zeros behind the end of the file.
    static func readStart(_ file: OpenFile) throws(RealmError) -> [UInt8] {
        let buffer = UnsafeMutableRawBufferPointer.allocate(
            byteCount: 2 * Page.size, alignment: 8)
        defer { buffer.deallocate() }
        buffer.initializeMemory(as: UInt8.self, repeating: 0)
        guard let start = buffer.baseAddress else { return [] }
        _ = try file.read(start, count: buffer.count, at: 0)
        return Array(buffer)
    }

    static func decodeSlot(
        _ start: [UInt8], _ slot: Int, _ codec: BlockCodec
    ) -> FileHeader.Slot {
        start.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return .blank }
            return codec.decode(base + FileHeader.slotOffset(slot), slot: slot)
        }
    }

    /// How a file is read that begins with these two pages. Throws when key and file don't go together.
    static func codec(
        of file: OpenFile, _ start: [UInt8], _ options: StoreOptions
    ) throws(RealmError) -> BlockCodec {
        var parts: [BlockCodec.PlainPart] = []
        for slot in 0...1 {
            parts.append(
                start.withUnsafeBytes { bytes in
                    bytes.baseAddress.map {
                        BlockCodec.plainPart($0 + FileHeader.slotOffset(slot))
                    } ?? .none
                })
        }
        for case .fields(let fields, _) in parts {
            return BlockCodec(
                try FileCipher.open(
                    key: options.encryptionKey, fields: fields,
                    writerSalt: try randomBytes(FileCipher.writerSaltBytes, file),
                    hasAES: options.hasAES, path: file.path))
        }
        for case .otherFormat(let format) in parts {
            throw RealmError(
                .unsupportedFileFormatVersion,
                "'\(file.path)': file format \(format) is not supported, this library reads"
                    + " formats 1 to \(FileHeader.formatVersionMax)", path: file.path)
        }
        if !options.encryptionKey.isEmpty {
            try FileCipher.checkSize(options.encryptionKey)
            for slot in 0...1 {
                // What an in-memory realm left behind is as good as no file.
                guard case .valid(let header) = decodeSlot(start, slot, .plain),
                    !header.isInMemory
                else { continue }
                throw RealmError(
                    .invalidDatabase,
                    "'\(file.path)': a key was given, and the file is not encrypted",
                    path: file.path)
            }
        }
        return .plain
    }

    static func newCodec(
        _ file: OpenFile, _ id: FileID, _ options: StoreOptions
    ) throws(RealmError) -> BlockCodec {
        guard !options.encryptionKey.isEmpty else { return .plain }
        return BlockCodec(
            try FileCipher.make(
                key: options.encryptionKey, kind: options.cipher, fileID: (id.low, id.high),
                salt: try randomBytes(CipherFields.saltBytes, file),
                writerSalt: try randomBytes(FileCipher.writerSaltBytes, file), path: file.path))
    }

    static func randomBytes(_ count: Int, _ file: OpenFile) throws(RealmError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var random = 0
        repeat {
            random = bytes.withUnsafeMutableBytes { buffer in
                buffer.baseAddress.map { file.files.random($0, count) } ?? 0
            }
        } while random == OpenFile.interrupted
        guard random >= 0 else { throw FileErrors.make(random, "get random bytes", file.path) }
        return bytes
    }
}
