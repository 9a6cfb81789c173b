// The rules a schema must obey before it may be used for a file. All broken rules are reported in
// one error, one per line, so that a program is corrected in one go.
//
// Two sets of rules exist: `validate` holds those that a program can ask for without a file;
// `checkStorable` holds those that show only when classes are created (name lengths, full-text
// indexes). Called when a realm is opened, when its schema is updated, and by the C ABI.

/// What to demand besides the basic rules; raw values of `realm_schema_validation_mode_e`.
package struct SchemaValidationMode: OptionSet, Sendable {
    package let rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }
    /// For partition-based synchronisation: every class but embedded ones has a primary key `_id`.
    package static let partitionSync = SchemaValidationMode(rawValue: 1)
    /// Every embedded class is reachable by links from some top-level class.
    package static let rejectEmbeddedOrphans = SchemaValidationMode(rawValue: 2)
    /// For flexible synchronisation: as `partitionSync`.
    package static let flexibleSync = SchemaValidationMode(rawValue: 4)

    var isSync: Bool { !isDisjoint(with: [.partitionSync, .flexibleSync]) }
}

extension Schema {
    /// Class and property names up to this many bytes can be stored.
    package static let nameBytesMax = 255

    /// Throws `.schemaValidationFailed` with all broken rules, one per line.
    package func validate(_ mode: SchemaValidationMode = []) throws(RealmError) {
        let problems = problems(mode)
        guard !problems.isEmpty else { return }
        let list = problems.map { "- " + $0 }.joined(separator: "\n")
        throw RealmError(
            .schemaValidationFailed, "schema validation found these problems:\n\(list)")
    }

    /// Every broken rule in the order of classes and properties; empty when the schema is valid.
    func problems(_ mode: SchemaValidationMode) -> [String] {
        var found = SchemaProblems(schema: self, mode: mode)
        found.checkClassNames()
        for class_ in classes { found.check(class_) }
        // Walking links makes sense only when they lead somewhere.
        guard found.problems.isEmpty else { return found.problems }
        found.checkEmbeddedCycles()
        if mode.contains(.rejectEmbeddedOrphans) { found.checkEmbeddedOrphans() }
        return found.problems
    }

    /// Names of embedded classes that no links lead to from a top-level class.
    var embeddedOrphans: [String] {
        let reached = embeddedClasses(
            from: classes.filter { $0.kind != .embedded }.flatMap(\.linkTargets))
        return classes.filter { $0.kind == .embedded && !reached.contains($0.name) }.map(\.name)
    }

    /// Names of embedded classes among these, and of all that links lead to from them through embedded classes only.
    fileprivate func embeddedClasses(from names: [String]) -> Set<String> {
        var reached = Set<String>()
        var waiting = names
        while let name = waiting.popLast() {
            guard let next = class_(named: name), next.kind == .embedded,
                reached.insert(name).inserted
            else { continue }
            waiting += next.linkTargets
        }
        return reached
    }

    /// Rules that hold only for classes about to be created in a file: `.invalidName` for names
    /// that are too long or a primary key named but not flagged, `.illegalOperation` for a
    /// full-text index on anything but a single string.
    package func checkStorable() throws(RealmError) {
        for class_ in classes { try class_.checkStorable() }
    }
}

extension ClassSchema {
    func checkStorable() throws(RealmError) {
        try checkLength(name, of: "class '\(name)'")
        for property in properties {
            try checkLength(property.name, of: "property '\(name).\(property.name)'")
            if property.flags.contains(.fullTextIndexed),
                property.type != .string || property.collection != .none
            {
                throw RealmError(
                    .illegalOperation,
                    "property '\(name).\(property.name)' of type \(property.typeDescription): "
                        + "only a single string can have a full-text index")
            }
            if property.flags.contains(.fullTextUnicode), property.wordRules == nil {
                throw RealmError(
                    .illegalOperation,
                    "property '\(name).\(property.name)' asks for Unicode words, but not for a "
                        + "full-text index")
            }
        }
        if !primaryKey.isEmpty, primaryKeyProperty == nil, property(named: primaryKey) != nil {
            throw RealmError(
                .invalidName,
                "class '\(name)' names '\(primaryKey)' as its primary key, but the property "
                    + "does not carry the primary key flag")
        }
    }

