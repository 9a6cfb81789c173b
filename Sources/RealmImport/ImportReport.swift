// How a file is imported, and what came along.

public struct ImportOptions {
    /// The key of the old file, 64 bytes; empty: it is not encrypted.
    public var key: [UInt8]
    /// The one that the new file is encrypted with, or none.
    public var newKey: [UInt8]
    /// Also while programs have the old file open.
    public var evenInUse: Bool
    /// Told how much is done, between 0 and 1, some hundred times; false ends the import.
    public var progress: ((Double) -> Bool)?

    public init(
        key: [UInt8] = [], newKey: [UInt8] = [], evenInUse: Bool = false,
        _ progress: ((Double) -> Bool)? = nil
    ) {
        self.key = key
        self.newKey = newKey
        self.evenInUse = evenInUse
        self.progress = progress
    }
}

public struct ImportReport: Sendable {
    public struct Class: Sendable {
        public let name: String
        public let isEmbedded: Bool
        public internal(set) var objects = 0
    }

    /// That of the old file.
    public let format: Int
    public let schemaVersion: UInt64?
    public internal(set) var classes: [Class]
    /// What is different in the new file by its nature.
    public internal(set) var notes: [String]
    /// The first values and objects that were left out.
    public internal(set) var losses: [String] = []
    /// How many were left out.
    public internal(set) var lossCount = 0
}
