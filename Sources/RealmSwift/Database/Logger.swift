// Where the engine's messages go.

import CoreSwift
import Foundation

/// How important a message is, or how important those are that are let through.
public enum LogLevel: UInt, Sendable, CaseIterable {
    /// None.
    case off
    /// The program cannot go on.
    case fatal
    case error
    case warn
    /// What is told unless said otherwise.
    case info
    /// Realms that open and close, schemas that change.
    case detail
    /// Transactions that end, queries.
    case debug
    /// Transactions that begin, moves to other versions.
    case trace
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
/// Logger.shared.level = .debug
/// Logger.shared = Logger(level: .detail) { level, message in print(level, message) }
/// ```
public final class Logger: @unchecked Sendable {
    /// Takes a message, on any thread.
    public typealias LogFunction = @Sendable (_ level: LogLevel, _ message: String) -> Void

    private static let lock = NSLock()
    @exclusivity(unchecked) nonisolated(unsafe) private static var current = Logger(
        sink: CoreSwift.Log.currentSink)

    let sink: LogSink
    /// Under `lock`.
    @exclusivity(unchecked) private var ownLevel = LogLevel.info

    private init(sink: LogSink) { self.sink = sink }

    /// One that takes messages down to a level, once it is `shared`.
    public init(level: LogLevel, logFunction: @escaping LogFunction) {
        ownLevel = level
        sink = LogSink { _, level, text in logFunction(LogLevel(level), text) }
    }

    /// The program's. Until it is set messages go to the standard error output. Realms that are opened from
    /// then on have a new one.
    public static var shared: Logger {
        get { lock.withLock { current } }
        set {
            let level = lock.withLock {
                current = newValue
                return newValue.ownLevel
            }
            CoreSwift.Log.currentSink = newValue.sink
            CoreSwift.Log.setThreshold(level.engine, of: .realm)
        }
    }

    /// How important messages have to be. That of the shared logger counts for all realms, also for those that
    /// are open.
    public var level: LogLevel {
        get {
            Logger.lock.withLock {
                Logger.current === self
                    ? LogLevel(CoreSwift.Log.threshold(of: .realm)) : ownLevel
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
}
