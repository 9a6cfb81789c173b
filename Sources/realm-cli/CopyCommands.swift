// `realm copy` and `realm compact`: a file without the space that it doesn't need, elsewhere or in its place.

import ArgumentParser
import CoreSwift

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The size of a file in bytes; 0 where it can't be had.
private func size(_ path: String) -> Int {
    var status = stat()
    return stat(path, &status) == 0 ? Int(status.st_size) : 0
}

struct CopyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "copy",
        abstract: "Writes a compact copy of the newest version to a new file.",
        discussion: """
            Other programs may use FILE meanwhile. TO must not exist; it gets its name when it is \
            complete. It is encrypted with the same key as FILE unless --new-key-file or --decrypt says \
            otherwise. The change log and its consumers don't come along.
            """)

    @OptionGroup var options: FileOptions
    @Argument(help: "The file to write.", completion: .file(extensions: ["realm"]))
    var to: String
    @Option(
        name: .customLong("new-key-file"),
        help: ArgumentHelp("A file with the 64 bytes of the key for TO.", valueName: "path"),
        completion: .file())
    var newKeyFile: String?
    @Flag(
        name: [.customLong("decrypt"), .customLong("plain")], help: "Write TO without encryption.")
    var decrypt = false

    func validate() throws {
        if decrypt && newKeyFile != nil {
            throw ValidationError("--decrypt and --new-key-file exclude each other.")
        }
    }

    func run() throws {
        try options.attempt { () throws(RealmError) in
            let key = try options.key()
            let newKey: [UInt8] =
                if let newKeyFile { try KeyFile.load(newKeyFile) } else { decrypt ? [] : key }
            let realm = try Inspection.open(options.file, key: key)
            defer { realm.close() }
            try realm.beginRead()
            try realm.writeCopy(to: to, encryptionKey: newKey)
        }
        try answer(
            options.json
                ? JSON.object([
                    ("file", .text(options.file)), ("to", .text(to)), ("bytes", .number(size(to))),
                ]).rendered()
                : "\(TextWidth.visible(to)): \(bytes(size(to))), of \(bytes(size(options.file)))")
    }
}

struct CompactCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compact",
        abstract: "Makes a file as small as it can be, in its place.",
        discussion: """
            Nobody else may have the file open. A kill at any time leaves a sound file.
            """)

    @OptionGroup var options: FileOptions

    func run() throws {
        let before = size(options.file)
        try options.attempt { () throws(RealmError) in
            let realm = try Inspection.open(options.file, key: options.key(), mode: .automatic)
            defer { realm.close() }
            guard try realm.compact() else {
                throw RealmError(
                    .wrongTransactionState,
                    "another program reads or writes the file; it was not made compact")
            }
        }
        let now = size(options.file)
        try answer(
            options.json
                ? JSON.object([
                    ("file", .text(options.file)), ("bytes_before", .number(before)),
                    ("bytes", .number(now)),
                ]).rendered()
                : "\(TextWidth.visible(options.file)): \(bytes(before)) before, \(bytes(now)) now")
    }
}
