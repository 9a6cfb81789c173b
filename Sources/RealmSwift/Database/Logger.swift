// Where the engine's messages go, and which of them.

import CoreSwift
import Foundation

/// How important a message is, or how important those are that are let through.
public enum LogLevel: UInt, Sendable, CaseIterable {
    /// None.
    case off
    /// The program cannot go on.
    case fatal
    /// What failed.
    case error
    /// What may be wrong.
    case warn
    /// What is told unless said otherwise.
    case info
    /// Realms that open and close, schemas that change.
    case detail
    /// Transactions that end, queries.
    case debug
    /// Transactions that begin, moves to other versions.
    case trace
    /// All messages.
    case all

    /// The engine counts from the other end.
    var engine: CoreSwift.LogLevel {
        CoreSwift.LogLevel(rawValue: UInt32(8 - rawValue)) ?? .info
    }

    init(_ level: CoreSwift.LogLevel) {
        self = LogLevel(rawValue: UInt(8 - level.rawValue)) ?? .info
    }
}

/// Takes what the engine has to say of opening and closing, transactions and queries.
///
/// ```swift
/// Logger.shared = Logger { level, category, message in print(level, category.rawValue, message) }
/// Logger.setLogLevel(.debug, for: Category.Storage.transaction)
/// ```
///
/// Each category has a level of its own, `.info` at first; a message is told if it is as important as that of
/// its category.
public final class Logger: @unchecked Sendable {
    /// Takes a message, on any thread.
    public typealias LogFunction = @Sendable (_ level: LogLevel, _ message: String) -> Void

    private static let lock = NSLock()
    @exclusivity(unchecked) nonisolated(unsafe) private static var current = Logger(
        sink: CoreSwift.Log.currentSink)

    let sink: LogSink
    /// What it was told to take; nil where the levels of the categories stay as they are. Under `lock`.
    @exclusivity(unchecked) private var ownLevel: LogLevel?

    private init(sink: LogSink) { self.sink = sink }

    /// One that takes messages of all categories down to a level, once it is `shared`.
    public init(level: LogLevel, logFunction: @escaping LogFunction) {
        ownLevel = level
        sink = LogSink { _, level, text in logFunction(LogLevel(level), text) }
    }

    /// One that takes the messages that the levels of the categories let through, once it is `shared`.
    public init(function: @escaping @Sendable (LogLevel, any LogCategory, String) -> Void) {
        sink = LogSink { category, level, text in
            function(LogLevel(level), category.named, text)
        }
    }

    /// One that takes messages of all categories down to a level, once it is `shared`.
    @available(*, deprecated, message: "Use init(function:) and setLogLevel(_:for:)")
    public convenience init(
        level: LogLevel, function: @escaping @Sendable (LogLevel, any LogCategory, String) -> Void
    ) {
        self.init(function: function)
        ownLevel = level
    }

    /// The program's. Until it is set messages go to the standard error output. Realms that are opened from
    /// then on have a new one. One with a level of its own sets that of all categories.
    public static var shared: Logger {
        get { lock.withLock { current } }
        set {
            let level = lock.withLock {
                current = newValue
                return newValue.ownLevel
            }
            CoreSwift.Log.currentSink = newValue.sink
            if let level { CoreSwift.Log.setThreshold(level.engine, of: .realm) }
        }
    }

    /// How important messages have to be. That of the shared logger counts for all realms, also for those that
    /// are open: it is the level of `Category.realm`, and setting it sets those of all categories.
    public var level: LogLevel {
        get {
            Logger.lock.withLock {
                if Logger.current !== self, let ownLevel { return ownLevel }
                return LogLevel(CoreSwift.Log.threshold(of: .realm))
            }
        }
        set {
            let isShared = Logger.lock.withLock {
                ownLevel = newValue
                return Logger.current === self
            }
            if isShared { CoreSwift.Log.setThreshold(newValue.engine, of: .realm) }
        }
    }

    /// Sets how important messages of a category, and of those below it, have to be; of all if none is named. It
    /// counts for all realms, also for those that are open.
    ///
    /// Misuse for a category that is none of `Category`'s.
    public static func setLogLevel(
        _ level: LogLevel, for category: any LogCategory = Category.realm
    ) {
        CoreSwift.Log.setThreshold(level.engine, of: engineCategory(category))
    }

    /// How important messages of a category have to be.
    ///
    /// Misuse for a category that is none of `Category`'s.
    public static func logLevel(for category: any LogCategory) -> LogLevel {
        LogLevel(CoreSwift.Log.threshold(of: engineCategory(category)))
    }

    static func engineCategory(_ category: any LogCategory) -> CoreSwift.LogCategory {
        guard let found = CoreSwift.LogCategory(named: category.rawValue) else {
            misuse("There is no log category '\(category.rawValue)'.")
        }
        return found
    }
}

/// What a message is about: the cases of `Category` and of the types in it.
public protocol LogCategory: Sendable {
    /// The name, with those of the categories above it: `Realm.Storage.Query`.
    var rawValue: String { get }
}

/// The categories of messages, a tree: setting the level of one sets those below it.
///
/// Messages of the engine are in `Storage`. The others are there for programs that name them: nothing here synchronises,
/// so that they stay silent.
public enum Category: String, LogCategory, CaseIterable {
    /// All.
    case realm = "Realm"
    /// Nothing: a name that programs for realm-swift have.
    case sdk = "Realm.SDK"
    /// Nothing: a name that programs for realm-swift have.
    case app = "Realm.App"

    /// What concerns files.
    public enum Storage: String, LogCategory, CaseIterable {
        /// Realms that open and close, schemas, and the categories below.
        case all = "Realm.Storage"
        /// Transactions, and the versions that realms show.
        case transaction = "Realm.Storage.Transaction"
        /// Queries, with what they found.
        case query = "Realm.Storage.Query"
        /// Objects that are made, changed and deleted.
        case object = "Realm.Storage.Object"
        /// What observers are told.
        case notification = "Realm.Storage.Notification"
    }

    /// What concerns synchronising.
    public enum Sync: String, LogCategory, CaseIterable {
        /// Nothing: a name that programs for realm-swift have.
        case all = "Realm.Sync"
        /// Nothing: a name that programs for realm-swift have.
        case server = "Realm.Sync.Server"

        /// Parts of what a client would say.
        public enum Client: String, LogCategory, CaseIterable {
            /// Nothing: a name that programs for realm-swift have.
            case all = "Realm.Sync.Client"
            /// Nothing: a name that programs for realm-swift have.
            case session = "Realm.Sync.Client.Session"
            /// Nothing: a name that programs for realm-swift have.
            case changeset = "Realm.Sync.Client.Changeset"
            /// Nothing: a name that programs for realm-swift have.
            case network = "Realm.Sync.Client.Network"
            /// Nothing: a name that programs for realm-swift have.
            case reset = "Realm.Sync.Client.Reset"
        }
    }
}

extension CoreSwift.LogCategory {
    /// The category of the same name here.
    fileprivate var named: any LogCategory {
        let all: [[any LogCategory]] = [
            Category.Storage.allCases, Category.Sync.allCases, Category.Sync.Client.allCases,
        ]
        return all.joined().first { $0.rawValue == "\(name)" }
            ?? Category(rawValue: "\(name)") ?? .realm
    }
}
