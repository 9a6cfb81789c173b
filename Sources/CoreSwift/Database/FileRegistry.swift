// The realm files that are open in this process, so that all realms of one file share its store.

//
// A forked child starts with an empty registry of its own. It does not touch the parent's: another
// thread may have been in the middle of a change at the fork, holding the lock for ever.

import CKernels

final class FileRegistry: @unchecked Sendable {
    /// The registry of this process.
    static var shared: FileRegistry {
        while true {
            let word = ck_load_u64(current)
            if let known = UnsafeRawPointer(bitPattern: UInt(word)) {
                let registry = Unmanaged<FileRegistry>.fromOpaque(known).takeUnretainedValue()
                if registry.forkGeneration == ForkGuard.generation { return registry }
            }
            let made = Unmanaged.passRetained(FileRegistry())
            let next = UInt64(UInt(bitPattern: made.toOpaque()))
            // The parent's registry and its files are kept for ever: closing them would act on
            // what the parent goes on using.
            if !ck_cas_u64(current, word, next) { made.release() }
        }
    }

    /// Address of the registry; 0 = none yet.
    private nonisolated(unsafe) static let current: UnsafeMutablePointer<UInt64> = {
        let word = UnsafeMutablePointer<UInt64>.allocate(capacity: 1)
        word.initialize(to: 0)
        return word
    }()

    private let lock = Lock()
    /// By resolved path. One file may be here under several paths (hard links); it is one object
    /// then.
    private var files: [ByteText: RealmFile] = [:]
    private let forkGeneration = ForkGuard.generation

    /// The file at the configured path, opened if it is not; `body` runs while nobody else opens
    /// or closes files. `isFirst`: no realm of the file was open.
    func withFile<R>(
        _ configuration: Configuration, files system: FileSystem,
        _ body: (RealmFile, _ isFirst: Bool) throws(RealmError) -> R
    ) throws(RealmError) -> R {
        let path = try FileOperations.realPath(configuration.path, system)
        return try lock.withLock { () throws(RealmError) -> R in
            let name = ByteText(path)
            if let file = files[name] ?? openFile(linkedAs: path, system) {
                try checkSame(file, configuration)
                files[name] = file
                return try body(file, false)
            }
            let store = try Store.open(
                path: path, options: configuration.storeOptions, files: system)
            let file = RealmFile(
                path: configuration.path, store: store,
                sharedSettings: configuration.sharedSettings)
            // The registry lives as long as the process.
            file.onUnused = { file in FileRegistry.shared.close(file) }
            files[name] = file
            do throws(RealmError) {
                return try body(file, true)
            } catch {
                // Nobody entered: the file goes again.
                closeLocked(file)
                throw error
            }
        }
    }

    /// The open file, if any, that has this path as another name. What keeps it from being found
    /// will be reported by opening it.
    private func openFile(linkedAs path: String, _ system: FileSystem) -> RealmFile? {
        guard !files.isEmpty,
            let identity = try? OpenFile(path, .readOnly, system).status().identity
        else { return nil }
        return files.values.first { $0.store.identity == identity }
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
        guard file.store.isEncrypted(with: configuration.encryptionKey) else {
            throw RealmError(
                .mismatchedConfig,
                "'\(configuration.path)' is open already with another encryption key, or one is given "
                    + "and the other not")
        }
        guard mine == theirs else {
            throw RealmError(
                .mismatchedConfig,
                "'\(configuration.path)' is open already with other settings (mode "
                    + "\(mine.schemaMode), in memory \(mine.isInMemory), schema version "
                    + "\(mine.schemaVersion), client \(mine.clientNumber))")
        }
    }

    /// Whether some realm of this resolved path is open in this process.
    func isOpen(_ path: String) -> Bool { lock.withLock { files[ByteText(path)] != nil } }

    private func close(_ file: RealmFile) {
        lock.withLock { closeLocked(file) }
    }

    private func closeLocked(_ file: RealmFile) {
        // Somebody may have opened it again between the last close and here.
        guard !file.isUsed else { return }
        for (name, candidate) in files where candidate === file { files[name] = nil }
        do throws(RealmError) {
            try file.store.close()
        } catch {
            file.log.log(.storage, .error, "closing '\(file.path)': \(error.message)")
        }
    }
}
