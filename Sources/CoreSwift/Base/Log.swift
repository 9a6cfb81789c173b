// Log messages: categories with a threshold each, and the sink that takes them. Thresholds are
// global; a file keeps the sink that was current when it was opened, so that a sink's owner knows
// when no message can come any more (the last holder is gone).
//
// Whoever has something to say asks `Log.isOn` first: building the text is the expensive part.

import CKernels

/// How important a message is; raw values of `realm_log_level_e`.
package enum LogLevel: UInt32, Comparable, Sendable {
    case all = 0, trace, debug, detail, info, warning, error, fatal, off

    package static func < (a: LogLevel, b: LogLevel) -> Bool { a.rawValue < b.rawValue }
}

/// What a message is about. Names form a tree by their dots; the order is that of the names.
package enum LogCategory: Int, CaseIterable, Sendable {
    case realm, app, sdk
    case storage, notification, object, query, transaction
    case sync, client, changeset, network, reset, session, server

    package var name: StaticString {
        switch self {
        case .realm: return "Realm"
        case .app: return "Realm.App"
        case .sdk: return "Realm.SDK"
        case .storage: return "Realm.Storage"
        case .notification: return "Realm.Storage.Notification"
        case .object: return "Realm.Storage.Object"
        case .query: return "Realm.Storage.Query"
        case .transaction: return "Realm.Storage.Transaction"
        case .sync: return "Realm.Sync"
        case .client: return "Realm.Sync.Client"
        case .changeset: return "Realm.Sync.Client.Changeset"
        case .network: return "Realm.Sync.Client.Network"
        case .reset: return "Realm.Sync.Client.Reset"
        case .session: return "Realm.Sync.Client.Session"
        case .server: return "Realm.Sync.Server"
        }
    }

    package init?(named name: String) {
        guard let found = LogCategory.allCases.first(where: { "\($0.name)" == name }) else {
            return nil
        }
        self = found
    }

    /// Whether this is `ancestor` or below it.
    func isWithin(_ ancestor: LogCategory) -> Bool {
        self == ancestor || "\(name)".hasPrefix("\(ancestor.name).")
    }
}

/// Takes messages, on any thread.
package final class LogSink: Sendable {
    package typealias Receiver = @Sendable (LogCategory, LogLevel, String) -> Void
    private let receive: Receiver

    /// `receive` is dropped when the last file that logs here is closed and the sink replaced.
    package init(_ receive: @escaping Receiver) { self.receive = receive }

    /// Writes "category - text" lines to standard error.
    package static let standardError = LogSink { category, _, text in
        var line = "\(category.name) - \(text)\n"
        line.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) { chars in
                guard let start = chars.baseAddress else { return }
                ck_write_stderr(start, chars.count)
            }
        }
    }

    /// Delivers a message if the threshold of its category lets it through.
    package func log(
        _ category: LogCategory, _ level: LogLevel, _ text: @autoclosure () -> String
    ) {
        if Log.isOn(category, level) { receive(category, level, text()) }
    }
}

package enum Log {
    private static let lock = Lock.forProcess()
    nonisolated(unsafe) private static var sink = LogSink.standardError

    /// The sink that files opened from now on use.
    package static var currentSink: LogSink {
        get { lock.withLock { sink } }
        set {
            // The old sink ends outside the lock: its owner may log.
            let old = lock.withLock { () -> LogSink in
                defer { sink = newValue }
                return sink
            }
            withExtendedLifetime(old) {}
        }
    }

    package static func threshold(of category: LogCategory) -> LogLevel {
        LogLevel(rawValue: UInt32(ck_log_threshold(category.rawValue))) ?? .info
    }

    /// Sets the threshold of `category` and of all below it.
    package static func setThreshold(_ level: LogLevel, of category: LogCategory) {
        for other in LogCategory.allCases where other.isWithin(category) {
            ck_set_log_threshold(other.rawValue, UInt64(level.rawValue))
        }
    }

    /// Whether messages are delivered; none has the level `off`. Costs a load and a comparison.
    @inline(__always)
    package static func isOn(_ category: LogCategory, _ level: LogLevel) -> Bool {
        UInt64(level.rawValue) >= ck_log_threshold(category.rawValue)
    }
}
