// Where the trees of one session find their nodes: the blocks of the file, and in a write
// transaction the blocks in memory that will replace some of them at commit.
//
// A `NodeSource` is a struct of raw pointers, so that a descent through a tree involves no
// reference counting. Who makes one keeps the store (and the transaction) alive.

import CKernels

/// A block that a write transaction has made and not written yet.
struct TransientBlock {
    /// Start of the block; or of an `OpenLeaf`.
    var pointer: UnsafeMutableRawPointer?
    /// Pages the block will take; 0 for an open leaf, which has to be sealed first.
    var pages: Int32
    var isOpenLeaf: Bool
    /// A block of the file, which is written as it is: its memory is that of the mapping.
    var isBorrowed = false
}

/// The memory blocks of a write transaction, named by their position in the table.
///
/// Invariants: 1. every entry with a pointer is reachable from exactly one parent node or tree
/// root; 2. `pageTotal` is the sum of the pages of all entries.
struct TransientTable {
    private(set) var entries: UnsafeMutablePointer<TransientBlock>
    private var capacity: Int
    private var count = 0
    private var firstFree: [Int32] = []
    private(set) var pageTotal = 0
    private var pool = BlockPool()

    init() {
        capacity = 64
        entries = .allocate(capacity: capacity)
    }

    @inline(__always) func pointer(_ reference: BlockReference) -> UnsafeMutableRawPointer {
        entries[reference.transientIndex].pointer.unsafelyUnwrapped
    }
    @inline(__always) func isOpenLeaf(_ reference: BlockReference) -> Bool {
        entries[reference.transientIndex].isOpenLeaf
    }
    @inline(__always) func pages(_ reference: BlockReference) -> Int {
        Int(entries[reference.transientIndex].pages)
    }

    /// Memory for a block of `pages` pages, all zeros, to be given to `add` or `replace` with the
    /// same page count: blocks are written whole, and what their content leaves unused must not
    /// carry bytes of this process into the file.
    mutating func allocate(pages: Int) -> UnsafeMutableRawPointer { pool.allocate(pages: pages) }

    /// The same, beginning with a copy of `count` bytes.
    mutating func allocate(
        pages: Int, copying source: UnsafeRawPointer, _ count: Int
    ) -> UnsafeMutableRawPointer {
        pool.allocate(pages: pages, copying: source, count)
    }

    private mutating func free(_ block: TransientBlock) {
        guard !block.isOpenLeaf, !block.isBorrowed, let pointer = block.pointer else { return }
        pool.deallocate(pointer, pages: Int(block.pages))
    }

    mutating func add(
        _ pointer: UnsafeMutableRawPointer, pages: Int, isOpenLeaf: Bool = false
    ) -> BlockReference {
        add(TransientBlock(pointer: pointer, pages: Int32(pages), isOpenLeaf: isOpenLeaf))
    }

    /// A block of the base version that only moves. Nobody changes it any more.
    mutating func add(borrowed block: UnsafeRawPointer, pages: Int) -> BlockReference {
        add(
            TransientBlock(
                pointer: UnsafeMutableRawPointer(mutating: block), pages: Int32(pages),
                isOpenLeaf: false, isBorrowed: true))
    }

    private mutating func add(_ block: TransientBlock) -> BlockReference {
        pageTotal += Int(block.pages)
        if let index = firstFree.popLast() {
            entries[Int(index)] = block
            return .transient(Int(index))
        }
        if count == capacity {
            capacity *= 2
            entries = entries.grown(count, to: capacity)
        }
        (entries + count).initialize(to: block)
        count += 1
        return .transient(count - 1)
    }

    /// Puts another block behind an existing reference; frees the memory of a sealed one.
    mutating func replace(
        _ reference: BlockReference, with pointer: UnsafeMutableRawPointer, pages: Int
    ) {
        let index = reference.transientIndex
        pageTotal += pages - Int(entries[index].pages)
        free(entries[index])
        entries[index] = TransientBlock(
            pointer: pointer, pages: Int32(pages), isOpenLeaf: false)
    }

    /// Drops a block; frees the memory of a sealed one.
    mutating func remove(_ reference: BlockReference) {
        let index = reference.transientIndex
        pageTotal -= Int(entries[index].pages)
        free(entries[index])
        entries[index] = TransientBlock(pointer: nil, pages: 0, isOpenLeaf: false)
        firstFree.append(Int32(index))
    }

    /// Frees all memory of sealed blocks; open leaves belong to their tables.
    mutating func deallocate() {
        for index in 0..<count where Int(entries[index].pages) > BlockPool.pagesMax {
            free(entries[index])
        }
        pool.deallocate()
        entries.deallocate()
    }
}

/// What a write transaction's trees share: their memory blocks and what they gave up.
struct TransactionMemory {
    var blocks = TransientTable()
    /// Blocks of the base version that the next version no longer has.
    var freed: [BlockReference] = []

    /// Memory like that of `TransientTable.allocate` for a block that is in no table; the caller
    /// frees it. Not zero are the bytes behind the header that the caller says it will write.
    static func allocate(pages: Int, content: Int = 0) -> UnsafeMutableRawPointer {
        let bytes = pages << Page.shift
        let block = UnsafeMutableRawPointer.allocate(byteCount: bytes, alignment: 64)
        memset(block, 0, BlockField.end)
        let end = BlockField.end + content
        memset(block + end, 0, bytes - end)
        return block
    }

