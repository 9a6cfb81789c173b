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
    public static func check(path: String, encryptionKey: [UInt8] = []) -> [String] {
        check(path: path, encryptionKey: encryptionKey, files: SystemCalls.shared)
    }

    static func check(
        path: String, encryptionKey: [UInt8] = [], files: FileSystem
    ) -> [String] {
        var options = StoreOptions()
        options.encryptionKey = encryptionKey
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

    static func check(_ store: Store) throws(RealmError) -> [String] {
        let pin = try store.pinNewest()
        defer { store.unpin(pin.version) }
        var problems: [String] = []
        var reachable: [BlockReference] = []
        var isComplete = false
        do throws(RealmError) {
            problems += try store.checkRoot(pin)
            let own = try store.pin(version: pin.version)
            try TableSet.with(own, store) { tables throws(RealmError) in
                let check = TableCheck(tables)
                check.run()
                problems += check.report.problems
                reachable = check.reachable
                isComplete = check.isComplete
            }
        } catch {
            problems.append(error.message)
        }
        do throws(RealmError) {
            problems += try store.check(pin, reachable: reachable, listsLeaks: isComplete)
        } catch {
            problems.append(error.message)
        }
        return problems
    }
}
