// Logging: thresholds by category and the process-wide sink.

import CRealm
import CoreSwift

/// Has log messages of files opened from now on go to `callback`; `nil` goes back to lines on
/// standard error. Files that are open keep the receiver they have. The callback may run on any
/// thread; `userdata` is freed when another receiver is set and no open file uses this one.
///
/// What is told: "Realm.Storage" at RLM_LOG_LEVEL_DETAIL realms opened and closed and schemas
/// changed, at RLM_LOG_LEVEL_WARNING what failed and could be done without;
/// "Realm.Storage.Transaction" at RLM_LOG_LEVEL_DEBUG commits and rollbacks, at RLM_LOG_LEVEL_TRACE
/// the other steps of transactions; "Realm.Storage.Query" at RLM_LOG_LEVEL_DEBUG queries executed. The
/// wording may change.
@c @implementation
public func realm_set_log_callback(
    _ callback: realm_log_func_t?, _ userdata: UnsafeMutableRawPointer?,
    _ userdata_free: realm_free_userdata_func_t?
) {
    let userdata = Userdata(userdata, userdata_free)
    guard let callback else {
        Log.currentSink = .standardError
        return
    }
    // The callback is for any thread; the userdata ends with the last file that logs here.
    nonisolated(unsafe) let function = callback
    Log.currentSink = LogSink { category, level, text in
        text.withCString { message in
            function(
                userdata.pointer, category.name.cString,
                realm_log_level_e(rawValue: level.rawValue), message)
        }
    }
}

/// Sets the threshold of every category. The default is RLM_LOG_LEVEL_INFO.
@c @implementation
public func realm_set_log_level(_ level: realm_log_level_e) {
    guard let level = LogLevel(rawValue: level.rawValue) else { return }
    Log.setThreshold(level, of: .realm)
}

/// Sets the threshold of a category and of those below it; returns the one it had. An unknown
/// name changes nothing and returns RLM_LOG_LEVEL_INFO.
@c @implementation
public func realm_set_log_level_category(
    _ category: UnsafePointer<CChar>?, _ level: realm_log_level_e
) -> realm_log_level_e {
    guard let category = logCategory(category) else { return RLM_LOG_LEVEL_INFO }
    let old = Log.threshold(of: category)
    if let level = LogLevel(rawValue: level.rawValue) { Log.setThreshold(level, of: category) }
    return realm_log_level_e(rawValue: old.rawValue)
}

/// The threshold of a category; RLM_LOG_LEVEL_INFO for an unknown name.
@c @implementation
public func realm_get_log_level_category(_ category: UnsafePointer<CChar>?) -> realm_log_level_e {
    guard let category = logCategory(category) else { return RLM_LOG_LEVEL_INFO }
    return realm_log_level_e(rawValue: Log.threshold(of: category).rawValue)
}

/// The number of categories when `num_values` is 0; else writes that many of their names, or all
/// if there are fewer, and returns how many. The names live for ever.
@c @implementation
public func realm_get_category_names(
    _ num_values: Int, _ out_values: UnsafeMutablePointer<UnsafePointer<CChar>?>?
) -> Int {
    let all = LogCategory.allCases
    guard num_values != 0, let out_values else { return all.count }
    // A count above Int.max arrives negative; it means "all" too.
    let count = num_values < 0 ? all.count : min(num_values, all.count)
    for i in 0..<count { out_values[i] = all[i].name.cString }
    return count
}

private func logCategory(_ name: UnsafePointer<CChar>?) -> LogCategory? {
    name.flatMap { String(validatingCString: $0) }.flatMap { LogCategory(named: $0) }
}