    /// The block is no longer part of the tree.
    mutating func drop(_ reference: BlockReference) {
        if reference.isTransient {
            blocks.remove(reference)
        } else if !reference.isNone {
            freed.append(reference)
        }
    }
}

/// Checks the structure of a block that passed its content check, so that later readers may use
/// its offsets unchecked. `bytes` is the length of the block.
typealias StructureCheck<Context> = (
    _ block: UnsafeRawPointer, _ bytes: Int, _ context: Context
) throws(RealmError) -> Void

struct NodeSource {
    let blocks: BlockSource
    let store: Unmanaged<Store>
    var memory: UnsafeMutablePointer<TransactionMemory>?

    init(store: Store) {
        self.blocks = store.source
        self.store = Unmanaged.passUnretained(store)
        self.memory = nil
    }

    /// The client's number of who has the file open, 0: none (`ClientKeys`).
    var clientNumber: UInt32 { store._withUnsafeGuaranteedRef { $0.options.clientNumber } }

    /// The block behind `reference` if it has passed the gate before and carries `tag`.
    @inline(__always)
    func resolved(_ reference: UnsafeRawPointer, _ tag: BlockTag) -> UnsafeRawPointer? {
        let location = reference.u64(ReferenceField.location)
        if location & BlockReference.transientBit != 0 {
            let index = Int(truncatingIfNeeded: location & (BlockReference.transientBit - 1))
            return UnsafeRawPointer(
                memory.unsafelyUnwrapped.pointee.blocks.entries[index].pointer.unsafelyUnwrapped)
        }
        let page = location & 0xFFFF_FFFF_FFFF
        guard page < ck_load_relaxed_u64(&blocks.pointee.mappedPages) else { return nil }
        // Not relaxed: another thread may just have decrypted the block. On x86 it is the same.
        let known = ck_load_u64(blocks.pointee.verified + Int(page))
        guard known == reference.u64(ReferenceField.check0), known != 0 else { return nil }
        let block = blocks.pointee.base + Int(page) &* Page.size
        return block.u64(BlockField.tag) == tag.rawValue ? block : nil
    }

    /// The same of a reference that stands in no node.
    func resolved(_ reference: BlockReference, _ tag: BlockTag) -> UnsafeRawPointer? {
        withUnsafeTemporaryAllocation(byteCount: BlockReference.byteCount, alignment: 8) { place in
            guard let start = place.baseAddress else { return nil }
            reference.store(start)
            return resolved(start, tag)
        }
    }

    /// Where a block of the file lies, unchecked: for prefetching, not for reading.
    @inline(__always)
    func address(_ reference: UnsafeRawPointer) -> UnsafeRawPointer? {
        let location = reference.u64(ReferenceField.location)
        let page = location & 0xFFFF_FFFF_FFFF
        guard location & BlockReference.transientBit == 0,
            page < ck_load_relaxed_u64(&blocks.pointee.mappedPages)
        else { return nil }
        return blocks.pointee.base + Int(page) &* Page.size
    }

    /// Has the kernel read blocks that come next and have not passed the gate, while those before are decrypted. What
    /// lies around a block of a plain file comes with it anyway, as files in address space do.
    @inline(never)
    func readAhead(_ numbers: Range<Int>, _ place: (Int) -> UnsafeRawPointer) {
        let store = store.takeUnretainedValue()
        guard store.codec.cipher != nil else { return }
        let mapped = ck_load_relaxed_u64(&blocks.pointee.mappedPages)
        var start: UInt64 = 0
        var end: UInt64 = 0
        for number in numbers {
            let reference = BlockReference(place(number))
            guard !reference.isTransient, reference.page < mapped,
                ck_load_u64(blocks.pointee.verified + Int(reference.page)) != reference.check0
            else { continue }
            if reference.page != end {
                store.beginReading(start..<end)
                start = reference.page
            }
            end = reference.end
        }
        store.beginReading(start..<end)
    }

    /// Takes the block through the gate: content check, tag, `structure`.
    @inline(never)
    func admit<Context>(
        _ reference: BlockReference, _ tag: BlockTag, _ context: Context,
        _ structure: StructureCheck<Context>
    ) throws(RealmError) -> UnsafeRawPointer {
        let store = store.takeUnretainedValue()
        let block = try store.admit(reference)
        guard block.u64(BlockField.tag) == tag.rawValue else {
            throw RealmError(
                .invalidDatabase,
                "page \(reference.page): block is of kind \(block.u8(BlockField.kind)) for class "
                    + "\(block.u32(BlockField.classKey)), the tree needs kind \(tag.kind) for class "
                    + "\(tag.rawValue >> 32)",
                path: store.path)
        }
        do throws(RealmError) {
            try structure(block, reference.pageCount << Page.shift, context)
        } catch {
            throw RealmError(
                error.code, "page \(reference.page): \(error.message)", path: store.path)
        }
        store.markVerified(reference)
        return block
    }
}
