// The forms of realms, configurations, migrations, schemas, references and loggers: as in CollectionForms, each member is
// used with the type that it has to have.

import Foundation
@preconcurrency import RealmSwift

enum RealmForms {
    @MainActor static func opening(_ queue: DispatchQueue) async throws {
        let configuration: Realm.Configuration = Realm.Configuration()
        let _: [Realm] = [
            try Realm(), try Realm(queue: queue), try Realm(queue: nil),
            try Realm(configuration: configuration),
            try Realm(configuration: configuration, queue: queue),
            try Realm(fileURL: URL(fileURLWithPath: "/a")),
            try await Realm(configuration: configuration, downloadBeforeOpen: .never),
            try await Realm(configuration: configuration, actor: MainActor.shared),
            try await Realm(
                configuration: configuration, actor: MainActor.shared, downloadBeforeOpen: .once),
            try await Realm(actor: MainActor.shared), try await Realm.open(),
            try await Realm.open(configuration: configuration, downloadBeforeOpen: .always),
        ]
        let task: Realm.AsyncOpenTask = Realm.asyncOpen(
            configuration: configuration, callbackQueue: .main
        ) {
            (result: Result<Realm, any Error>) in
            if case .success(let realm) = result { let _: Realm = realm }
        }
        Realm.asyncOpen { _ in }
        Realm.asyncOpen(configuration: configuration) { _ in }
        task.addProgressNotification { (part: Double) in let _: Double = part }
        task.addProgressNotification(queue: queue) { _ in }
        task.cancel()
        let _: [Realm.OpenBehavior] = [.never, .once, .always]
    }

    @MainActor static func transactions(_ realm: Realm, _ token: NotificationToken, _ dog: Dog)
        async throws
    {
        let _: Int = try realm.write { 3 }
        try realm.write { realm.add(dog) }
        try realm.write(withoutNotifying: [token]) { realm.add(dog) }
        realm.beginWrite()
        try realm.commitWrite()
        try realm.commitWrite(withoutNotifying: [token])
        realm.cancelWrite()
        let _: Bool = realm.isInWriteTransaction
        let _: Bool = realm.isPerformingAsynchronousWriteOperations
        let completed: ((any Error)?) -> Void = { _ in }
        let first: AsyncTransactionId = realm.writeAsync({}, onComplete: completed)
        realm.writeAsync {}
        realm.writeAsync({}) { (error: (any Error)?) in }
        let _: AsyncTransactionId = realm.beginAsyncWrite {
            let _: AsyncTransactionId = realm.commitAsyncWrite(allowGrouping: true, completed)
            realm.commitAsyncWrite()
            realm.commitAsyncWrite { _ in }
        }
        realm.beginAsyncWrite {}
        try realm.cancelAsyncWrite(first)
        let _: Int = try await realm.asyncWrite { 3 }
        try await realm.asyncWrite { realm.add(dog) }
        let _: Bool = await realm.asyncRefresh()
        await realm.asyncRefresh()
    }

    static func objects(_ realm: Realm, _ dog: Dog, _ it: Everything) {
        realm.add(dog)
        realm.add(dog, update: .modified)
        realm.add([dog])
        realm.add([dog], update: .all)
        realm.add(it.dogSet)
        let _: Dog = realm.create(Dog.self)
        realm.create(Dog.self, value: ["name": "x"])
        realm.create(Dog.self, value: ["x", 3], update: .modified)
        realm.create(Dog.self, value: dog, update: .error)
        let _: DynamicObject = realm.dynamicCreate("Dog")
        realm.dynamicCreate("Dog", value: ["name": "x"], update: .all)
        realm.delete(dog)
        realm.delete([dog])
        realm.delete(List<Dog>())
        realm.delete(it.dogMap)
        realm.delete(realm.objects(Dog.self))
        realm.deleteAll()
        let _: Results<Dog> = realm.objects(Dog.self)
        let _: Results<Animal> = realm.objects(Animal.self)
        let _: Results<DynamicObject> = realm.dynamicObjects("Dog")
        let _: Person? = realm.object(ofType: Person.self, forPrimaryKey: 3)
        let _: Everything? = realm.object(
            ofType: Everything.self, forPrimaryKey: ObjectId.generate())
        let _: DynamicObject? = realm.dynamicObject(ofType: "Dog", forPrimaryKey: 3)
        let _: [Realm.UpdatePolicy] = [.error, .modified, .all]
    }

