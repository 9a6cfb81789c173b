// Commits that some observers are not told of, because the program made the changes on their behalf and
// shows them already.

/// Observers by their tokens: of objects, collections and results, and of the realm as a whole.
struct SilentObservers {
    var tokens: [NotificationToken]
    var realmTokens: [ChangeToken]

    func check(_ realm: Realm) throws(RealmError) {
        for token in tokens where !(realm.notifier?.owns(token) ?? false) {
            throw RealmError(
                .invalidArgument,
                "a token is not of an observer of the realm at '\(realm.path)' that writes")
        }
    }

    /// The commit is done: when this fails, they are told of it.
    func skip(_ realm: Realm, from before: UInt64) {
        guard !tokens.isEmpty, let notifier = realm.notifier else { return }
        do throws(RealmError) {
            try notifier.skip(tokens, from: before)
        } catch {
            realm.tell(
                .notification, .error,
                "'\(realm.path)': observers are told of a commit that they should not hear of: "
                    + error.message)
        }
    }
}

extension Realm {
    /// Commits, and leaves these observers out: what they are told next begins after this version. Those
    /// that were not told of the version before it yet, as a callback is running, hear of both.
    package func commit(
        withoutNotifying tokens: [NotificationToken], realmTokens: [ChangeToken] = []
    ) throws(RealmError) {
        try commit(
            waits: true, silent: SilentObservers(tokens: tokens, realmTokens: realmTokens))
    }
}
