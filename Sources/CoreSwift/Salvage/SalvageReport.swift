// What a salvage got out of a damaged file, and what it did not.

package struct SalvageReport: Sendable {
    package struct Class: Sendable {
        package var name: String
        package var isEmbedded: Bool
        package var recovered = 0
        /// Of those that the file's catalog counts.
        package var lost = 0
        /// Properties of recovered objects whose value could not be had: they have null, or the zero
        /// of a required property.
        package var valuesLost = 0
        /// Links of recovered objects whose target could not be had, in properties and collections.
        package var linksLost = 0
        /// Collections of recovered objects that lack elements.
        package var collectionsCut = 0
        package var elementsLost = 0

        package var isWhole: Bool {
            lost == 0 && valuesLost == 0 && linksLost == 0 && elementsLost == 0
        }
    }

    /// The version that was recovered.
    package var version: UInt64
    /// The newest version that the header names, if that is another one.
    package var newestVersion: UInt64?
    /// Where the version's root was found.
    package var source: String
    /// The version whose schema was used, if that of `version` is damaged.
    package var schemaOf: UInt64?
    /// By name.
    package var classes: [Class] = []
    /// Where the file is damaged, a sentence each.
    package var damage: [String] = []
    /// Which values and objects were lost, a sentence each, as far as there is room.
    package var losses: [String] = []
    /// How many there are.
    package var lossCount = 0

    /// Everything of the newest version came back.
    package var isWhole: Bool {
        newestVersion == nil && schemaOf == nil && classes.allSatisfy(\.isWhole)
    }

    static let lossesMax = 200

    mutating func lose(_ sentence: @autoclosure () -> String) {
        lossCount += 1
        if losses.count < Self.lossesMax { losses.append(sentence()) }
    }
}
