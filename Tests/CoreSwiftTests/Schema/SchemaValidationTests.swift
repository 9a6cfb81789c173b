import Testing

@testable import CoreSwift

@Suite struct SchemaValidationTests {
    private func problems(
        _ classes: ClassSchema..., mode: SchemaValidationMode = []
    ) -> [String] { Schema(classes).problems(mode) }

    private let link = PropertySchema("l", .object, linkTarget: "A", flags: .nullable)

    @Test func emptySchemasClassesAndNamesAreAccepted() {
        #expect(problems() == [])
        #expect(problems(ClassSchema("", properties: [])) == [])
    }

    @Test func theErrorListsEveryProblemOnALineOfItsOwn() {
        let schema = Schema([
            ClassSchema("A", properties: [PropertySchema("p", .int), PropertySchema("p", .int)]),
            ClassSchema("B", properties: [PropertySchema("m", .mixed)]),
        ])
        #expect(throws: RealmError.self) { try schema.validate() }
        do { try schema.validate() } catch {
            #expect(error.code == .schemaValidationFailed)
            #expect(error.message.split(separator: "\n").count == 3)
        }
    }

    @Test func classAndPropertyNamesAreUnique() {
        #expect(
            problems(
                ClassSchema("A", properties: []), ClassSchema("A", properties: []),
                ClassSchema("A", properties: [])
            ) == ["class 'A' is declared more than once"])
        let back = PropertySchema(
            "l", .linkingObjects, collection: .list, linkTarget: "A", linkOrigin: "l")
        #expect(
            problems(ClassSchema("A", properties: [link], computedProperties: [back]))
                .contains("property 'A.l' is declared more than once"))
    }

    @Test func publicNamesDifferFromEachOtherAndFromAllNames() {
        let own = PropertySchema("a", .int, publicName: "a")
        let other = PropertySchema("b", .int, publicName: "a")
        #expect(problems(ClassSchema("A", properties: [own])).count == 1)
        #expect(problems(ClassSchema("A", properties: [own, other])).count == 3)
        let fine = [
            PropertySchema("a", .int, publicName: "x"), PropertySchema("b", .int, publicName: "y"),
        ]
        #expect(problems(ClassSchema("A", properties: fine)) == [])
    }

    @Test(arguments: [
        (PropertyType.object, CollectionType.none, true), (.object, .dictionary, true),
        (.object, .list, false), (.object, .set, false), (.mixed, .none, true),
        (.mixed, .list, true), (.mixed, .set, true), (.mixed, .dictionary, true),
    ])
    func linksAndMixedHaveTheirNullability(
        type: PropertyType, collection: CollectionType, nullable: Bool
    ) {
        let target = type == .object ? "A" : ""
        for given in [true, false] {
            let property = PropertySchema(
                "p", type, collection: collection, linkTarget: target,
                flags: given ? .nullable : [])
            let found = problems(ClassSchema("A", properties: [property]))
            #expect(found.isEmpty == (given == nullable))
        }
    }

    @Test func linkingObjectsNeedAnOriginThatLinksBack() {
        func check(_ computed: PropertySchema) -> [String] {
            problems(
                ClassSchema("A", properties: [], computedProperties: [computed]),
                ClassSchema(
                    "B",
                    properties: [
                        PropertySchema("a", .object, linkTarget: "A", flags: .nullable),
                        PropertySchema("b", .object, linkTarget: "B", flags: .nullable),
                        PropertySchema("i", .int),
                    ]))
        }
        func computed(_ origin: String, _ target: String = "B", list: Bool = true)
            -> PropertySchema
        {
            PropertySchema(
                "back", .linkingObjects, collection: list ? .list : .none, linkTarget: target,
                linkOrigin: origin)
        }
        #expect(check(computed("a")) == [])
        #expect(check(computed("")).first?.contains("must name their origin") == true)
        #expect(check(computed("x")).first?.contains("does not exist") == true)
        #expect(check(computed("i")).first?.contains("is not a link") == true)
        #expect(check(computed("b")).first?.contains("not to 'A'") == true)
        #expect(check(computed("a", "C")).first?.contains("not in the schema") == true)
        #expect(check(computed("a", list: false)).first?.contains("collection type list") == true)
        var nullable = computed("a")
        nullable.flags = .nullable
        #expect(check(nullable).first?.contains("cannot be nullable") == true)
    }

    @Test func onlyLinksHaveTargetsAndOrigins() {
        let target = PropertySchema("p", .int, linkTarget: "A")
        let origin = PropertySchema("q", .int, linkOrigin: "p")
        #expect(problems(ClassSchema("A", properties: [target, origin])).count == 2)
        let lost = PropertySchema("l", .object, linkTarget: "Nowhere", flags: .nullable)
        #expect(problems(ClassSchema("A", properties: [lost])).count == 1)
    }

    @Test func storedAndComputedPropertiesStandInTheirOwnLists() {
        let back = PropertySchema(
            "back", .linkingObjects, collection: .list, linkTarget: "A", linkOrigin: "l")
        #expect(problems(ClassSchema("A", properties: [link, back])).count == 1)
        #expect(
            problems(
                ClassSchema(
                    "A", properties: [], computedProperties: [PropertySchema("i", .int)])
            ).count == 1)
    }

    @Test(arguments: [
        PropertyType.int, .bool, .string, .binary, .timestamp, .float, .double, .decimal128,
        .objectId, .uuid,
    ])
    func primaryKeysAndIndexesHaveTheirTypes(type: PropertyType) {
        let key = PropertySchema("k", type, flags: [.primaryKey, .nullable])
        let mayBeKey = [.int, .string, .objectId, .uuid].contains(type)
        #expect(problems(ClassSchema("A", primaryKey: "k", properties: [key])).isEmpty == mayBeKey)
        let index = PropertySchema("k", type, flags: .indexed)
        let mayBeIndexed = [.int, .bool, .string, .timestamp, .objectId, .uuid].contains(type)
        #expect(problems(ClassSchema("A", properties: [index])).isEmpty == mayBeIndexed)
        let list = PropertySchema("k", type, collection: .list, flags: .indexed)
        #expect(problems(ClassSchema("A", properties: [list])).isEmpty == (type == .string))
    }

    @Test func collectionsCannotBePrimaryKeys() {
        let key = PropertySchema("k", .int, collection: .list, flags: .primaryKey)
        #expect(problems(ClassSchema("A", primaryKey: "k", properties: [key])).count == 1)
    }

    @Test func aClassHasOnePrimaryKeyAndItExists() {
        let keys = [
            PropertySchema("a", .int, flags: .primaryKey),
            PropertySchema("b", .int, flags: .primaryKey),
        ]
        #expect(problems(ClassSchema("A", primaryKey: "a", properties: keys)).count == 1)
        #expect(problems(ClassSchema("A", primaryKey: "x", properties: [])).count == 1)
    }

    @Test func embeddedClassesHaveNoKeysAndLiveInNoSets() {
        let key = PropertySchema("k", .int, flags: .primaryKey)
        #expect(
            problems(ClassSchema("E", primaryKey: "k", properties: [key], kind: .embedded)).count
                == 1)
        let set = PropertySchema("s", .object, collection: .set, linkTarget: "E")
        #expect(
            problems(
                ClassSchema("A", properties: [set]),
                ClassSchema("E", properties: [], kind: .embedded)
            ).count == 1)
    }

    @Test func embeddedClassesDoNotContainThemselves() {
        func to(_ name: String) -> PropertySchema {
            PropertySchema("l", .object, linkTarget: name, flags: .nullable)
        }
        let e = ClassSchema("E", properties: [to("F")], kind: .embedded)
        let f = ClassSchema("F", properties: [to("E")], kind: .embedded)
        #expect(problems(e, f).count == 2)
        // Through a top-level class the chain is fine.
        let top = ClassSchema("F", properties: [to("E")])
        #expect(problems(e, top) == [])
        // Nothing about cycles as long as other rules are broken.
        let bad = ClassSchema("G", properties: [PropertySchema("m", .mixed)])
        #expect(problems(e, f, bad).count == 1)
    }

    @Test func orphansAreRejectedOnRequest() {
        let orphan = ClassSchema("E", properties: [], kind: .embedded)
        let owned = ClassSchema("F", properties: [], kind: .embedded)
        let owner = ClassSchema(
            "A",
            properties: [PropertySchema("f", .object, linkTarget: "F", flags: .nullable)])
        #expect(problems(orphan, owned, owner) == [])
        #expect(
            problems(orphan, owned, owner, mode: .rejectEmbeddedOrphans)
                == ["embedded class 'E' is not reachable from any top-level class"])
    }

    @Test func asymmetricClassesNeedSyncAndTakeNoLinks() {
        let id = PropertySchema("_id", .int, flags: .primaryKey)
        let class_ = ClassSchema("A", primaryKey: "_id", properties: [id], kind: .asymmetric)
        #expect(problems(class_).count == 1)
        #expect(problems(class_, mode: .flexibleSync) == [])
        let linking = ClassSchema("B", primaryKey: "_id", properties: [id, link])
        #expect(problems(class_, linking, mode: .partitionSync).count == 1)
    }

    @Test func syncModesDemandAnIdOnAllButEmbeddedClasses() {
        let key = PropertySchema("k", .int, flags: .primaryKey)
        let class_ = ClassSchema("A", primaryKey: "k", properties: [key])
        let embedded = ClassSchema("E", properties: [], kind: .embedded)
        #expect(problems(class_, embedded) == [])
        #expect(problems(class_, embedded, mode: .partitionSync).count == 1)
        #expect(problems(class_, embedded, mode: .flexibleSync).count == 1)
    }

    @Test func namesUpToTheLimitCanBeStored() throws {
        let long = String(repeating: "n", count: 255)
        try Schema([ClassSchema(long, properties: [PropertySchema(long, .int)])]).checkStorable()
        for class_ in [
            ClassSchema(long + "x", properties: []),
            ClassSchema("A", properties: [PropertySchema(long + "x", .int)]),
        ] {
            do {
                try Schema([class_]).checkStorable()
                Issue.record("a name of 256 bytes was accepted")
            } catch { #expect(error.code == .invalidName) }
        }
    }

    @Test func whatOnlyShowsAtCreationHasItsOwnCodes() {
        func code(_ class_: ClassSchema) -> ErrorCode? {
            do {
                try Schema([class_]).validate()
                try Schema([class_]).checkStorable()
                return nil
            } catch { return error.code }
        }
        let unflagged = ClassSchema("A", primaryKey: "k", properties: [PropertySchema("k", .int)])
        #expect(code(unflagged) == .invalidName)
        let text = PropertySchema("t", .int, flags: .fullTextIndexed)
        #expect(code(ClassSchema("A", properties: [text])) == .illegalOperation)
        let fine = PropertySchema("t", .string, flags: .fullTextIndexed)
        #expect(code(ClassSchema("A", properties: [fine])) == nil)
        let unnamed = ClassSchema(
            "A", properties: [PropertySchema("k", .int, flags: .primaryKey)])
        #expect(code(unnamed) == nil)
        #expect(unnamed.primaryKeyProperty == nil)
    }

    /// Few are looked through, many halved.
    @Test(arguments: [1, 16, 17, 300])
    func classesAreFoundByTheirNames(_ count: Int) {
        let names = (0..<count).map { "Class \($0)" } + ["Caf\u{E9}"]
        let schema = Schema(names.map { ClassSchema($0, properties: []) })
        // The last is the same in other bytes: an E and what makes another letter of it.
        for (name, found) in zip(names + ["Cafe\u{301}"], names + ["Caf\u{E9}"]) {
            #expect(schema.class_(named: name)?.name == found)
            #expect(schema.classIndex(called: name).map { schema.classes[$0].name } == found)
        }
        for name in ["", "Class", "Class 0 ", "Cafe", "\u{10FFFF}"] {
            #expect(schema.class_(named: name) == nil)
        }
    }

    @Test(arguments: [0, 16, 40])
    func classesThatComeAreInOrder(_ count: Int) {
        var schema = Schema()
        for number in (0..<count).map({ $0 * 7 % 41 }) {
            schema.insert(ClassSchema("Class \(number)", properties: []))
            schema.change("Class \(number)") { $0.publicName = "shown \(number)" }
        }
        #expect(schema == Schema(schema.classes))
        #expect(schema.classes.allSatisfy { $0.publicName == "shown" + $0.name.dropFirst(5) })
    }
}
