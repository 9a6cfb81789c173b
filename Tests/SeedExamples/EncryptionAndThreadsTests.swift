// The guide's chapters on encryption, threads, JSON and testing.

import Foundation
import RealmSwift
import Testing

enum Threads {
    class Dog: Object {
        @Persisted var name = ""
    }
    class Person: Object {
        @Persisted var name = ""
        @Persisted var birthdate = Date(timeIntervalSince1970: 1)

        convenience init(name: String) {
            self.init()
            self.name = name
        }
    }
    class City: Object {
        @Persisted var name = ""
        @Persisted(primaryKey: true) var cityId = 0
    }
    class User: Object {
        @Persisted(primaryKey: true) var email = ""
    }
    class SomeSwiftType {
        lazy var persons = try! Realm().objects(Person.self)
    }
}

extension Guide {
    @Suite struct EncryptionAndThreadsTests {
        typealias Dog = Threads.Dog
        typealias Person = Threads.Person
        typealias City = Threads.City
        typealias User = Threads.User

        @Test func encryption() throws {
            try withDefaultFile([Dog.self]) { url in
                let key = Realm.generateEncryptionKey()

                let config = Realm.Configuration(
                    fileURL: url, encryptionKey: key, objectTypes: [Dog.self])
                do {
                    let realm = try Realm(configuration: config)
                    try realm.write { realm.create(Dog.self, value: ["Fido"]) }
                    let dogs = realm.objects(Dog.self).filter("name contains 'Fido'")
                    #expect(dogs.count == 1)
                } catch let error as NSError {
                    Issue.record("Error opening realm: \(error)")
                }

                var other = config
                other.encryptionKey = Realm.generateEncryptionKey()
                var refused: NSError?
                do {
                    _ = try Realm(configuration: other)
                } catch let error as NSError {
                    refused = error
                }
                #expect(refused != nil)
                let bytes = try Data(contentsOf: url)
                #expect(bytes.range(of: Data("Fido".utf8)) == nil)
                #expect(try Realm(configuration: config).objects(Dog.self).count == 1)
            }
        }

        @Test func references() throws {
            try withDefaultRealm([Person.self]) {
                let realm = try Realm()
                let person = Person(name: "Jane")
                try! realm.write {
                    realm.add(person)
                }
                let personRef = ThreadSafeReference(to: person)
                DispatchQueue(label: "background").async {
                    autoreleasepool {
                        let realm = try! Realm()
                        guard let person = realm.resolve(personRef) else {
                            return
                        }
                        try! realm.write {
                            person.name = "Jane Doe"
                        }
                    }
                }
                #expect(comesTrue(realm) { person.name == "Jane Doe" })
            }
        }

        /// The guide writes a thousand times a thousand.
        @Test func manyObjectsInTheBackground() throws {
            try withDefaultRealm([Person.self]) {
                DispatchQueue(label: "background").async {
                    autoreleasepool {
                        let realm = try! Realm()

                        for idx1 in 0..<10 {
                            realm.beginWrite()

                            for idx2 in 0..<20 {
                                realm.create(
                                    Person.self,
                                    value: [
                                        "name": "\(idx1)",
                                        "birthdate": Date(
                                            timeIntervalSince1970: TimeInterval(idx2)),
                                    ])
                            }

                            try! realm.commitWrite()
                        }
                    }
                }
                let realm = try Realm()
                let all = realm.objects(Person.self)
                #expect(comesTrue(realm) { all.count == 200 })
                #expect(all.filter("name == '7'").count == 20)
                #expect(all.max(ofProperty: "birthdate") == Date(timeIntervalSince1970: 19))
                #expect(Threads.SomeSwiftType().persons.count == 200)
            }
        }

        @Test func json() throws {
            try withDefaultRealm([City.self]) {
                let data = "{\"name\": \"San Francisco\", \"cityId\": 123}".data(using: .utf8)!
                let realm = try! Realm()

                for _ in 0..<2 {
                    try! realm.write {
                        let json = try! JSONSerialization.jsonObject(with: data, options: [])
                        realm.create(City.self, value: json, update: true)
                    }
                }
                #expect(realm.objects(City.self).count == 1)
                #expect(
                    realm.object(ofType: City.self, forPrimaryKey: 123)?.name == "San Francisco")
            }
        }

        @Test func aRealmForEachTest() throws {
            try withDefaultRealm([User.self]) {
                let name = "theTestsName"
                Realm.Configuration.defaultConfiguration.inMemoryIdentifier = name
                let realm = try Realm()
                #expect(realm.isEmpty)
                #expect(realm.configuration.inMemoryIdentifier == name)
                #expect(realm.configuration.fileURL == nil)
            }
        }

        @Test func injectingRealms() throws {
            func createOrUpdateUser(in realm: Realm, with data: Data) {
                let object = try! JSONSerialization.jsonObject(with: data) as! [String: String]
                try! realm.write {
                    realm.create(User.self, value: object, update: true)
                }
            }
            try withDefaultFile([User.self]) { testRealmURL in
                let config = Realm.Configuration(fileURL: testRealmURL, objectTypes: [User.self])
                let testRealm = try! Realm(configuration: config)
                let jsonData = "{\"email\": \"help@realm.io\"}".data(using: .utf8)!
                createOrUpdateUser(in: testRealm, with: jsonData)
                #expect(testRealm.objects(User.self).first!.email == "help@realm.io")
            }
        }
    }
}