    @available(*, deprecated) static func older(_ realm: Realm, _ dog: Dog) {
        realm.add(dog, update: true)
        realm.add([dog], update: false)
        let _: Dog = realm.create(Dog.self, value: ["name": "x"], update: true)
    }

    static func state(_ realm: Realm, _ dog: Dog, _ dogs: List<Dog>) throws {
        let _: Schema = realm.schema
        let _: Realm.Configuration = realm.configuration
        let _: [Bool] = [
            realm.isEmpty, realm.isFrozen, realm.autorefresh, realm.refresh(), realm == realm,
        ]
        realm.autorefresh = false
        realm.refresh()
        let _: Realm = realm.freeze().thaw()
        let _: Dog = realm.freeze(dog)
        let _: Dog? = realm.thaw(dog)
        let _: List<Dog> = realm.freeze(dogs)
        let _: List<Dog>? = realm.thaw(dogs)
        let _: Results<Dog> = realm.freeze(realm.objects(Dog.self))
        realm.invalidate()
        let block: NotificationBlock = { (notification: Realm.Notification, realm: Realm) in
            switch notification {
            case .didChange, .refreshRequired: break
            }
        }
        let token: NotificationToken = realm.observe(block)
        token.invalidate()
        let _: NotificationToken = realm.observe { _, _ in }
        try realm.writeCopy(toFile: URL(fileURLWithPath: "/a"))
        try realm.writeCopy(toFile: URL(fileURLWithPath: "/a"), encryptionKey: Data())
        try realm.writeCopy(configuration: realm.configuration)
        let _: Bool = Realm.fileExists(for: realm.configuration)
        let _: Bool = try Realm.deleteFiles(for: realm.configuration)
        try Realm.deleteFiles(for: realm.configuration)
        try Realm.performMigration()
        try Realm.performMigration(for: realm.configuration)
    }

    static func configurations() {
        var one = Realm.Configuration(
            fileURL: URL(fileURLWithPath: "/a"), inMemoryIdentifier: nil, encryptionKey: nil,
            readOnly: false,
            schemaVersion: 0, migrationBlock: nil, deleteRealmIfMigrationNeeded: false,
            shouldCompactOnLaunch: { (total: Int, used: Int) -> Bool in total > used },
            objectTypes: [Dog.self, Address.self],
            seedFilePath: nil)
        let _: [URL?] = [one.fileURL, one.seedFilePath]
        let _: String? = one.inMemoryIdentifier
        let _: Data? = one.encryptionKey
        let _: [Bool] = [one.readOnly, one.deleteRealmIfMigrationNeeded, one == one]
        let _: UInt64 = one.schemaVersion
        let _: MigrationBlock? = one.migrationBlock
        let _: ((Int, Int) -> Bool)? = one.shouldCompactOnLaunch
        let _: [ObjectBase.Type]? = one.objectTypes
        let _: UInt? = one.maximumNumberOfActiveVersions
        let _: String = one.description
        one.fileURL = nil
        one.inMemoryIdentifier = "x"
        one.encryptionKey = Data()
        one.readOnly = true
        one.schemaVersion = 3
        one.migrationBlock = { (migration: Migration, version: UInt64) in
            migrations(migration, version)
        }
        one.deleteRealmIfMigrationNeeded = true
        one.shouldCompactOnLaunch = nil
        one.objectTypes = nil
        one.maximumNumberOfActiveVersions = 3
        one.seedFilePath = nil
        Realm.Configuration.defaultConfiguration = one
        let _: any Sendable = one
    }

    static func migrations(_ migration: Migration, _ version: UInt64) {
        let _: [Schema] = [migration.oldSchema, migration.newSchema]
        let block: MigrationObjectEnumerateBlock = {
            (old: MigrationObject?, new: MigrationObject?) in
            new?["name"] = old?["name"]
            let _: Any? = old?["name"]
            let _: Any? = old?.name
            new?.name = "x"
        }
        migration.enumerateObjects(ofType: "Dog", block)
        migration.enumerateObjects(ofType: Dog.className()) { _, _ in }
        let made: MigrationObject = migration.create("Dog")
        migration.create("Dog", value: ["name": "x"])
        migration.delete(made)
        let _: Bool = migration.deleteData(forType: "Dog")
        migration.deleteData(forType: "Dog")
        migration.renameProperty(onType: "Dog", from: "a", to: "b")
    }

