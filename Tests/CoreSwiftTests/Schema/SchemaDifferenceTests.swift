import Testing

@testable import CoreSwift

@Suite struct SchemaDifferenceTests {
    private let p = PropertySchema("p", .int)

    /// Differences of two classes named "A" with these properties, as sentences.
    private func sentences(
        _ old: [PropertySchema], _ new: [PropertySchema], key oldKey: String = "",
        to newKey: String = ""
    ) -> [String] {
        Schema([ClassSchema("A", primaryKey: oldKey, properties: old)])
            .differences(to: Schema([ClassSchema("A", primaryKey: newKey, properties: new)]))
            .map(\.description)
    }

    @Test func equalSchemasDoNotDiffer() {
        #expect(sentences([p], [p]) == [])
    }

    @Test func publicNamesKeysOrderAndComputedPropertiesDoNotCount() {
        let q = PropertySchema("q", .int, publicName: "Q", key: PropertyKey(rawValue: 4))
        #expect(sentences([p, PropertySchema("q", .int)], [q, p]) == [])
        let back = PropertySchema(
            "back", .linkingObjects, collection: .list, linkTarget: "A", linkOrigin: "l")
        let with = Schema([ClassSchema("A", properties: [p], computedProperties: [back])])
        #expect(with.differences(to: Schema([ClassSchema("A", properties: [p])])) == [])
    }

    @Test func classesAreAddedRemovedAndChangeTheirKind() {
        let old = Schema([
            ClassSchema("A", properties: []), ClassSchema("B", properties: []),
        ])
        let new = Schema([
            ClassSchema("B", properties: [], kind: .embedded), ClassSchema("C", properties: []),
        ])
        #expect(
            old.differences(to: new).map(\.description) == [
                "class 'A' has been removed",
                "class 'B' has been changed from top-level to embedded",
                "class 'C' has been added",
            ])
    }

    @Test func propertiesAreAddedAndRemoved() {
        #expect(
            sentences([p], [PropertySchema("q", .int)]) == [
                "property 'A.p' has been removed", "property 'A.q' has been added",
            ])
    }

    @Test func aChangedTypeIsOneDifference() {
        let changes: [(PropertySchema, String)] = [
            (PropertySchema("p", .string, flags: [.nullable, .indexed]), "string?"),
            (PropertySchema("p", .int, collection: .list), "list<int>"),
        ]
        for (new, name) in changes {
            #expect(
                sentences([p], [new])
                    == ["property 'A.p' has been changed from int to \(name)"])
        }
        #expect(
            sentences(
                [PropertySchema("p", .object, linkTarget: "A", flags: .nullable)],
                [PropertySchema("p", .object, linkTarget: "B", flags: .nullable)])
                == ["property 'A.p' has been changed from A? to B?"])
    }

    @Test func nullabilityAndIndexesDifferByThemselves() {
        let nullable = PropertySchema("p", .string, flags: .nullable)
        let indexed = PropertySchema("p", .string, flags: .indexed)
        let fullText = PropertySchema("p", .string, flags: .fullTextIndexed)
        #expect(
            sentences([nullable], [indexed]) == [
                "property 'A.p' has been made required", "property 'A.p' has been made indexed",
            ])
        #expect(
            sentences([indexed], [nullable]) == [
                "property 'A.p' has been made optional", "property 'A.p' has been made unindexed",
            ])
        #expect(
            sentences([fullText], [indexed]) == [
                "property 'A.p' has been made indexed",
                "property 'A.p' has lost its full-text index",
            ])
    }

    @Test func aPrimaryKeyIsItsOwnIndex() {
        let key = PropertySchema("p", .int, flags: .primaryKey)
        let indexedKey = PropertySchema("p", .int, flags: [.primaryKey, .indexed])
        #expect(sentences([key], [indexedKey], key: "p", to: "p") == [])
        #expect(sentences([p], [indexedKey], to: "p") == ["primary key 'A.p' has been added"])
        #expect(sentences([key], [p], key: "p") == ["primary key 'A.p' has been removed"])
    }

    @Test func onlyIndexDifferencesAreIndexOnly() {
        let a = SchemaDifference.indexAdded(className: "A", p)
        let b = SchemaDifference.propertyAdded(className: "A", p)
        #expect(a.isIndexOnly)
        #expect(!b.isIndexOnly)
    }

    @Test func sameDescriptionIgnoresPublicNamesKeysAndRedundantIndexes() {
        func schema(_ properties: PropertySchema..., key: String = "") -> Schema {
            Schema([ClassSchema("A", primaryKey: key, properties: properties)])
        }
        let q = PropertySchema("q", .int)
        #expect(schema(p, q).describesSame(as: schema(p, q)))
        #expect(!schema(p, q).describesSame(as: schema(q, p)))
        #expect(!schema(p).describesSame(as: schema(p, q)))
        #expect(
            schema(p).describesSame(
                as: schema(
                    PropertySchema("p", .int, publicName: "P", key: PropertyKey(rawValue: 1)))))
        #expect(
            schema(PropertySchema("p", .int, flags: .primaryKey), key: "p").describesSame(
                as: schema(
                    PropertySchema("p", .int, flags: [.primaryKey, .indexed]), key: "p")))
        #expect(
            !schema(p).describesSame(as: schema(PropertySchema("p", .int, flags: .indexed))))
    }
}