    private func checkLength(
        _ text: String, of subject: @autoclosure () -> String
    ) throws(RealmError) {
        let count = text.utf8.count
        guard count <= Schema.nameBytesMax else {
            throw RealmError(
                .invalidName,
                "\(subject()): the name has \(count) bytes, the limit is \(Schema.nameBytesMax)")
        }
    }
}

/// What a problem speaks of; its text is made for the problem alone.
private struct PropertySubject: CustomStringConvertible {
    private let owner: String
    private let name: String

    init(_ owner: ClassSchema, _ property: PropertySchema) {
        self.owner = owner.name
        name = property.name
    }

    var description: String { "property '\(owner).\(name)'" }
}

/// Collects broken rules while walking a schema.
private struct SchemaProblems {
    let schema: Schema
    let mode: SchemaValidationMode
    var problems: [String] = []

    private var classes: [ClassSchema] { schema.classes }

    private mutating func report(_ problem: String) { problems.append(problem) }

    // MARK: Classes

    mutating func checkClassNames() {
        // Classes are sorted, so equal names are neighbours; one report for each repeated name.
        var reported: String?
        for (a, b) in zip(classes, classes.dropFirst()) where a.name == b.name {
            if reported != a.name { report("class '\(a.name)' is declared more than once") }
            reported = a.name
        }
        var seen: Set<String> = []
        for class_ in classes where !class_.publicName.isEmpty {
            let shown = "class '\(class_.name)': the public name '\(class_.publicName)'"
            if schema.class_(named: class_.publicName) != nil, class_.publicName != class_.name {
                report("\(shown) is also the name of a class")
            }
            if !seen.insert(class_.publicName).inserted {
                report("\(shown) is used more than once")
            }
        }
    }

    mutating func check(_ class_: ClassSchema) {
        checkKind(class_)
        checkPropertyNames(class_)
        checkPublicNames(class_)
        checkPrimaryKey(class_)
        for property in class_.properties {
            if property.isComputed {
                report(
                    "property '\(class_.name).\(property.name)' of type linking objects must be "
                        + "declared among the computed properties")
            }
            check(property, of: class_)
        }
        for property in class_.computedProperties {
            if !property.isComputed {
                report(
                    "computed property '\(class_.name).\(property.name)' must be of type linking "
                        + "objects, not \(property.typeDescription)")
            }
            check(property, of: class_)
        }
    }

    private mutating func checkKind(_ class_: ClassSchema) {
        switch class_.kind {
        case .embedded:
            if !class_.primaryKey.isEmpty || class_.properties.contains(where: \.isPrimaryKey) {
                report("embedded class '\(class_.name)' cannot have a primary key")
            }
        case .asymmetric:
            if !mode.isSync {
                report(
                    "class '\(class_.name)' is asymmetric, which only synchronised realms support")
            }
            checkSyncKey(class_)
        case .topLevel:
            checkSyncKey(class_)
        }
    }

    private mutating func checkSyncKey(_ class_: ClassSchema) {
        guard mode.isSync, class_.primaryKeyProperty?.name != "_id" else { return }
        report(
            "class '\(class_.name)' must have a primary key named '_id' to be synchronised")
    }

    // MARK: Names

    private mutating func checkPropertyNames(_ class_: ClassSchema) {
        if class_.allProperties.haveDistinctNames { return }
        var seen = Set<String>()
        var reported = Set<String>()
        for property in class_.allProperties
        where !seen.insert(property.name).inserted && reported.insert(property.name).inserted {
            report("property '\(class_.name).\(property.name)' is declared more than once")
        }
    }

    private mutating func checkPublicNames(_ class_: ClassSchema) {
        guard class_.allProperties.contains(where: { !$0.publicName.isEmpty }) else { return }
        let names = Set(class_.allProperties.map(\.name))
        var seen = Set<String>()
        for property in class_.allProperties where !property.publicName.isEmpty {
            let subject = PropertySubject(class_, property)
            if names.contains(property.publicName) {
                report(
                    "\(subject): the public name '\(property.publicName)' is also the name of a "
                        + "property of the class")
            }
            if !seen.insert(property.publicName).inserted {
                report(
                    "\(subject): the public name '\(property.publicName)' is used more than once")
            }
        }
    }

    private mutating func checkPrimaryKey(_ class_: ClassSchema) {
        let flagged = class_.allProperties.filter(\.isPrimaryKey)
        if flagged.count > 1 {
            let names = flagged.map { "'\($0.name)'" }.joined(separator: ", ")
            report("class '\(class_.name)' has more than one primary key: \(names)")
        }
        // Beside a property with the flag, a name that none has means that there is no key.
        if flagged.isEmpty, !class_.primaryKey.isEmpty,
            class_.property(named: class_.primaryKey) == nil
        {
            report(
                "class '\(class_.name)': the primary key '\(class_.primaryKey)' is not a property")
        }
    }

