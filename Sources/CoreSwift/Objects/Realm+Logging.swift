// What realms tell the log, and how loudly:
//
// * Realm.Storage, detail: realms opened and closed, schemas changed;
// * Realm.Storage.Transaction, debug: commits and rollbacks; trace: transactions begun, moves to
//   other versions;
// * Realm.Storage.Query, debug: each execution of a query, with what it found.
//
// Nothing of it is loud enough for the default level. Texts are built for who listens alone.

extension Realm {
    @inline(__always)
    func tell(_ category: LogCategory, _ level: LogLevel, _ text: @autoclosure () -> String) {
        if Log.isOn(category, level) { file.log.log(category, level, text()) }
    }

    /// A query was executed; `found` is what of it was counted or listed.
    @inline(__always)
    func tell(_ query: @autoclosure () -> ResultsDescription, _ found: @autoclosure () -> String) {
        guard Log.isOn(.query, .debug) else { return }
        let query = query()
        file.log.log(
            .query, .debug,
            "'\(path)', \(schema.named(query.classKey)): \(query.spelling): \(found())")
    }
}
