// Tokens: who observes holds one.

import CoreSwift
import Foundation

/// Keeps an observation going: it ends at `invalidate()`, or with the last reference to the token.
public final class NotificationToken: @unchecked Sendable {
    private let lock = NSLock()
    // Under `lock`.
    private var isEnded = false
    private var engineToken: EngineToken?
    private var changeToken: ChangeToken?
    /// What is observed has to stay as long as the observation.
    private var kept: AnyObject?
    private var session: ObjectIdentifier?

    /// A token that observes nothing yet, and may be ended.
    public init() {}

    init(_ change: ChangeToken, _ session: _RealmSession) {
        changeToken = change
        self.session = ObjectIdentifier(session)
    }

    /// Takes over an observation that was begun elsewhere; ends it where the token has ended.
    func take(_ token: EngineToken, keeping kept: AnyObject, _ session: _RealmSession) {
        let isLate = lock.withLock {
            if isEnded { return true }
            engineToken = token
            self.kept = kept
            self.session = ObjectIdentifier(session)
            return false
        }
        if isLate { token.invalidate() }
    }

    /// Ends the observation: the block is not called any more.
    public func invalidate() {
        let ended = lock.withLock { () -> (EngineToken?, ChangeToken?, AnyObject?) in
            defer { (engineToken, changeToken, kept, isEnded) = (nil, nil, nil, true) }
            return (engineToken, changeToken, kept)
        }
        ended.0?.invalidate()
        ended.1?.invalidate()
    }

    deinit { invalidate() }

    /// For commits that this observer is not told of.
    func engineTokens(of writer: _RealmSession) throws -> [EngineToken] {
        let (tokens, isOther) = lock.withLock {
            let isHeld = engineToken != nil || changeToken != nil
            return (
                engineToken.map { [$0] } ?? [], isHeld && session != ObjectIdentifier(writer)
            )
        }
        // Not under the lock: a handler of misuse may end the token.
        if isOther {
            try refuse(
                "Incorrect Realm: only notifications for the Realm being modified can be skipped.")
        }
        return tokens
    }

    var realmTokens: [ChangeToken] { lock.withLock { changeToken.map { [$0] } ?? [] } }
}

extension NotificationToken: Hashable {
    /// Whether both are the same token.
    public static func == (a: NotificationToken, b: NotificationToken) -> Bool { a === b }
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