    static func schemas(_ schema: Schema) throws {
        let _: UInt64 = try schemaVersionAtURL(URL(fileURLWithPath: "/a"))
        let _: UInt64 = try schemaVersionAtURL(URL(fileURLWithPath: "/a"), encryptionKey: Data())
        let _: [ObjectSchema] = schema.objectSchema
        guard let one: ObjectSchema = schema["Dog"], let property: Property = one["name"] else {
            return
        }
        let _: [String] = [
            schema.description, one.className, one.description, property.name, property.columnName,
        ]
        let _: AnyClass = one.objectClass
        let _: [Property] = one.properties
        let _: Property? = one.primaryKeyProperty
        let _: [Bool] = [
            one.isEmbedded, one.isAsymmetric, schema == schema, one == one, property == property,
            property.isArray,
            property.isSet, property.isMap, property.isIndexed, property.isOptional,
        ]
        let _: String? = property.objectClassName
        let type: PropertyType = property.type
        let _: [PropertyType] = [
            .int, .bool, .string, .data, .date, .float, .double, .object, .linkingObjects, .any,
            .objectId, .decimal128,
            .UUID,
        ]
        let _: Int = type.rawValue
        let _: PropertyType? = PropertyType(rawValue: 3)
    }

    static func references(_ realm: Realm, _ dog: Dog, _ dogs: List<Dog>, _ it: Everything) {
        let reference: ThreadSafeReference<Dog> = ThreadSafeReference(to: dog)
        let _: Bool = reference.isInvalidated
        let _: Dog? = realm.resolve(reference)
        let _: List<Dog>? = realm.resolve(ThreadSafeReference(to: dogs))
        let _: MutableSet<Int>? = realm.resolve(ThreadSafeReference(to: it.intSet))
        let _: Map<String, Int>? = realm.resolve(ThreadSafeReference(to: it.scores))
        let _: Results<Dog>? = realm.resolve(ThreadSafeReference(to: realm.objects(Dog.self)))
        let _: LinkingObjects<Person>? = realm.resolve(ThreadSafeReference(to: dog.owners))
        let _: NameCard? = realm.resolve(ThreadSafeReference(to: NameCard(projecting: dog)))
        let _: Address? = it.address.flatMap { realm.resolve(ThreadSafeReference(to: $0)) }
        let _: any Sendable = reference
        @ThreadSafe var safe: Dog? = dog
        let _: Dog? = safe
        safe = nil
        @ThreadSafe var others = dogs
        let _: List<Dog>? = others
        func confined<T: ThreadConfined>(_ value: T) -> (Realm?, Bool, Bool) {
            (value.realm, value.isInvalidated, value.isFrozen)
        }
        _ = confined(dog)
    }

    static func errors(_ error: Realm.Error) {
        let _: Realm.Error.Code = error.code
        let _: [Realm.Error.Code] = [
            Realm.Error.fail, Realm.Error.fileAccess, Realm.Error.filePermissionDenied,
            Realm.Error.fileExists,
            Realm.Error.fileNotFound, Realm.Error.fileFormatUpgradeRequired,
            Realm.Error.incompatibleLockFile,
            Realm.Error.addressSpaceExhausted, Realm.Error.schemaMismatch, Realm.Error.alreadyOpen,
            Realm.Error.invalidInput, Realm.Error.outOfDiskSpace,
            Realm.Error.unsupportedFileFormatVersion,
            Realm.Error.fileOperationFailed, Realm.Error.invalidDatabase,
            Realm.Error.incompatibleSession,
        ]
        let _: [Realm.Error] = [Realm.Error.callFailed, Realm.Error(.fileNotFound)]
        let _: Realm.Error = Realm.Error(Realm.Error.fail, userInfo: [NSFilePathErrorKey: "/a"])
        let _: [String: Any] = error.userInfo
        let _: URL? = error.fileURL
        let _: String = error.localizedDescription
        let _: Bool = error == error && Realm.Error.fail ~= error
        let _: Int = error.hashValue
        let _: any Sendable = error
    }

    static func loggers() {
        let logger: Logger = Logger(level: .info) { (level: LogLevel, message: String) in
            let _: (LogLevel, String) = (level, message)
        }
        Logger.shared = logger
        logger.level = .debug
        let _: LogLevel = logger.level
        let _: [LogLevel] = [.off, .fatal, .error, .warn, .info, .detail, .debug, .trace, .all]
        Logger.setLogLevel(.info, for: Category.realm)
        let _: LogLevel = Logger.logLevel(for: Category.Storage.query)
        Logger.shared = Logger { (level: LogLevel, category: any LogCategory, message: String) in
            let _: (LogLevel, String, String) = (level, category.rawValue, message)
        }
    }
}
