// The fixed places of an encrypted file. Both header slots have the same plain part:
//
//   offset  size  field
//        0     8  magic "RealmSwF"
//        8     4  format version: 2
//       12     4  page size
//       16     4  cipher: 1 AES-256-GCM, 2 XChaCha20-Poly1305
//       20     4  flags
//       24    16  file id
//       40    32  salt: the keys of the file come from it and the program's key
//       72    16  key check: the same for every right key and no other
//       88     8  check value of these 88 bytes: ContentHash of them and 40 zeros, first half. Not
//                 a matter of security: it tells a damaged file from a wrong key
//       96    24  nonce
//      120    16  tag; authenticated are the first 96 bytes and which slot it is
//      136   376  sealed: version (8), reference of the root (32), pages of the file (8), pages that
//                 it had before (8), zeros
//
// The sync record:
//
//        0    24  nonce
//       24    16  tag; authenticated are the first 96 bytes of the slots and the slot that it is about
//       40    32  sealed: magic "RealmSyn", version, check value of the root (16)

extension BlockCodec {
    private enum Field {
        static let hash = 88
        static let plainEnd = 96
        static let text = plainEnd + FileCipher.prefixBytes
        static let textBytes = FileHeader.slotBytes - text
        static let version = text
        static let root = text + 8
        static let pageCount = text + 40
        static let pagesBefore = text + 48
        static let record = FileCipher.prefixBytes
        static let recordBytes = 32
    }

    /// Of headers of encrypted files. What format 2 says of plain ones holds for all of them.
    private static let sealedFormat: UInt32 = 2

    /// Which fixed place something is sealed for; the slot is added.
    private enum FixedPlace: UInt64 {
        case slot = 0
        case record = 2
    }

    // MARK: Header slots

    /// Writes the 512 bytes of a slot.
    func encode(_ header: FileHeader, into target: UnsafeMutableRawPointer) {
        guard let cipher else { return header.encode(target) }
        target.initializeMemory(as: UInt8.self, repeating: 0, count: FileHeader.slotBytes)
        Self.putPlain(cipher.fields, flags: header.flags, into: target)
        target.put(header.version, Field.version)
        header.root.store(target + Field.root)
        target.put(header.pageCount, Field.pageCount)
        target.put(header.pagesBefore, Field.pagesBefore)
        Self.withBound(target, .slot, header.slot) { bound in
            cipher.seal(
                .fixedPlace, target + Field.text, Field.textBytes, bound: bound,
                prefix: target + Field.plainEnd, into: target + Field.text)
        }
    }

    /// Decodes the 512 bytes of a slot, which nobody changes meanwhile.
    func decode(_ source: UnsafeRawPointer, slot: Int) -> FileHeader.Slot {
        guard let cipher else { return FileHeader.decode(source, slot: slot) }
        guard case .fields(let fields, let flags) = Self.plainPart(source) else {
            return FileHeader.isBlank(source) ? .blank : .damaged
        }
        guard fields == cipher.fields else { return .damaged }
        return withUnsafeTemporaryAllocation(byteCount: FileHeader.slotBytes, alignment: 8) {
            guard let copy = $0.baseAddress else { return .damaged }
            let isIntact = Self.withBound(source, .slot, slot) { bound in
                cipher.open(
                    .fixedPlace, source + Field.text, Field.textBytes, bound: bound,
                    prefix: source + Field.plainEnd, into: copy + Field.text)
            }
            guard isIntact else { return .damaged }
            let opened = UnsafeRawPointer(copy)
            return .valid(
                FileHeader(
                    slot: slot, cipher: fields.kind, flags: flags,
                    fileID: FileID(low: fields.fileID.0, high: fields.fileID.1),
                    version: opened.u64(Field.version), root: BlockReference(opened + Field.root),
                    pageCount: opened.u64(Field.pageCount),
                    pagesBefore: opened.u64(Field.pagesBefore)))
        }
    }

    // MARK: Sync records

    /// Bytes of a sync record.
    var recordBytes: Int {
        cipher == nil ? SyncRecord.byteCount : Field.record + Field.recordBytes
    }

