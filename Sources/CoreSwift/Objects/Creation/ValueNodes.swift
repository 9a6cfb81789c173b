// Values with everything inside them as an array of nodes: how the C interface takes them, without
// copying texts. What JSON text and Swift programs give is a `ValueTree`.
//
// The nodes stand in level order: first the root, then its children, then the children of the first
// of these, and so on. So a node needs no address, only the number of its children, and a tree can
// neither have a cycle nor share parts: whatever numbers stand in it, `ValueNodes` finds out.

/// In the layout of the C interface's `realm_value_node_t`.
package struct ValueNode {
    /// Raw values of `realm_value_node_kind_e`.
    enum Kind: UInt32 {
        /// A value, also a link to a stored object.
        case value = 0
        /// An object; its children are what its properties hold, named by `property`.
        case object
        /// The elements of a list or set.
        case list
        /// The values of a dictionary, with keys.
        case dictionary
        /// A link to the object that the node at index `value` describes.
        case reference
    }
    /// In `flags`: what a new object gets; an object that is there keeps its value.
    static let isDefault: UInt32 = 1

    var kindNumber: UInt32
    var flags: UInt32
    var childCount: Int
    var property: PropertyKey
    private var keyStart: UnsafeRawPointer?
    private var keyCount: Int
    var value: RawValue

    /// Not checked: callers may give any number.
    var kind: Kind? { Kind(rawValue: kindNumber) }
    /// The key in a dictionary; null when there is no address.
    var key: RawValue {
        keyStart.map { RawValue.string($0, keyCount) } ?? .null
    }
}

/// A tree that was checked to be one: every node but the root is the child of one node before it.
struct ValueNodes {
    private let nodes: UnsafeBufferPointer<ValueNode>
    private struct State {
        let firstChild: Int
        /// The place of the object that the node describes among those of a plan, or -1.
        var object = -1
    }
    private var states: [State]
    /// Whether the root is the only node that is an object.
    let hasOneObject: Bool

    init(_ nodes: UnsafeBufferPointer<ValueNode>) throws(RealmError) {
        self.nodes = nodes
        var states: [State] = []
        states.reserveCapacity(nodes.count)
        var next = 1
        var objects = 0
        for (index, node) in nodes.enumerated() {
            guard index < next else { throw Self.wrong(index, "is the child of no other") }
            guard let kind = node.kind else {
                throw Self.wrong(index, "is of kind \(node.kindNumber), which there is not")
            }
            let isInner = kind == .object || kind == .list || kind == .dictionary
            guard node.childCount == 0 || isInner else {
                throw Self.wrong(index, "is a single value and can't have children")
            }
            guard node.childCount >= 0, node.childCount <= nodes.count - next else {
                throw Self.wrong(index, "has more children than there are nodes behind it")
            }
            states.append(State(firstChild: next))
            next += node.childCount
            if kind == .object { objects += 1 }
        }
        guard next == nodes.count, next > 0, !nodes.isEmpty else {
            throw RealmError(.invalidArgument, "a value has one node at least")
        }
        self.states = states
        hasOneObject = objects == 1 && nodes[0].kind == .object
    }

    private static func wrong(_ index: Int, _ rule: String) -> RealmError {
        RealmError(.invalidArgument, "node \(index) \(rule)")
    }

    var count: Int { nodes.count }
    subscript(_ index: Int) -> ValueNode { nodes[index] }
    func children(_ index: Int) -> Range<Int> {
        states[index].firstChild..<(states[index].firstChild + nodes[index].childCount)
    }
    func object(_ index: Int) -> Int { states[index].object }
    mutating func note(_ index: Int, object: Int) { states[index].object = object }
}