    // MARK: Properties

    private mutating func check(_ property: PropertySchema, of class_: ClassSchema) {
        let subject = PropertySubject(class_, property)
        checkNullability(property, subject)
        checkLink(property, of: class_, subject)
        if property.isPrimaryKey { checkKeyType(property, subject) }
        if property.flags.contains(.indexed), !property.allowsIndex {
            report("\(subject) of type \(property.typeDescription) cannot be indexed")
        }
    }

    private mutating func checkNullability(_ property: PropertySchema, _ subject: PropertySubject) {
        let mustBe: Bool
        switch (property.type, property.collection) {
        case (.object, .none), (.object, .dictionary), (.mixed, _): mustBe = true
        case (.object, _), (.linkingObjects, _): mustBe = false
        default: return
        }
        if property.isNullable != mustBe {
            report(
                "\(subject) of type \(property.typeDescription) "
                    + (mustBe ? "must be nullable" : "cannot be nullable"))
        }
    }

    private mutating func checkKeyType(_ property: PropertySchema, _ subject: PropertySubject) {
        switch property.type {
        case .int, .string, .objectId, .uuid:
            if property.collection == .none { return }
        default: break
        }
        report(
            "\(subject) of type \(property.typeDescription) cannot be a primary key: that must be "
                + "a single int, string, object id or uuid")
    }

    private mutating func checkLink(
        _ property: PropertySchema, of class_: ClassSchema, _ subject: PropertySubject
    ) {
        let isLink = property.type == .object || property.type == .linkingObjects
        if property.type != .linkingObjects, !property.linkOrigin.isEmpty {
            report(
                "\(subject) of type \(property.typeDescription) cannot have an origin property")
        }
        guard isLink else {
            if !property.linkTarget.isEmpty {
                report("\(subject) of type \(property.typeDescription) cannot have a link target")
            }
            return
        }
        guard let target = schema.class_(named: property.linkTarget) else {
            report("\(subject): the link target '\(property.linkTarget)' is not in the schema")
            return
        }
        if target.kind == .asymmetric {
            report("\(subject) cannot link to the asymmetric class '\(target.name)'")
        }
        if property.type == .linkingObjects {
            checkOrigin(property, of: class_, target, subject)
        } else if property.collection == .set, target.kind == .embedded {
            report("\(subject): a set cannot hold objects of the embedded class '\(target.name)'")
        }
    }

    private mutating func checkOrigin(
        _ property: PropertySchema, of class_: ClassSchema, _ target: ClassSchema,
        _ subject: PropertySubject
    ) {
        if property.collection != .list {
            report("\(subject): linking objects must have the collection type list")
        }
        guard !property.linkOrigin.isEmpty else {
            report("\(subject): linking objects must name their origin property")
            return
        }
        let origin = "'\(target.name).\(property.linkOrigin)'"
        guard let link = target.property(named: property.linkOrigin) else {
            report("\(subject): the origin property \(origin) does not exist")
            return
        }
        if link.type != .object {
            report("\(subject): the origin property \(origin) is not a link")
        } else if link.linkTarget != class_.name {
            report(
                "\(subject): the origin property \(origin) links to '\(link.linkTarget)', not to "
                    + "'\(class_.name)'")
        }
    }

    // MARK: Embedded classes

    /// Reports every embedded class that can contain itself through embedded classes only.
    mutating func checkEmbeddedCycles() {
        for class_ in classes where class_.kind == .embedded {
            if schema.embeddedClasses(from: class_.linkTargets).contains(class_.name) {
                report("embedded class '\(class_.name)' can contain itself")
            }
        }
    }

    mutating func checkEmbeddedOrphans() {
        for name in schema.embeddedOrphans {
            report("embedded class '\(name)' is not reachable from any top-level class")
        }
    }
}

extension PropertySchema {
    fileprivate var allowsIndex: Bool {
        switch (type, collection) {
        case (.int, .none), (.bool, .none), (.string, .none), (.timestamp, .none),
            (.objectId, .none), (.uuid, .none), (.mixed, .none), (.string, .list):
            return true
        default:
            return false
        }
    }
}
