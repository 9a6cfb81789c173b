// Callbacks in order of registration, each with a token that ends it.

/// Ends a registration when it goes away.
public final class ChangeToken {
    private weak var list: CallbackList?
    private let number: Int

    init(_ list: CallbackList, _ number: Int) {
        self.list = list
        self.number = number
    }

    public func invalidate() {
        list?.remove(number)
        list = nil
    }

    deinit { invalidate() }
}

/// Used by one thread at a time. Callbacks may add and remove while they run.
final class CallbackList {
    private var callbacks: [(number: Int, body: () -> Void)] = []
    private var nextNumber = 0

    func add(_ body: @escaping () -> Void) -> ChangeToken {
        nextNumber += 1
        callbacks.append((nextNumber, body))
        return ChangeToken(self, nextNumber)
    }

    func remove(_ number: Int) { callbacks.removeAll { $0.number == number } }

    func removeAll() { callbacks = [] }

    func call() {
        if callbacks.isEmpty { return }
        for callback in callbacks
        where callbacks.contains(where: { $0.number == callback.number }) {
            callback.body()
        }
    }
}
