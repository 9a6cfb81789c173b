// `realm encrypt`, `realm decrypt` and `realm rekey`: a file gets its first encryption key, none, or another
// one, in place. Keys are read from files alone (KeyFile.swift).

import ArgumentParser
import CoreSwift

/// What the three commands have in common.
private enum KeyChange {
    static let inPlace = """
        FILE is written anew beside itself, compact, synced, and then renamed, so that it is changed as a \
        whole or not at all. Nobody may have it open. The change log and its consumers stay. What was there before \
        may be left on the disk where nothing is stored now.
        """

    static func run(
        _ command: some AnsweringCommand, newKeyFile: String?, done: String
    ) throws {
        let file = command.source.file
        let key = try command.source.key()
        let newKey = try newKeyFile.map(KeyFile.load) ?? []
        try Realm.changeEncryptionKey(file, from: key, to: newKey)
        try command.answer(
            "\(file): \(done)",
            .object([("file", .text(file)), ("encrypted", .truth(newKeyFile != nil))]))
    }
}

struct EncryptCommand: AnsweringCommand {
    static let configuration = CommandConfiguration(
        commandName: "encrypt", abstract: "Encrypts a plain file in place.",
        discussion: KeyChange.inPlace)

    @OptionGroup var options: FileOptions
    @Option(
        name: .customLong("new-key-file"),
        help: ArgumentHelp(
            "A file with the 64 random bytes of the key that the realm file gets.",
            valueName: "path"),
        completion: .file())
    var newKeyFile: String

    func validate() throws {
        if source.keyFile != nil {
            throw ValidationError(
                "A plain file has no key; 'realm rekey' changes that of an encrypted one.")
        }
    }

    func work() throws {
        try KeyChange.run(self, newKeyFile: newKeyFile, done: "encrypted")
    }
}

struct DecryptCommand: AnsweringCommand {
    static let configuration = CommandConfiguration(
        commandName: "decrypt", abstract: "Takes the encryption from a file, in place.",
        discussion: KeyChange.inPlace)

    @OptionGroup var options: FileOptions

    func validate() throws {
        if source.keyFile == nil { throw ValidationError("--key-file is missing.") }
    }

    func work() throws {
        try KeyChange.run(self, newKeyFile: nil, done: "no longer encrypted")
    }
}

struct RekeyCommand: AnsweringCommand {
    static let configuration = CommandConfiguration(
        commandName: "rekey", abstract: "Encrypts an encrypted file with another key, in place.",
        discussion: KeyChange.inPlace)

    @OptionGroup var options: FileOptions
    @Option(
        name: .customLong("new-key-file"),
        help: ArgumentHelp("A file with the 64 random bytes of the new key.", valueName: "path"),
        completion: .file())
    var newKeyFile: String

    func validate() throws {
        if source.keyFile == nil {
            throw ValidationError("--key-file is missing; 'realm encrypt' encrypts a plain file.")
        }
    }

    func work() throws {
        try KeyChange.run(self, newKeyFile: newKeyFile, done: "encrypted with another key")
    }
}
