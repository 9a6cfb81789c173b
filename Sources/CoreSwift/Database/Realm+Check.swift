// Verification of a whole file.

extension Realm {
    /// Verifies the newest version of the file: every block, tree, index, backlink and the space
    /// map. Returns what is wrong, a sentence for each, naming page, class, column and row;
    /// nothing when the file is sound. Reads the whole file.
    public func check() throws(RealmError) -> [String] {
        try checkUsable()
        return try Self.check(file.store)
    }

    /// The same for a file that this process need not have open. What prevents opening it is
    /// reported as a problem, too. Never writes the file.
    public static func check(path: String) -> [String] {
        check(path: path, files: SystemCalls.shared)
    }

    static func check(path: String, files: FileSystem) -> [String] {
        var options = StoreOptions()
        options.readOnly = true
        options.create = false
        do throws(RealmError) {
            let store = try Store.open(path: path, options: options, files: files)
            let problems: [String]
            do throws(RealmError) {
                problems = try check(store)
            } catch {
                try store.close()
                throw error
            }
            try store.close()
            return problems
        } catch {
            return [error.message]
        }
    }

    private static func check(_ store: Store) throws(RealmError) -> [String] {
        try TableSet.withNewest(store) { tables throws(RealmError) in
            let walk = TreeCopy(tables)
            try walk.measure()
            let pin = try store.pin(version: tables.version)
            defer { store.unpin(pin.version) }
            return try store.check(pin, reachable: walk.replaced)
        }
    }
}
