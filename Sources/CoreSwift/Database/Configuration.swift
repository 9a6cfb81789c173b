// What a program says when it opens a realm.

public struct Configuration {
    public var path: String
    /// Empty, or the 64 bytes that everything in the file is encrypted with. Whoever opens the file gives
    /// the same ones. An open realm keeps no copy, but keys made of them.
    public var encryptionKey: [UInt8] = []
    /// How many bytes of an encrypted file are kept decrypted; 0: all that were read. Whoever opens the
    /// file first in a process says it. At least a megabyte.
    public var decryptedBytesMax = StoreOptions.decryptedBytesDefault
    /// The classes the program works with; nil takes those of the file.
    public var schema: Schema?
    /// Goes with `schema`; `unspecifiedVersion` is no version.
    public var schemaVersion = Configuration.unspecifiedVersion
    public var schemaMode = SchemaMode.automatic
    public var subsetMode = SchemaSubsetMode.strict
    /// The data lives only as long as some realm of the path is open.
    public var isInMemory = false
    /// `beginWrite` fails while more versions of the file are live.
    public var versionsMax = UInt64.max
    /// Opening again for the same path and thread gives the realm that is open.
    public var isCached = false
    /// Whose thread the realm belongs to; nil: the calling thread's.
    public var scheduler: (any Scheduler)?
    /// Realms whose schedulers can run work follow commits by themselves; else only refreshing and
    /// beginning to write move them.
    public var notifiesAutomatically = true
    /// Called in the transaction that gives a new file its schema; false undoes all.
    public var initializeData: ((Realm) throws(RealmError) -> Bool)?
    /// Called with total and used bytes when the first realm of the path is opened; true asks
    /// for compaction.
    public var shouldCompact:
        ((_ totalBytes: UInt64, _ usedBytes: UInt64) throws(RealmError) -> Bool)?
    /// Called when the file has a lower schema version, with the realm as it was and as it will be;
    /// false undoes all.
    package var migrate: SchemaRequest.Migration?
    /// When a class becomes embedded, objects that nothing links to are deleted, and those that several
    /// objects link to copied; otherwise both are refused.
    public var mendsBacklinks = false
    /// Told how much of a change of the schema is done, between 0 and 1; false undoes all.
    public var schemaProgress: ((Double) -> Bool)?
    /// Asked while a change of the schema waits for another writer; true gives up.
    public var givesUpOpening: (() -> Bool)?

    /// In the upper bits of the keys that new objects get (`ObjectKey`), so that objects made in
    /// several files with different numbers, up to 2^26 - 2, never have one key; nil: they continue
    /// those of the file, 0, 1, 2 and so on. It is not kept in the file: all who write to it give the
    /// same one. A file goes on with its keys where nobody gives one, and a number that was
    /// given up must not come back.
    public var clientNumber: UInt32?

    public static let unspecifiedVersion = UInt64.max

    public init(path: String) { self.path = path }

    /// Throws for settings that exclude each other (docs/C_RULES, "Opening").
    func check() throws(RealmError) {
        func refuse(_ rule: String) -> RealmError { RealmError(.illegalCombination, rule) }
        if schema != nil && schemaVersion == Self.unspecifiedVersion {
            throw refuse("a schema needs a schema version")
        }
        let isReadOnly = schemaMode == .immutable || schemaMode == .readOnly
        let isAdditive = schemaMode == .additiveDiscovered || schemaMode == .additiveExplicit
        if migrate != nil && (isReadOnly || isAdditive) {
            throw refuse("a migration callback does not go with schema mode \(schemaMode)")
        }
        if initializeData != nil && isReadOnly {
            throw refuse("a data initialization callback does not go with mode \(schemaMode)")
        }
        if isInMemory && !encryptionKey.isEmpty {
            throw refuse("an in-memory realm cannot be encrypted")
        }
        if !encryptionKey.isEmpty { try FileCipher.checkSize(encryptionKey) }
        if decryptedBytesMax < 0 {
            throw RealmError(
                .invalidArgument, "a cache of \(decryptedBytesMax) bytes: 0 or more are possible")
        }
        if let number = clientNumber, number < 1 || number > ClientKeys.clientMax {
            throw RealmError(
                .invalidArgument,
                "a client's number is between 1 and \(ClientKeys.clientMax), not \(number)")
        }
    }

    /// What is asked of the schema; nil: the file's is taken.
    var schemaRequest: SchemaRequest? {
        guard let schema else { return nil }
        var request = SchemaRequest(schema, version: schemaVersion, mode: schemaMode)
        request.initializeData = initializeData
        request.migrate = migrate
        request.mendsBacklinks = mendsBacklinks
        request.progress = schemaProgress
        request.givesUp = givesUpOpening
        return request
    }

    /// Tests have in small files what otherwise happens in large ones, and on slow machines what does on others.
    var spaceLimits = SpaceLimits()
    var pendingPagesMax: Int?
    var partPages: Int?
    var sharedWaitMax: Int?
    var unwrittenObjectsMin: Int?
    var decryptedBytesMin = StoreOptions.decryptedBytesMin

    var storeOptions: StoreOptions {
        var options = StoreOptions()
        options.readOnly = schemaMode == .readOnly
        options.immutable = schemaMode == .immutable
        options.inMemory = isInMemory
        // Unlike realm-core's, which creates a missing file to read.
        options.create = schemaMode != .immutable && schemaMode != .readOnly
        options.clientNumber = clientNumber ?? 0
        options.encryptionKey = encryptionKey
        options.decryptedBytesMax =
            decryptedBytesMax == 0 ? 0 : max(decryptedBytesMax, decryptedBytesMin)
        options.spaceLimits = spaceLimits
        if let unwrittenObjectsMin { options.unwrittenObjectsMin = unwrittenObjectsMin }
        if let partPages {
            options.partPages = partPages
            options.piecePages = partPages
        }
        if let sharedWaitMax { options.sharedWaitMax = sharedWaitMax }
        if let pendingPagesMax {
            options.pendingPagesMax = pendingPagesMax
            options.pendingSealedPagesMax = pendingPagesMax
        }
        return options
    }

    var sharedSettings: RealmFile.SharedSettings {
        RealmFile.SharedSettings(
            isImmutable: schemaMode == .immutable, isInMemory: isInMemory,
            schemaMode: schemaMode, schemaVersion: schemaVersion,
            clientNumber: clientNumber ?? 0)
    }
}
