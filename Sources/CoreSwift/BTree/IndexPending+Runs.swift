// Waiting changes handed out in the order of the index, and taken back: what sorted runs beside a file that is
// filled consist of (IndexRuns.swift).

import CKernels

extension IndexPending {
    /// Whether they can be handed out: terms can't.
    var canDrain: Bool { shape != .terms }

    /// Hands every change to `body` in the order of the index, and forgets them all, but keeps the memory for others: the bytes of the value,
    /// and the word of the object key, with the top bit for a removal. Not of terms.
    mutating func drain(
        _ body: (UnsafeRawBufferPointer, UInt64) throws(RealmError) -> Void
    ) throws(RealmError) {
        guard count > 0, shape != .terms else { return }
        if let words {
            let sorted = sortWords(words)
            defer {
                give(back: sorted.spare)
                if !sorted.isInPlace { ck_free(sorted.items) }
            }
            var value: UInt64 = 0
            for i in 0..<count {
                value = sorted.items[i].key.byteSwapped
                try Self.withBytes(&value) { bytes throws(RealmError) in
                    try body(bytes, sorted.items[i].payload)
                }
            }
        } else if let texts, let heap {
            let spare = takeSpare(count * 2)
            defer { give(back: spare) }
            let items = spare.items
            sortTexts(texts, heap, items)
            for i in 0..<count {
                // They lie anywhere.
                if i &+ 16 < count { ck_prefetch(texts + Int(items[i &+ 16].payload)) }
                if i &+ 8 < count {
                    ck_prefetch(heap + texts[Int(items[i &+ 8].payload)].offset)
                }
                let change = texts[Int(items[i].payload)]
                let word = change.key.word
                try body(
                    UnsafeRawBufferPointer(
                        start: heap + change.offset, count: Int(change.count)),
                    change.isAddition ? word : word | Self.removalBit)
            }
        }
        forget()
    }

    private static func withBytes(
        _ value: inout UInt64, _ body: (UnsafeRawBufferPointer) throws(RealmError) -> Void
    ) throws(RealmError) {
        try withUnsafeMutablePointer(to: &value) { pointer throws(RealmError) in
            try body(UnsafeRawBufferPointer(start: pointer, count: 8))
        }
    }

    /// Takes a change back that was handed out.
    mutating func append(drained bytes: UnsafeRawBufferPointer, _ word: UInt64) {
        guard let start = bytes.baseAddress else { return }
        let key = ObjectKey(word: word & ~Self.removalBit)
        let isAddition = word & Self.removalBit == 0
        if shape == .words {
            append(start.u64(0).byteSwapped, key, isAddition: isAddition)
        } else {
            append(start, bytes.count, key, isAddition: isAddition)
        }
    }
}
