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
    /// Counts those links leaf by leaf.
    var linkCounter: LinkCounter?
    /// The object that an `object` node names; nil when there is none.
    var object: ObjectKey?
    /// What text tests with options, LIKE and MATCHES are done with.
    var matcher: TextMatcher?
    /// A long list of texts.
    var texts: TextSet?
}

final class FilterRun {
    let program: FilterProgram
    /// By node. Made when there is something to note.
    private var states: UnsafeMutablePointer<NodeState>?
    /// What expressions share; made when there is the first.
    var expressions: ExpressionState?

    init(_ program: FilterProgram, _ expressions: ExpressionState? = nil) {
        self.program = program
        self.expressions = expressions
    }

    /// The same for another thread, which needs matchers and counters of its own.
    init(forThread other: FilterRun) {
        program = other.program
        guard let known = other.states else { return }
        let own = UnsafeMutablePointer<NodeState>.allocate(capacity: program.nodeCount)
        own.initialize(from: known, count: program.nodeCount)
        for node in 0..<program.nodeCount {
            own[node].matcher = nil
            own[node].texts = nil
            own[node].linkCounter = nil
        }
        states = own
    }

    deinit {
        guard let states else { return }
        states.deinitialize(count: program.nodeCount)
        states.deallocate()
    }

    @inline(__always) func keys(_ node: Int) -> KeySet? { states?[node].keys }
    @inline(__always) func targets(_ node: Int) -> KeySet? { states?[node].targets }
    @inline(__always) func object(_ node: Int) -> ObjectKey? { states?[node].object }
    func origin(_ node: Int) -> TableReader? { states?[node].origin }
    func linkCounter(_ node: Int) -> LinkCounter? { states?[node].linkCounter }
    func walked(_ node: Int) -> Int { states?[node].walked ?? 0 }
    @inline(__always) func matcher(_ node: Int) -> TextMatcher? { states?[node].matcher }
    func texts(_ node: Int) -> TextSet? { states?[node].texts }

    /// Notes something of a node.
    func note(_ node: Int, _ body: (inout NodeState) -> Void) {
        body(&(states ?? makeStates())[node])
    }

    private func makeStates() -> UnsafeMutablePointer<NodeState> {
        let made = UnsafeMutablePointer<NodeState>.allocate(capacity: program.nodeCount)
        made.initialize(repeating: NodeState(), count: program.nodeCount)
        states = made
        return made
    }
}
