// The guide's chapters on encryption, threads, JSON and testing.

import Foundation
@_spi(RealmSwiftTesting) import RealmSwift
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
        let persons = try! Realm().objects(Person.self)
    }
    class LazySwiftType {
        lazy var persons = try! Realm().objects(Person.self)
    }
    class Reading: Object {
        @Persisted var celsius: Float
        @Persisted var taken: Date
        @Persisted var raw: Data
        @Persisted var place: Place?
        @Persisted var tags: List<String>
    }
    class Place: Object {
        @Persisted(primaryKey: true) var name: String
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

                let late = ThreadSafeReference(to: person)
                try realm.write { realm.delete(person) }
                #expect(realm.resolve(late) == nil)
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
                #expect(Threads.LazySwiftType().persons.count == 200)
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

        /// What the guide lists behind the example.
        @Test func whatJSONMustBeLike() throws {
            typealias Reading = Threads.Reading
            try withDefaultRealm([Reading.self, Threads.Place.self]) {
                let realm = try Realm()
                func object(_ text: String) throws -> [String: Any] {
                    let read = try JSONSerialization.jsonObject(with: Data(text.utf8))
                    return try #require(read as? [String: Any])
                }
                // Nested objects and arrays become links and lists, unknown names are ignored.
                var json = try object(
                    """
                    {"celsius": 20.5, "place": {"name": "Oslo"}, "tags": ["a", "b"], "nobody": 7}
                    """)
                // Dates and data are no texts: they are converted first.
                json["taken"] = Date(timeIntervalSince1970: 5)
                json["raw"] = Data([1])
                try realm.write { realm.create(Reading.self, value: json) }
                let reading = try #require(realm.objects(Reading.self).first)
                #expect(reading.celsius == 20.5 && reading.place?.name == "Oslo")
                #expect(Array(reading.tags) == ["a", "b"] && reading.raw == Data([1]))
                #expect(reading.taken == Date(timeIntervalSince1970: 5))

                realm.beginWrite()
                for (text, end) in [
                    (#"{"taken": "2020-01-01"}"#, "'Reading.taken'."),
                    (#"{"raw": "AQ=="}"#, "'Reading.raw'."),
                    (#"{"celsius": null}"#, "Must provide a non-nil value."),
                ] {
                    let json = try object(text)
                    let misuse = misuseText { realm.create(Reading.self, value: json) }
                    #expect(misuse?.contains(end) == true, "\(misuse ?? "")")
                }
                #expect(
                    misuseText { realm.dynamicCreate("Place", value: [:] as [String: Any]) }?
                        .contains("'Place.name'") == true)
                realm.cancelWrite()
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
