// Opening a realm, with all that has to be done to its schema, on a thread of its own.

package final class OpeningTask: @unchecked Sendable {
    private let lock = Lock()
    private var isCancelled = false

    private init() {}

    /// Opens on another thread, and calls `completion` there, once: with a reference that any thread
    /// makes its realm of, or the error. The callbacks of the configuration run there as well; its
    /// scheduler is not used.
    package static func start(
        _ configuration: Configuration,
        _ completion: @escaping (Result<ThreadSafeReference, RealmError>) -> Void
    ) throws(RealmError) -> OpeningTask {
        let task = OpeningTask()
        var own = configuration
        own.scheduler = nil
        own.isCached = false
        let told = configuration.schemaProgress
        own.schemaProgress = { part in !task.wasCancelled && (told?(part) ?? true) }
        let asked = configuration.givesUpOpening
        own.givesUpOpening = { task.wasCancelled || (asked?() ?? false) }
        let opened = own
        try ApartThread.run { completion(task.run(opened)) }
        return task
    }

    private func run(
        _ configuration: Configuration
    ) -> Result<ThreadSafeReference, RealmError> {
        do throws(RealmError) {
            if wasCancelled { throw RealmError(.callback, "the opening was cancelled") }
            // What is committed then is not undone: the realm is there.
            return .success(try ThreadSafeReference(try Realm.open(configuration)))
        } catch {
            return .failure(error)
        }
    }

    private var wasCancelled: Bool { lock.withLock { isCancelled } }

    /// Ends the opening as soon as that can be: a change of the schema that is not committed is undone.
    /// The completion is called with an error then; with the realm where it is too late for that.
    package func cancel() { lock.withLock { isCancelled = true } }
}
