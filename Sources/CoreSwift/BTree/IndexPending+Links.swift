// Waiting changes of links, as the index that counts them asks for them (CountedLinks.swift).

/// Changes of links to objects of one class.
struct WordLinkChanges: LinkChanges {
    static var isMixed: Bool { false }
    let count: Int
    let changes: UnsafeMutablePointer<RadixItem>
    let notes: UnsafeMutablePointer<RadixItem>

    @inline(__always)
    private func link(_ item: RadixItem) -> CountedLinks.Link {
        CountedLinks.Link(
            classKey: CountedLinks.noClass, target: ObjectKey(word: item.key),
            source: item.source)
    }

    @inline(__always)
    func link(_ index: Int) -> CountedLinks.Link { link(changes[index]) }

    @inline(__always)
    func isAddition(_ index: Int) -> Bool { changes[index].isAddition }

    @inline(__always)
    func note(_ index: Int, at place: Int, isAddition: Bool) {
        let source = changes[index].source.word
        notes[place] = RadixItem(
            key: changes[index].key,
            payload: isAddition ? source : source | IndexPending.removalBit)
    }

    @inline(__always)
    func noted(_ place: Int) -> CountedLinks.Link { link(notes[place]) }

    @inline(__always)
    func notedIsAddition(_ place: Int) -> Bool { notes[place].isAddition }
}

/// Changes of links to objects of any class: 12 bytes each, class and object key.
struct TextLinkChanges: LinkChanges {
    static var isMixed: Bool { true }
    let count: Int
    /// By number of the text.
    let changes: UnsafeMutablePointer<RadixItem>
    /// The same; key 1: to be added, 0: to be removed.
    let notes: UnsafeMutablePointer<RadixItem>
    let texts: UnsafeMutablePointer<IndexPending.TextChange>
    let heap: UnsafeRawPointer

    private func text(_ item: RadixItem) -> IndexPending.TextChange {
        texts[Int(truncatingIfNeeded: item.payload)]
    }

    private func link(_ text: IndexPending.TextChange) -> CountedLinks.Link {
        CountedLinks.Link(
            classKey: ClassKey(rawValue: heap.u32(text.offset).byteSwapped),
            target: ObjectKey(word: heap.u64(text.offset + 4).byteSwapped), source: text.key)
    }

    func link(_ index: Int) -> CountedLinks.Link { link(text(changes[index])) }
    func isAddition(_ index: Int) -> Bool { text(changes[index]).isAddition }
    func note(_ index: Int, at place: Int, isAddition: Bool) {
        notes[place] = RadixItem(key: isAddition ? 1 : 0, payload: changes[index].payload)
    }
    func noted(_ place: Int) -> CountedLinks.Link { link(text(notes[place])) }
    func notedIsAddition(_ place: Int) -> Bool { notes[place].key == 1 }
}
