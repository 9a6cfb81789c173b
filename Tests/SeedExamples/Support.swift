// What the examples of the guide need around them: a default realm of their own, and time to wait for others.
//
// Each chapter is a file. The code is the guide's, with the changes that docs/SWIFT.md names ("Moving a model
// over"); models stand in an enumeration by chapter, as many have the same name. Chapters follow one another, as
// they share the default configuration.

import Foundation
import RealmSwift
import Testing

@Suite(.serialized) enum Guide {}

/// The models of all chapters are in one program: none is one of those that a realm has whose configuration
/// names no classes.
class Object: RealmSwift.Object {
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Makes a realm in memory with these classes the default one while the block runs.
@discardableResult
func withDefaultRealm<R>(_ types: [ObjectBase.Type], _ body: () throws -> R) throws -> R {
    let old = Realm.Configuration.defaultConfiguration
    defer { Realm.Configuration.defaultConfiguration = old }
    Realm.Configuration.defaultConfiguration = Realm.Configuration(
        inMemoryIdentifier: UUID().uuidString, objectTypes: types)
    return try withExtendedLifetime(Realm()) { try body() }
}

/// The same for blocks that wait.
@MainActor @discardableResult
func withDefaultRealm<R>(
    _ types: [ObjectBase.Type], _ body: @MainActor () async throws -> R
) async throws -> R {
    let old = Realm.Configuration.defaultConfiguration
    defer { Realm.Configuration.defaultConfiguration = old }
    Realm.Configuration.defaultConfiguration = Realm.Configuration(
        inMemoryIdentifier: UUID().uuidString, objectTypes: types)
    let kept = try Realm()
    let result = try await body()
    _ = kept.isEmpty
    return result
}

/// Makes a file in a folder of its own the default realm while the block runs.
@discardableResult
func withDefaultFile<R>(_ types: [ObjectBase.Type], _ body: (URL) throws -> R) throws -> R {
    let old = Realm.Configuration.defaultConfiguration
    let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("realm-guide-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer {
        Realm.Configuration.defaultConfiguration = old
        try? FileManager.default.removeItem(at: folder)
    }
    let url = folder.appendingPathComponent("default.realm")
    Realm.Configuration.defaultConfiguration = Realm.Configuration(fileURL: url, objectTypes: types)
    return try body(url)
}

/// Whether the condition comes true within a minute; the realm follows the others meanwhile.
func comesTrue(_ realm: Realm, _ condition: () -> Bool) -> Bool {
    for _ in 0..<30_000 {
        realm.refresh()
        if condition() { return true }
        usleep(2000)
    }
    return false
}

/// The same while the main run loop goes on.
@MainActor
func comesTrue(_ condition: () -> Bool) async throws -> Bool {
    for _ in 0..<30_000 {
        if condition() { return true }
        try await Task.sleep(nanoseconds: 2_000_000)
    }
    return false
}

// Stand-ins for what the guide has of UIKit.

/// Writes down what it is told.
final class UITableView {
    enum RowAnimation { case automatic }
    var calls: [String] = []

    func reloadData() { calls.append("reload") }
    func beginUpdates() { calls.append("begin") }
    func endUpdates() { calls.append("end") }
    func insertRows(at rows: [IndexPath], with animation: RowAnimation) { note("insert", rows) }
    func deleteRows(at rows: [IndexPath], with animation: RowAnimation) { note("delete", rows) }
    func reloadRows(at rows: [IndexPath], with animation: RowAnimation) { note("reload", rows) }

    private func note(_ verb: String, _ rows: [IndexPath]) {
        if !rows.isEmpty { calls.append("\(verb) \(rows.map { $0[1] })") }
    }
}

class UITableViewController {
    var tableView: UITableView! = UITableView()
    func viewDidLoad() {}
}

extension IndexPath {
    init(row: Int, section: Int) { self.init(indexes: [section, row]) }
}