    /// `slot`: that of the header which the record vouches for.
    func encode(_ record: SyncRecord, slot: Int, into target: UnsafeMutableRawPointer) {
        guard let cipher else { return record.encode(target) }
        target.put(SyncRecord.magic, Field.record)
        target.put(record.version, Field.record + 8)
        target.put(record.check0, Field.record + 16)
        target.put(record.check1, Field.record + 24)
        withPlainPart(cipher) { plain in
            Self.withBound(plain, .record, slot) { bound in
                cipher.seal(
                    .fixedPlace, target + Field.record, Field.recordBytes, bound: bound,
                    prefix: target, into: target + Field.record)
            }
        }
    }

    /// The record for the header in this slot, if it is intact.
    func record(_ source: UnsafeRawPointer, slot: Int) -> SyncRecord? {
        guard let cipher else { return SyncRecord(source) }
        return withUnsafeTemporaryAllocation(byteCount: Field.recordBytes, alignment: 8) {
            guard let copy = $0.baseAddress else { return nil }
            let isIntact = withPlainPart(cipher) { plain in
                Self.withBound(plain, .record, slot) { bound in
                    cipher.open(
                        .fixedPlace, source + Field.record, Field.recordBytes, bound: bound,
                        prefix: source, into: copy)
                }
            }
            let opened = UnsafeRawPointer(copy)
            guard isIntact, opened.u64(0) == SyncRecord.magic else { return nil }
            return SyncRecord(
                version: opened.u64(8), check0: opened.u64(16), check1: opened.u64(24))
        }
    }

    // MARK: The plain part

    /// What the beginning of a slot says about its encryption.
    enum PlainPart {
        /// None: a plain file's, blank, or something else.
        case none
        case damaged
        case fields(CipherFields, flags: UInt32)
        case otherFormat(UInt32)
    }

    static func plainPart(_ source: UnsafeRawPointer) -> PlainPart {
        guard source.u64(0) == FileHeader.magic, source.u32(16) != 0 else { return .none }
        guard hash(source) == source.u64(Field.hash) else { return .damaged }
        guard source.u32(8) == Self.sealedFormat, source.u32(12) == UInt32(Page.size) else {
            return .otherFormat(source.u32(8))
        }
        func bytes(_ offset: Int, _ count: Int) -> [UInt8] {
            Array(UnsafeRawBufferPointer(start: source + offset, count: count))
        }
        return .fields(
            CipherFields(
                kind: source.u32(16), fileID: (source.u64(24), source.u64(32)),
                salt: bytes(40, CipherFields.saltBytes),
                keyCheck: bytes(72, CipherFields.keyCheckBytes)),
            flags: source.u32(20))
    }

    private static func putPlain(
        _ fields: CipherFields, flags: UInt32, into target: UnsafeMutableRawPointer
    ) {
        target.put(FileHeader.magic, 0)
        target.put(Self.sealedFormat, 8)
        target.put(UInt32(Page.size), 12)
        target.put(fields.kind, 16)
        target.put(flags, 20)
        target.put(fields.fileID.0, 24)
        target.put(fields.fileID.1, 32)
        for (index, byte) in (fields.salt + fields.keyCheck).enumerated() {
            target.put(byte, 40 + index)
        }
        target.put(hash(target), Field.hash)
    }

    private static func hash(_ source: UnsafeRawPointer) -> UInt64 {
        withZeros { copy in
            memcpy(copy, source, Field.hash)
            return ContentHash.of(copy, count: 128, seed0: 0, seed1: 0).low
        }
    }

    /// The plain part as the slots of this file have it; encrypted files have no flags.
    private func withPlainPart<R>(
        _ cipher: FileCipher, _ body: (UnsafeRawPointer) -> R
    ) -> R {
        Self.withZeros { plain in
            Self.putPlain(cipher.fields, flags: 0, into: plain)
            return body(plain)
        }
    }

    /// What is authenticated with a fixed place: the plain part and which place it is.
    private static func withBound<R>(
        _ plain: UnsafeRawPointer, _ place: FixedPlace, _ slot: Int,
        _ body: (UnsafeRawBufferPointer) -> R
    ) -> R {
        withZeros { bound in
            memcpy(bound, plain, Field.plainEnd)
            bound.put(place.rawValue + UInt64(slot), Field.plainEnd)
            return body(UnsafeRawBufferPointer(start: bound, count: Field.plainEnd + 8))
        }
    }

    /// 128 bytes on the stack.
    private static func withZeros<R>(_ body: (UnsafeMutableRawPointer) -> R) -> R {
        var bytes = (SIMD64<UInt8>(), SIMD64<UInt8>())
        return withUnsafeMutablePointer(to: &bytes) { body(UnsafeMutableRawPointer($0)) }
    }
}
