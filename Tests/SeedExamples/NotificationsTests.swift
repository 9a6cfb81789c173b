// The guide's chapter on notifications: of realms, of collections for a table view, of objects, and writes that
// the interface makes itself.

import Foundation
import RealmSwift
import Testing

enum Notifications {
    class Dog: Object {
        @Persisted var name = ""
        @Persisted var age = 0
    }
    class Person: Object, LegacyDeclarations {
        @Persisted var name = ""
        @Persisted var age = 0
        let dogs = List<Dog>()
    }
    class StepCounter: Object {
        @Persisted var steps = 0
    }
    class Item: Object {
        @Persisted var text = ""
    }
    class Page: Object, LegacyDeclarations {
        let items = List<Item>()
    }

    class ViewController: UITableViewController {
        var notificationToken: NotificationToken? = nil

        override func viewDidLoad() {
            super.viewDidLoad()
            let realm = try! Realm()
            let results = realm.objects(Person.self).filter("age > 5")

            notificationToken = results.observe { [weak self] (changes: RealmCollectionChange) in
                guard let tableView = self?.tableView else { return }
                switch changes {
                case .initial:
                    tableView.reloadData()
                case .update(_, let deletions, let insertions, let modifications):
                    tableView.beginUpdates()
                    tableView.insertRows(
                        at: insertions.map({ IndexPath(row: $0, section: 0) }),
                        with: .automatic)
                    tableView.deleteRows(
                        at: deletions.map({ IndexPath(row: $0, section: 0) }),
                        with: .automatic)
                    tableView.reloadRows(
                        at: modifications.map({ IndexPath(row: $0, section: 0) }),
                        with: .automatic)
                    tableView.endUpdates()
                case .error(let error):
                    fatalError("\(error)")
                }
            }
        }

        deinit {
            notificationToken?.invalidate()
        }
    }
}

extension Guide {
    @MainActor @Suite struct NotificationsTests {
        typealias Person = Notifications.Person
        typealias Dog = Notifications.Dog
        typealias StepCounter = Notifications.StepCounter
        typealias Item = Notifications.Item

        @Test func realmsTell() async throws {
            try await withDefaultRealm([Dog.self]) {
                let realm = try Realm()
                var updates = 0
                let token = realm.observe { notification, realm in
                    updates += 1
                }
                try realm.write { realm.add(Dog()) }
                #expect(try await comesTrue { updates > 0 })

                token.invalidate()
                let before = updates
                try realm.write { realm.add(Dog()) }
                try await Task.sleep(nanoseconds: 20_000_000)
                #expect(updates == before)
            }
        }

        @Test func aTableViewFollowsResults() async throws {
            try await withDefaultRealm([Person.self, Dog.self]) {
                let realm = try Realm()
                let controller = Notifications.ViewController()
                controller.viewDidLoad()
                let table = controller.tableView!
                #expect(try await comesTrue { table.calls == ["reload"] })

                let jane = Person(value: ["Jane", 30])
                try realm.write { realm.add([jane, Person(value: ["child", 4])]) }
                #expect(try await comesTrue { table.calls.count == 4 })
                #expect(table.calls.dropFirst() == ["begin", "insert [0]", "end"])

                // Each of the three changes that the guide names modifies the person.
                let dog = Dog(value: ["Rex", 3])
                for change in [
                    { jane.name = "Jane Doe" }, { jane.dogs.append(dog) }, { dog.age = 4 },
                ] {
                    table.calls = []
                    try realm.write { change() }
                    #expect(try await comesTrue { table.calls.count == 3 })
                    #expect(table.calls == ["begin", "reload [0]", "end"])
                }

                table.calls = []
                try realm.write { realm.delete(jane) }
                #expect(try await comesTrue { table.calls.count == 3 })
                #expect(table.calls == ["begin", "delete [0]", "end"])
            }
        }

        @Test func objectsTell() async throws {
            try await withDefaultRealm([StepCounter.self]) {
                var lines: [String] = []
                func print(_ text: String) { lines.append(text) }

                let stepCounter = StepCounter()
                let realm = try! Realm()
                try! realm.write {
                    realm.add(stepCounter)
                }
                var token: NotificationToken?
                token = stepCounter.observe { change in
                    switch change {
                    case .change(_, let properties):
                        for property in properties {
                            if property.name == "steps" && property.newValue as! Int > 1000 {
                                print("Congratulations, you've exceeded 1000 steps.")
                                token = nil
                            }
                        }
                    case .error(let error):
                        print("An error occurred: \(error)")
                    case .deleted:
                        print("The object was deleted.")
                    }
                }
                try realm.write { stepCounter.steps = 1001 }
                #expect(try await comesTrue { !lines.isEmpty })
                #expect(lines == ["Congratulations, you've exceeded 1000 steps."])
                #expect(token == nil)

                lines = []
                token = stepCounter.observe { change in
                    if case .deleted = change { print("The object was deleted.") }
                }
                try realm.write { realm.delete(stepCounter) }
                #expect(try await comesTrue { lines == ["The object was deleted."] })
                token?.invalidate()
            }
        }

        @Test func writesOfTheInterface() async throws {
            try await withDefaultRealm([Item.self, Notifications.Page.self]) {
                let realm = try Realm()
                let page = Notifications.Page()
                try realm.write { realm.add(page) }
                let collection = page.items
                let tableView = UITableView()
                let token = collection.observe { changes in
                    switch changes {
                    case .initial:
                        tableView.reloadData()
                    case .update(_, let deletions, let insertions, let modifications):
                        tableView.beginUpdates()
                        tableView.insertRows(
                            at: insertions.map({ IndexPath(row: $0, section: 0) }),
                            with: .automatic)
                        tableView.deleteRows(
                            at: deletions.map({ IndexPath(row: $0, section: 0) }),
                            with: .automatic)
                        tableView.reloadRows(
                            at: modifications.map({ IndexPath(row: $0, section: 0) }),
                            with: .automatic)
                        tableView.endUpdates()
                    case .error(let error):
                        Issue.record(error)
                        ()
                    }
                }

                func insertItem() throws {
                    collection.realm!.beginWrite()
                    collection.insert(Item(), at: 0)
                    tableView.insertRows(at: [IndexPath(row: 0, section: 0)], with: .automatic)
                    try collection.realm!.commitWrite(withoutNotifying: [token])
                }

                #expect(try await comesTrue { tableView.calls == ["reload"] })
                tableView.calls = []
                try insertItem()
                try await Task.sleep(nanoseconds: 20_000_000)
                #expect(tableView.calls == ["insert [0]"])

                tableView.calls = []
                try realm.write { collection.append(Item()) }
                #expect(try await comesTrue { tableView.calls.count == 3 })
                #expect(tableView.calls == ["begin", "insert [1]", "end"])
                token.invalidate()
            }
        }
    }
}
