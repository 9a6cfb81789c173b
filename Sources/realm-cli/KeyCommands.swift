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

    static func run(_ options: FileOptions, newKeyFile: String?, done: String) throws {
        try options.attempt { () throws(RealmError) in
            let key = try options.key()
            let newKey: [UInt8] = if let newKeyFile { try KeyFile.load(newKeyFile) } else { [] }
            try Realm.changeEncryptionKey(options.file, from: key, to: newKey)
        }
        let isEncrypted = newKeyFile != nil
        try answer(
            options.json
                ? JSON.object([
                    ("file", .text(options.file)), ("encrypted", .truth(isEncrypted)),
                ]).rendered()
                : "\(options.file): \(done)")
    }
}

struct EncryptCommand: ParsableCommand {
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
        if options.keyFile != nil {
            throw ValidationError(
                "A plain file has no key; 'realm rekey' changes that of an encrypted one.")
        }
    }

    func run() throws {
        try KeyChange.run(options, newKeyFile: newKeyFile, done: "encrypted")
    }
}

struct DecryptCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "decrypt", abstract: "Takes the encryption from a file, in place.",
        discussion: KeyChange.inPlace)

    @OptionGroup var options: FileOptions

    func validate() throws {
        if options.keyFile == nil { throw ValidationError("--key-file is missing.") }
    }

    func run() throws {
        try KeyChange.run(options, newKeyFile: nil, done: "no longer encrypted")
    }
}

struct RekeyCommand: ParsableCommand {
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
        if options.keyFile == nil {
            throw ValidationError("--key-file is missing; 'realm encrypt' encrypts a plain file.")
        }
    }

    func run() throws {
        try KeyChange.run(options, newKeyFile: newKeyFile, done: "encrypted with another key")
    }
}
