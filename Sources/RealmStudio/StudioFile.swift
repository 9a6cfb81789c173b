// One file as the studio has it: the open realm, the results that the page looks at, what can be undone, and who
// waits for the next version. Belongs to its `EngineThread`; what it does for requests is in the
// extensions.
//
// Invariants
//   1. `realm` is nil while the file is closed; then there are no views, nothing to undo and no key:
//      the key is used for opening and kept nowhere.
//   2. A view's results are of `realm`, and of `shownSchema`; so are the steps. `opened` compares that with what the realm
//      shows: other programs may have changed it.
//   3. `undoable` and `redoable` lead from the newest version that the studio made to the one before or
//      behind it; who else committed since then may make them fit no more, which `apply` finds out.

import CoreSwift
import Foundation

final class StudioFile {
    /// How long a request may wait for a new version; below what proxies and browsers cut off.
    static let waitSeconds = 20.0
    /// A file that no page has asked for so long is closed: its version is no longer held.
    static let idleSeconds = 60.0
    private static let viewsMax = 8
    private static let stepsMax = 100

    let path: String
    let isReadOnly: Bool
    private(set) var realm: Realm?
    /// The schema that views and steps are of.
    private var shownSchema = Schema()
    private(set) var hasEnded = false
    private var token: ChangeToken?

    /// Results that the page reads windows of, the ones used last at the end.
    private var views: [(name: String, view: View)] = []

    /// What undoes or does again a transaction of the studio, and what takes that back.
    struct Step {
        var changes: [UInt8]
        var reverse: [UInt8]
        /// What the changes touch, as it is when they are applied, and as it is then.
        var left: Contents
        var found: Contents
        var label: String
        var reversed: Step {
            Step(changes: reverse, reverse: changes, left: found, found: left, label: label)
        }
    }
    var undoable: [Step] = []
    var redoable: [Step] = []

    private struct Waiting {
        var version: Int64
        var until: Double
        var answer: (Int64) -> Void
    }
    private var waiting: [Waiting] = []
    private var lastUse = StudioFile.now

    init(path: String, readOnly: Bool) {
        self.path = path
        isReadOnly = readOnly
    }

    /// Seconds of a clock that only goes forward.
    static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    // MARK: Opening

    /// The open realm. A plain file is opened again if it was closed meanwhile.
    func opened() throws -> Realm {
        guard let realm else { return try open(key: []) }
        if realm.schema != shownSchema { forget(realm.schema) }
        return realm
    }

    /// Opens the file, which must be there, with the schema that it has.
    @discardableResult
    func open(key: [UInt8]) throws -> Realm {
        if let realm { return realm }
        var status = stat()
        guard stat(path, &status) == 0 else {
            throw RealmError(
                errno == ENOENT ? .fileNotFound : .fileOperationFailed,
                "\(path): \(String(cString: strerror(errno)))")
        }
        // Opening would take an empty file for a new one.
        if status.st_mode & S_IFMT == S_IFREG, status.st_size == 0 {
            throw RealmError(.invalidDatabase, "\(path): the file is empty")
        }
        var configuration = Configuration(path: path)
        configuration.encryptionKey = key
        if isReadOnly { configuration.schemaMode = .readOnly }
        let realm: Realm
        do throws(RealmError) {
            realm = try Realm.open(configuration)
        } catch {
            switch error.code {
            // The code is that of all files that can't be read; a test keeps the words the same.
            case .invalidDatabase where error.message.contains("the file is encrypted"):
                throw StudioError(
                    .locked,
                    key.isEmpty ? "the file is encrypted" : "this is not the key of the file")
            case .filePermissionDenied where isReadOnly:
                // Where no lock file can be made nobody writes either.
                configuration.schemaMode = .immutable
                realm = try Realm.open(configuration)
            default: throw error
            }
        }
        do {
            // The first answer tells a version, too.
            try realm.beginRead()
            token = try realm.addChangeObserver { [unowned self] in
                answer { $0.version != version }
            }
        } catch {
            realm.close()
            throw error
        }
        self.realm = realm
        shownSchema = realm.schema
        return realm
    }

    /// Closes the realm. Whoever waits is told, and sees with its next request.
    func close() {
        forget(Schema())
        token = nil
        realm?.close()
        realm = nil
        answer { _ in true }
    }

    /// Views and steps were of another schema: classes and properties that they name by keys may be gone, or others.
    private func forget(_ now: Schema) {
        views = []
        undoable = []
        redoable = []
        shownSchema = now
    }

    func end() {
        close()
        hasEnded = true
    }

    // MARK: Versions

    /// The version that the realm shows; 0 while the file is closed.
    var version: Int64 { Int64(clamping: realm?.version ?? 0) }

    func wait(beyond version: Int64, _ answer: @escaping (Int64) -> Void) {
        guard realm != nil, version == self.version else { return answer(self.version) }
        waiting.append(
            Waiting(version: version, until: Self.now + Self.waitSeconds, answer: answer))
    }

    private func answer(where isDue: (Waiting) -> Bool) {
        let due = waiting.filter(isDue)
        waiting.removeAll(where: isDue)
        for item in due { item.answer(version) }
    }

    /// A request came.
    func touch() { lastUse = Self.now }

    /// Something is to be done at a time rather than for a request.
    var needsTicks: Bool { realm != nil || !waiting.isEmpty }

    func tick() {
        guard needsTicks else { return }
        let now = Self.now
        answer { $0.until <= now }
        // Without lock file no other process is heard of.
        if now - lastUse > Self.idleSeconds, waiting.isEmpty { close() }
    }

    // MARK: Views

    /// The view of that name, made if it is not there.
    func view(_ name: String, _ make: () throws -> View) rethrows -> (view: View, isNew: Bool) {
        if let index = views.firstIndex(where: { $0.name == name }) {
            let found = views.remove(at: index)
            views.append(found)
            return (found.view, false)
        }
        let made = try make()
        views.append((name, made))
        if views.count > Self.viewsMax { views.removeFirst() }
        return (made, true)
    }

    func remember(_ step: Step) {
        undoable.append(step)
        if undoable.count > Self.stepsMax { undoable.removeFirst() }
    }
}
