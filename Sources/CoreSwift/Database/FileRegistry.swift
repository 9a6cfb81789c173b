// The realm files that are open in this process, so that all realms of one file share its store.

final class FileRegistry: @unchecked Sendable {
    static let shared = FileRegistry()

    private let lock = Lock()
    /// By path as given. One file may be here under several paths; it is one object then.
    private var files: [String: RealmFile] = [:]
    private var forkGeneration = ForkGuard.generation
    /// Files of the parent of a forked child. They are of no use here, and must not be closed
    /// either, because closing would act on what the parent goes on using: so they are kept.
    private var inherited: [RealmFile] = []

    /// The file at the configured path, opened if it is not; `body` runs while nobody else opens
    /// or closes files. `isFirst`: no realm of the file was open.
    func withFile<R>(
        _ configuration: Configuration, files system: FileSystem,
        _ body: (RealmFile, _ isFirst: Bool) throws(RealmError) -> R
    ) throws(RealmError) -> R {
        try lock.withLock { () throws(RealmError) -> R in
            forgetFilesOfParent()
            let path = configuration.path
            if let file = files[path] {
                try checkSame(file, configuration)
                return try body(file, false)
            }
            let store = try Store.open(
                path: path, options: configuration.storeOptions, files: system)
            if let file = sameFile(store) {
                try store.close()
                try checkSame(file, configuration)
                files[path] = file
                return try body(file, false)
            }
            let file = RealmFile(
                path: path, options: configuration.storeOptions, store: store,
                sharedSettings: configuration.sharedSettings)
            // The registry lives as long as the process.
            file.onUnused = { file in FileRegistry.shared.close(file) }
            files[path] = file
            do throws(RealmError) {
                return try body(file, true)
            } catch {
                // Nobody entered: the file goes again.
                closeLocked(file)
                throw error
            }
        }
    }

    /// The open file, if any, behind another path that leads to the same file.
    private func sameFile(_ store: Store) -> RealmFile? {
        files.values.first { $0.store.identity == store.identity }
    }

    private func checkSame(
        _ file: RealmFile, _ configuration: Configuration
    ) throws(RealmError) {
        let mine = file.sharedSettings
        var theirs = configuration.sharedSettings
        // Without a schema the version says nothing, on either side.
        if configuration.schema == nil || mine.schemaVersion == .max {
            theirs.schemaVersion = mine.schemaVersion
        }
        guard mine == theirs else {
            throw RealmError(
                .mismatchedConfig,
                "'\(configuration.path)' is open already with other settings (mode "
                    + "\(mine.schemaMode), in memory \(mine.isInMemory), schema version "
                    + "\(mine.schemaVersion))")
        }
    }

    /// Whether some realm of this path is open in this process.
    func isOpen(_ path: String) -> Bool {
        lock.withLock {
            forgetFilesOfParent()
            return files[path] != nil
        }
    }

    private func forgetFilesOfParent() {
        guard forkGeneration != ForkGuard.generation else { return }
        forkGeneration = ForkGuard.generation
        inherited += files.values
        files = [:]
    }

    private func close(_ file: RealmFile) {
        lock.withLock { closeLocked(file) }
    }

    private func closeLocked(_ file: RealmFile) {
        // Somebody may have opened it again between the last close and here.
        guard file.users == 0 else { return }
        for (path, candidate) in files where candidate === file { files[path] = nil }
        do throws(RealmError) {
            try file.store.close()
        } catch {
            file.log.log(.storage, .error, "closing '\(file.path)': \(error.message)")
        }
    }
}
