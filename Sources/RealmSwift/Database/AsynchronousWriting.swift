// Transactions that wait for the writer and for the disk without keeping the thread.

import CoreSwift
import Foundation

/// The number of an asynchronous transaction or commit, for `cancelAsyncWrite`.
public typealias AsyncTransactionId = UInt32

private typealias Answer = CheckedContinuation<RealmError?, Never>

/// A task waits for the writer. Used where the realm belongs.
private final class WaitForWriter: @unchecked Sendable {
    private let core: CoreSwift.Realm
    private var answer: Answer?
    private var number: AsyncTransactionId = 0

    init(_ core: CoreSwift.Realm) { self.core = core }

    func begin(_ answer: Answer) {
        self.answer = answer
        do throws(RealmError) {
            number = try core.writeAsynchronously(leavesOpen: true) { [self] in end(nil) }
        } catch {
            end(error)
        }
    }

    /// Nobody needs the writer any more.
    func cancel() {
        guard answer != nil else { return }
        do throws(RealmError) {
            if try core.cancelAsynchronous(number) { end(nil) }
        } catch {
            end(error)
        }
    }

    private func end(_ error: RealmError?) {
        answer?.resume(returning: error)
        answer = nil
    }
}

extension Realm {
    /// An asynchronous transaction runs or waits.
    public var isPerformingAsynchronousWriteOperations: Bool { core.isWritingOrWaiting }

    private func checkDelivers(_ refuse: (String) throws -> Never) rethrows {
        if core.isFrozen { try refuse("Can't perform transactions on a frozen Realm") }
        if session.configuration.readOnly {
            try refuse("Can't perform transactions on read-only Realms.")
        }
        if !(session.confinement?.delivers ?? false) {
            try refuse(
                "Can only perform async transactions from within runloops or dispatch queues.")
        }
    }

    /// Runs a block in a write transaction as soon as no other writes, and saves the changes on another
    /// thread; then the completion is called, with the error if they could not be saved.
    @discardableResult
    public func writeAsync(
        _ block: @escaping () -> Void, onComplete: ((Swift.Error?) -> Void)? = nil
    ) -> AsyncTransactionId {
        beginAsyncWrite {
            block()
            // The block may have ended the transaction itself.
            if isInWriteTransaction { commitAsyncWrite(onComplete) }
        }
    }

    /// Runs a block in a write transaction as soon as no other writes. What it does not commit is undone.
    @discardableResult
    public func beginAsyncWrite(_ asyncWriteBlock: @escaping () -> Void) -> AsyncTransactionId {
        checkDelivers { misuse($0) }
        return engine(.transaction, try core.writeAsynchronously(asyncWriteBlock))
    }

    /// Ends the write transaction; its changes are seen at once and saved on another thread.
    ///
    /// - Parameter allowGrouping: transactions that follow soon may be saved with it.
    @discardableResult
    public func commitAsyncWrite(
        allowGrouping: Bool = false, _ onComplete: ((Swift.Error?) -> Void)? = nil
    ) -> AsyncTransactionId {
        checkDelivers { misuse($0) }
        guard core.isWritable else { misuse("Can't commit a non-existing write transaction") }
        let path = core.path
        return engine(.transaction) { () throws(RealmError) in
            try core.commitAsynchronously(allowsGrouping: allowGrouping) { error in
                onComplete?(error.map { Error($0, path: path) })
            }
        }
    }

    /// Drops a transaction that has not begun, or the completion of a commit.
    ///
    /// - Throws: `Realm.Error` for numbers of neither.
    public func cancelAsyncWrite(_ asyncTransactionId: AsyncTransactionId) throws {
        let isCancelled = try asRealmError(
            core.path, try core.cancelAsynchronous(asyncTransactionId))
        if isCancelled { return }
        throw Error(
            .invalidInput, "No asynchronous transaction has the number \(asyncTransactionId).")
    }

    /// Waits without keeping the thread until no other writes, runs the block in a write transaction, and
    /// waits until the changes are saved.
    ///
    /// - Throws: what the block throws, `Realm.Error`, and `CancellationError` where the task is cancelled
    ///   before the block runs: others that write are not waited for any more then.
    @discardableResult
    public func asyncWrite<Result>(
        _isolation: isolated any Actor = #isolation, _ block: () throws -> Result
    ) async throws -> Result {
        try checkDelivers(refuse)
        if core.isWritable { try refuse("The Realm is already in a write transaction") }
        try Task.checkCancellation()
        let core = core
        let writer = WaitForWriter(core)
        let scheduler = session.confinement?.scheduler
        let refusal = await withTaskCancellationHandler {
            // Named, for the closure to stay on the actor.
            _ = _isolation
            return await withCheckedContinuation { writer.begin($0) }
        } onCancel: {
            scheduler?.schedule { writer.cancel() }
        }
        if let refusal {
            // What the system refuses is thrown; what is wrong with the call is misuse.
            let error = Error(refusal, path: core.path)
            if error.code != .fail { throw error }
            try refuse(misuseText(refusal, .transaction))
        }
        let result: Result
        do {
            try Task.checkCancellation()
            result = try block()
        } catch {
            if core.isWritable { cancelWrite() }
            throw error
        }
        if !core.isWritable { return result }
        let failure = await withCheckedContinuation { (continuation: Answer) in
            engine(.transaction) { () throws(RealmError) in
                _ = try core.commitAsynchronously { continuation.resume(returning: $0) }
            }
        }
        if let failure { throw Error(failure, path: core.path) }
        return result
    }

    /// Moves to the newest version; true if there was a newer one.
    @discardableResult
    public func asyncRefresh(_isolation: isolated any Actor = #isolation) async -> Bool {
        refresh()
    }

    /// Opens the realm of an actor, as `init(configuration:actor:)`.
    public static func open<A: Actor>(
        configuration: Configuration = .defaultConfiguration, actor: isolated A,
        downloadBeforeOpen: OpenBehavior = .never
    ) async throws -> Realm {
        try await Realm(configuration: configuration, actor: actor)
    }

    /// Opens the realm of the main actor.
    ///
    /// - Parameter downloadBeforeOpen: for programs that have it; nothing is downloaded here.
    @MainActor public static func open(
        configuration: Configuration = .defaultConfiguration,
        downloadBeforeOpen: OpenBehavior = .never
    ) async throws -> Realm { try Realm(configuration: configuration) }
}
