// What one execution of a filter finds out about its nodes. The selections that it is made of share it, of
// the class and of the classes behind links: a node has one parent, so that no two of them test the same
// node of different objects. Used by one thread.

/// What is known of a node.
struct NodeState {
    /// Members of `intSet`s; of `words` and `reach` the objects that pass; of links those they have to
    /// lead to; of `memberCount` the members that count.
    var keys: KeySet?
    /// Of `reach` nodes without a set: the objects that the first link has to lead to.
    var targets: KeySet?
    /// From how many objects links have been followed (`Selection.walk`).
    var walked = 0
    /// Of `memberCount` nodes that count backlinks: the class that links here.
    var origin: TableReader?
    /// The object that an `object` node names; nil when there is none.
    var object: ObjectKey?
    /// What text tests with options, LIKE and MATCHES are done with.
    var matcher: TextMatcher?
    /// A long list of texts.
    var texts: TextSet?
}

final class FilterRun {
    let program: FilterProgram
    /// By node. Made when there is something to note: many executions end in an index.
    private var states: [NodeState] = []
    /// What expressions share; made when there is the first.
    var expressions: ExpressionState?

    init(_ program: FilterProgram, _ expressions: ExpressionState? = nil) {
        self.program = program
        self.expressions = expressions
    }

    /// The same for another thread, which needs matchers of its own.
    init(forThread other: FilterRun) {
        program = other.program
        states = other.states
        for node in states.indices {
            states[node].matcher = nil
            states[node].texts = nil
        }
    }

    @inline(__always) func keys(_ node: Int) -> KeySet? {
        states.isEmpty ? nil : states[node].keys
    }
    @inline(__always) func targets(_ node: Int) -> KeySet? {
        states.isEmpty ? nil : states[node].targets
    }
    @inline(__always) func object(_ node: Int) -> ObjectKey? {
        states.isEmpty ? nil : states[node].object
    }
    func origin(_ node: Int) -> TableReader? { states.isEmpty ? nil : states[node].origin }
    func walked(_ node: Int) -> Int { states.isEmpty ? 0 : states[node].walked }
    @inline(__always) func matcher(_ node: Int) -> TextMatcher? {
        states.isEmpty ? nil : states[node].matcher
    }
    func texts(_ node: Int) -> TextSet? { states.isEmpty ? nil : states[node].texts }

    /// Notes something of a node.
    func note(_ node: Int, _ body: (inout NodeState) -> Void) {
        if states.isEmpty {
            states = Array(repeating: NodeState(), count: program.nodeCount)
        }
        body(&states[node])
    }
}
