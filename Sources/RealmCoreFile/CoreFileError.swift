// What is wrong with an old file, and where. The reader throws nothing else.

public struct CoreFileError: Error, CustomStringConvertible, Sendable {
    public enum Code: Sendable {
        /// The file can't be opened or read.
        case unreadable
        /// Not a file of realm-core.
        case notRealm
        /// An encrypted file without its key, or with another one; a key for a file that is not encrypted.
        case wrongKey
        /// The old library has the file open, or wrote to it while it was read.
        case inUse
        /// A file of realm-core that this reader does not know how to read.
        case unsupported
        /// The bytes contradict the format.
        case damaged
        /// The caller did something wrong.
        case misuse
    }

    public let code: Code
    public let message: String

    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { message }

    /// The same error with the place in front of it, as "class 'Dog', property 'age': …".
    func within(_ place: String) -> CoreFileError { CoreFileError(code, place + ": " + message) }

    static func damaged(_ message: String) -> CoreFileError { CoreFileError(.damaged, message) }
}
