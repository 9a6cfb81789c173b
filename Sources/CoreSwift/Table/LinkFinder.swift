// Which pieces of an open collection, and of the open collections among its elements, may hold
// links to an object: so that deleting many objects that one collection holds doesn't go through
// all of it for each. Made by `Table.removeLinks` when it is asked a second time; it belongs to the
// outermost collection, as its member 0, and ends with it.
//
// Invariants
//   1. A piece that holds a link is filed under the link's target, or waits to be read. It may be
//      filed under targets that it does not hold any more.
//   2. A collection that is an element of a piece that doesn't wait is a member or empty. Members
//      are open.

struct LinkFinder {
    /// A piece: its collection's number here, and its serial.
    private typealias Place = UInt64

    /// By number; nil where one has ended.
    private var members: [UnsafeMutablePointer<OpenCollection>?] = []
    private var waiting: [Place] = []
    /// Target and place. Targets of several classes may have one key, which is no matter.
    private var links: [RadixItem] = []
    private var chains = WordChains()
    /// Links that it may have before it is better made anew.
    private var linksMax = Int.max
    /// Of one that was just made or that has changed as much as it holds.
    private static let slack = 65_536

    var isOvergrown: Bool { links.count > linksMax }

    /// A finder for the collection, which gets it.
    static func make(_ root: UnsafeMutablePointer<OpenCollection>) -> UnsafeMutablePointer<Self> {
        let finder = UnsafeMutablePointer<LinkFinder>.allocate(capacity: 1)
        finder.initialize(to: LinkFinder())
        root.pointee.finder = finder
        finder.pointee.enter(root)
        return finder
    }

    /// Takes a collection that ends out of its finder; the outermost one ends that as well.
    static func leave(_ collection: UnsafeMutablePointer<OpenCollection>) {
        guard let finder = collection.pointee.finder else { return }
        collection.pointee.finder = nil
        if collection.pointee.member > 0 {
            finder.pointee.members[Int(collection.pointee.member)] = nil
            return
        }
        for case let other? in finder.pointee.members { other.pointee.finder = nil }
        finder.deinitialize(count: 1)
        finder.deallocate()
    }

    /// Takes in a collection among the elements of a member, whose finder it gets.
    mutating func add(_ collection: UnsafeMutablePointer<OpenCollection>) {
        guard collection.pointee.finder == nil else { return }
        collection.pointee.finder = collection.pointee.parent?.pointee.finder
        enter(collection)
    }

    private mutating func enter(_ collection: UnsafeMutablePointer<OpenCollection>) {
        let member = UInt32(members.count)
        members.append(collection)
        collection.pointee.member = member
        for piece in 0..<collection.pointee.pieceCount {
            wait(for: member, collection.pointee.pieces[piece].serial)
        }
    }

    // MARK: What changes

    private static func place(_ member: UInt32, _ serial: UInt32) -> Place {
        UInt64(member) << 32 | UInt64(serial)
    }

    /// A piece has got elements of which nothing is known.
    mutating func wait(for member: UInt32, _ serial: UInt32) {
        waiting.append(Self.place(member, serial))
    }

    /// A piece has got an element.
    mutating func note(_ value: RawValue, _ member: UInt32, _ serial: UInt32) {
        if value.type == ValueType.link.rawValue {
            links.append(RadixItem(key: value.word1, payload: Self.place(member, serial)))
        } else if NestedCell.type(value) != nil, waiting.last != Self.place(member, serial) {
            wait(for: member, serial)
        }
    }

    /// Whether invariants 1 and 2 hold for the elements of a piece.
    func knows(_ values: [RawValue], _ member: UInt32, _ serial: UInt32) -> Bool {
        let place = Self.place(member, serial)
        guard let collection = members[Int(member)] else { return false }
        if waiting.contains(place) { return true }
        let filed = Set(links.lazy.filter { $0.payload == place }.map(\.key))
        return values.allSatisfy { value in
            if value.type == ValueType.link.rawValue { return filed.contains(value.word1) }
            guard NestedCell.type(value) != nil else { return true }
            guard let child = collection.pointee.children[NestedCell.number(value)] else {
                return NestedCell.cell(value).isEmpty
            }
            return members[Int(child.pointee.member)] == child
        }
    }

    // MARK: What is where

    /// The next piece that has to be read.
    mutating func nextWaiting() -> (collection: UnsafeMutablePointer<OpenCollection>, piece: Int)? {
        while let place = waiting.popLast() {
            if let found = piece(place) { return found }
        }
        if linksMax == .max { linksMax = 2 * links.count + Self.slack }
        return nil
    }

    private func piece(
        _ place: Place
    ) -> (collection: UnsafeMutablePointer<OpenCollection>, piece: Int)? {
        guard let collection = members[Int(place >> 32)],
            let piece = collection.pointee.piece(serial: UInt32(truncatingIfNeeded: place))
        else { return nil }
        return (collection, piece)
    }

    /// The pieces that may hold links to the target, those of one collection from the last to the
    /// first; none waits.
    mutating func pieces(
        of target: ObjectKey
    ) -> [(collection: UnsafeMutablePointer<OpenCollection>, piece: Int)] {
        var places: [Place] = []
        links.withUnsafeBufferPointer { links in
            guard let start = links.baseAddress else { return }
            chains.extend(start, total: links.count)
            let word = UInt64(bitPattern: target.rawValue)
            _ = chains.visit(word, start, limit: .max) { places.append($0.payload) }
        }
        if places.count > 1 { places = Array(Set(places)) }
        var found = places.compactMap { piece($0) }
        found.sortFew {
            $0.collection == $1.collection
                ? $0.piece > $1.piece : $0.collection.pointee.member < $1.collection.pointee.member
        }
        return found
    }
}
