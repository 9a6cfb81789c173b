// What a salvage got out of a damaged file, and what it did not.

public struct SalvageReport: Sendable {
    public struct Class: Sendable {
        public var name: String
        public var isEmbedded: Bool
        public var recovered = 0
        /// Of those that the file's catalog counts.
        public var lost = 0
        /// Properties of recovered objects whose value could not be had: they have null, or the zero
        /// of a required property.
        public var valuesLost = 0
        /// Links of recovered objects whose target could not be had, in properties and collections.
        public var linksLost = 0
        /// Collections of recovered objects that lack elements.
        public var collectionsCut = 0
        public var elementsLost = 0

        public var isWhole: Bool {
            lost == 0 && valuesLost == 0 && linksLost == 0 && elementsLost == 0
        }
    }

    /// The version that was recovered.
    public var version: UInt64
    /// The newest version that the header names, if that is another one.
    public var newestVersion: UInt64?
    /// Where the version's root was found.
    public var source: String
    /// The version whose schema was used, if that of `version` is damaged.
    public var schemaOf: UInt64?
    /// By name.
    public var classes: [Class] = []
    /// Where the file is damaged, a sentence each.
    public var damage: [String] = []
    /// Which values and objects were lost, a sentence each, as far as there is room.
    public var losses: [String] = []
    /// How many there are.
    public var lossCount = 0

    /// Everything of the newest version came back.
    public var isWhole: Bool {
        newestVersion == nil && schemaOf == nil && classes.allSatisfy(\.isWhole)
    }

    static let lossesMax = 200

    mutating func lose(_ sentence: @autoclosure () -> String) {
        lossCount += 1
        if losses.count < Self.lossesMax { losses.append(sentence()) }
    }
}
