// Memory that a call needs for itself.

import CKernels

extension UnsafeMutablePointer {
    /// Memory for the time of one call, to be given back by `deallocate()`. Large blocks lie in huge pages where the
    /// kernel has them: a page fault for every 4 KB takes as long as much that is done with such memory (a quarter of
    /// the time of sorting a million objects).
    static func scratch(capacity: Int) -> Self {
        let bytes = max(capacity, 1) * MemoryLayout<Pointee>.stride
        let hugePage = 2 << 20
        guard bytes >= hugePage else { return allocate(capacity: max(capacity, 1)) }
        let memory = UnsafeMutableRawPointer.allocate(byteCount: bytes, alignment: hugePage)
        ck_prefer_huge_pages(memory, bytes)
        return memory.bindMemory(to: Pointee.self, capacity: capacity)
    }
}
