// A list of things to do in a realm file, in the terminal. Run it twice: what one of them changes, the
// other shows at once.
//
//     todo [FILE]             commands are read from standard input; `help` lists them
//     todo FILE add "Milk"    one command, and out
import Dispatch
import Foundation
import RealmSwift

enum Priority: Int, PersistableEnum {
    case low, normal, high
}

class Task: Object {
    @Persisted(primaryKey: true) var id: ObjectId
    @Persisted var title: String
    @Persisted var priority = Priority.normal
    @Persisted(indexed: true) var isDone: Bool
    @Persisted var created = Date()
    @Persisted var tags: MutableSet<String>
}

@MainActor final class App {
    private let realm: Realm
    /// What is shown; `only` narrows it.
    private var tasks: Results<Task>
    private var token: NotificationToken?

    init(_ path: String) throws {
        realm = try Realm(
            configuration: .init(fileURL: URL(fileURLWithPath: path), objectTypes: [Task.self]))
        tasks = Self.sorted(realm.objects(Task.self))
    }

    private static func sorted(_ tasks: Results<Task>) -> Results<Task> {
        tasks.sorted(by: [
            "isDone", SortDescriptor(keyPath: "priority", ascending: false), "created",
        ])
    }

    /// Shows the tasks again whenever they change, whoever changes them.
    func follow() {
        token = tasks.observe { [weak self] change in
            MainActor.assumeIsolated {
                if case .update(_, let deletions, let insertions, let modifications) = change {
                    print(
                        "-- \(insertions.count) new, \(modifications.count) changed, "
                            + "\(deletions.count) gone")
                }
                self?.show()
            }
        }
    }

    func show() {
        for (number, task) in tasks.enumerated() {
            let mark = task.isDone ? "x" : " "
            let urgent = task.priority == .high ? " !" : ""
            let tags = task.tags.sorted().map { " #\($0)" }.joined(separator: "")
            print("\(number + 1). [\(mark)] \(task.title)\(urgent)\(tags)")
        }
        print("\(tasks.where { !$0.isDone }.count) to do")
    }

    /// False: the program ends.
    func run(_ line: String) throws -> Bool {
        let words = line.split(separator: " ", maxSplits: 1).map(String.init)
        let rest = words.count > 1 ? words[1] : ""
        switch words.first {
        case "add":
            try realm.write { realm.add(Task(value: ["title": rest])) }
        case "done":
            try change(rest) { $0.isDone.toggle() }
        case "urgent":
            try change(rest) { $0.priority = $0.priority == .high ? .normal : .high }
        case "tag":
            let parts = rest.split(separator: " ").map(String.init)
            guard parts.count == 2 else { throw Wrong("tag NUMBER WORD") }
            try change(parts[0]) { $0.tags.insert(parts[1]) }
        case "remove":
            try change(rest) { realm.delete($0) }
        case "clean":
            try realm.write { realm.delete(realm.objects(Task.self).where { $0.isDone }) }
        case "try":
            // What would it look like? Nothing is saved: the transaction is rolled back.
            realm.beginWrite()
            defer { if realm.isInWriteTransaction { realm.cancelWrite() } }
            for task in tasks { task.isDone = true }
            show()
            print("-- rolled back")
        case "only":
            let all = realm.objects(Task.self)
            tasks = Self.sorted(
                rest.isEmpty
                    ? all
                    : all.where {
                        $0.title.contains(rest, options: .caseInsensitive) || $0.tags.contains(rest)
                    })
            if token != nil { follow() } else { show() }
        case "list": show()
        case "quit": return false
        case nil: break
        default:
            print(
                "add TITLE, done NUMBER, urgent NUMBER, tag NUMBER WORD, remove NUMBER, clean, "
                    + "try, only WORD, list, quit")
        }
        return true
    }

    private struct Wrong: Error, CustomStringConvertible {
        let description: String
        init(_ usage: String) { description = "usage: \(usage)" }
    }

    private func change(_ number: String, _ body: (Task) -> Void) throws {
        guard let index = Int(number), tasks.indices.contains(index - 1) else {
            throw Wrong("a number from the list, not '\(number)'")
        }
        let task = tasks[index - 1]
        try realm.write { body(task) }
    }
}

let arguments = Array(CommandLine.arguments.dropFirst())
let app = try App(arguments.first ?? "todo.realm")
if arguments.count > 1 {
    do {
        _ = try app.run(arguments.dropFirst().joined(separator: " "))
        app.show()
    } catch {
        print(error)
        exit(1)
    }
    exit(0)
}
app.follow()
Thread.detachNewThread {
    while let line = readLine() {
        DispatchQueue.main.async {
            MainActor.assumeIsolated {
                do {
                    if try !app.run(line) { exit(0) }
                } catch {
                    print(error)
                }
            }
        }
    }
    DispatchQueue.main.async { exit(0) }
}
dispatchMain()
