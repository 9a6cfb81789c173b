// Callbacks in order of registration, each with a token that ends it.

/// Ends a registration when it goes away; on any thread.
public final class ChangeToken: @unchecked Sendable {
    private weak var list: CallbackList?
    fileprivate let number: Int

    init(_ list: CallbackList, _ number: Int) {
        self.list = list
        self.number = number
    }

    public func invalidate() { list?.remove(number) }

    deinit { invalidate() }
}

/// Guarded by a lock; callbacks run, and end, outside it. They may add and remove while they run.
final class CallbackList: @unchecked Sendable {
    /// Of all frozen realms, which never change: stays empty.
    static let ofFrozen = CallbackList()

    private struct Callback {
        var number: Int
        /// Called once, when this version is reached; nil: each time.
        var due: UInt64?
        var body: () -> Void
    }

    private let lock = Lock()
    private var callbacks: [Callback] = []
    private var nextNumber = 0

    /// `due`: the callback is for reaching this version, once.
    func add(due: UInt64? = nil, _ body: @escaping () -> Void) -> ChangeToken {
        lock.withLock {
            nextNumber += 1
            callbacks.append(Callback(number: nextNumber, due: due, body: body))
            return ChangeToken(self, nextNumber)
        }
    }

    func remove(_ number: Int) {
        let ended = lock.withLock { () -> Callback? in
            guard let index = callbacks.firstIndex(where: { $0.number == number }) else {
                return nil
            }
            return callbacks.remove(at: index)
        }
        // What the callback holds may run the caller's code when it is let go.
        withExtendedLifetime(ended) {}
    }

    func removeAll() {
        let ended = lock.withLock { () -> [Callback] in
            let ended = callbacks
            callbacks = []
            return ended
        }
        withExtendedLifetime(ended) {}
    }

    /// The realm reached `version`: first those that waited for it, then the others.
    func call(reached version: UInt64, except silent: [ChangeToken] = []) {
        let all = lock.withLock { callbacks }
        if all.isEmpty { return }
        for callback in all {
            guard let due = callback.due, due <= version, isThere(callback.number) else { continue }
            remove(callback.number)
            callback.body()
        }
        for callback in all where callback.due == nil && isThere(callback.number) {
            if silent.contains(where: { $0.number == callback.number }) { continue }
            callback.body()
        }
    }

    private func isThere(_ number: Int) -> Bool {
        lock.withLock { callbacks.contains { $0.number == number } }
    }
}
