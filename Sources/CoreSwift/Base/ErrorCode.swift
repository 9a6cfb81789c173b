// Error codes of the engine. The raw values are those of `realm_errno_e` in the C ABI, so that an
// error crosses the boundary without translation.

/// What kind of failure a `RealmError` reports.
public enum ErrorCode: Int32, Sendable {
    case none = 0
    case runtime = 1000
    case rangeError = 1001
    case brokenInvariant = 1002
    case outOfMemory = 1003
    case outOfDiskSpace = 1004
    case addressSpaceExhausted = 1005
    case maximumFileSizeExceeded = 1006
    case incompatibleSession = 1007
    case incompatibleLockFile = 1008
    case invalidQuery = 1009
    case badVersion = 1010
    case unsupportedFileFormatVersion = 1011
    case multipleSyncAgents = 1012
    case objectAlreadyExists = 1013
    case notClonable = 1014
    case badChangeset = 1015
    case subscriptionFailed = 1016
    case fileOperationFailed = 1017
    case filePermissionDenied = 1018
    case fileNotFound = 1019
    case fileAlreadyExists = 1020
    case invalidDatabase = 1021
    case decryptionFailed = 1022
    case incompatibleHistories = 1023
    case fileFormatUpgradeRequired = 1024
    case schemaVersionMismatch = 1025
    case noSubscriptionForWrite = 1026
    case operationAborted = 1027
    case autoClientResetFailed = 1028
    case badSyncPartitionValue = 1029
    case connectionClosed = 1030
    case invalidSubscriptionQuery = 1031
    case syncClientResetRequired = 1032
    case syncCompensatingWrite = 1033
    case syncConnectFailed = 1034
    case syncConnectTimeout = 1035
    case syncInvalidSchemaChange = 1036
    case syncPermissionDenied = 1037
    case syncProtocolInvariantFailed = 1038
    case syncProtocolNegotiationFailed = 1039
    case syncServerPermissionsChanged = 1040
    case syncUserMismatch = 1041
    case tlsHandshakeFailed = 1042
    case wrongSyncType = 1043
    case syncWriteNotAllowed = 1044
    case syncLocalClockBeforeEpoch = 1045
    case syncSchemaMigrationError = 1046
    case systemError = 1999
    case logic = 2000
    case notSupported = 2001
    case brokenPromise = 2002
    case crossTableLinkTarget = 2003
    case keyAlreadyUsed = 2004
    case wrongTransactionState = 2005
    case wrongThread = 2006
    case illegalOperation = 2007
    case serializationError = 2008
    case staleAccessor = 2009
    case invalidatedObject = 2010
    case readOnlyDb = 2011
    case deleteOpenedRealm = 2012
    case mismatchedConfig = 2013
    case closedRealm = 2014
    case invalidTableRef = 2015
    case schemaValidationFailed = 2016
    case schemaMismatch = 2017
    case invalidSchemaVersion = 2018
    case invalidSchemaChange = 2019
    case migrationFailed = 2020
    case topLevelObject = 2021
    case invalidArgument = 3000
    case propertyTypeMismatch = 3001
    case propertyNotNullable = 3002
    case readOnlyProperty = 3003
    case missingPropertyValue = 3004
    case missingPrimaryKey = 3005
    case unexpectedPrimaryKey = 3006
    case modifyPrimaryKey = 3007
    case invalidQueryString = 3008
    case invalidProperty = 3009
    case invalidName = 3010
    case invalidDictionaryKey = 3011
    case invalidDictionaryValue = 3012
    case invalidSortDescriptor = 3013
    case invalidEncryptionKey = 3014
    case invalidQueryArg = 3015
    case noSuchObject = 3016
    case indexOutOfBounds = 3017
    case limitExceeded = 3018
    case objectTypeMismatch = 3019
    case noSuchTable = 3020
    case tableNameInUse = 3021
    case illegalCombination = 3022
    case badServerUrl = 3023
    case malformedJson = 4201
    case callback = 1000000
    case unknown = 2000000
}

extension ErrorCode {
    /// The bits of `realm_error_category_e` that belong to this code.
    public var categories: UInt32 {
        let logic: UInt32 = 2
        let runtime: UInt32 = 4
        let invalidArgument: UInt32 = 8
        let fileAccess: UInt32 = 16
        switch self {
        case .none, .unknown:
            return 0
        case .invalidQuery, .topLevelObject:
            return logic | invalidArgument
        case .incompatibleSession, .incompatibleLockFile, .fileOperationFailed,
            .filePermissionDenied, .fileNotFound, .fileAlreadyExists, .invalidDatabase,
            .decryptionFailed, .incompatibleHistories, .fileFormatUpgradeRequired,
            .deleteOpenedRealm:
            return runtime | fileAccess
        case .systemError:
            return runtime | 32
        case .malformedJson:
            return logic | 64 | 256
        default:
            if rawValue >= 3000 && rawValue < 4000 { return logic | invalidArgument }
            if rawValue >= 2000 && rawValue < 3000 { return logic }
            return runtime
        }
    }

    /// Whether errors of this code name a file.
    public var namesFile: Bool { categories & 16 != 0 }
}
