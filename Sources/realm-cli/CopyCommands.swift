// `realm copy` and `realm compact`: a file without the space that it doesn't need, elsewhere or in its place.

import ArgumentParser
import CoreSwift

/// The size of a file in bytes; 0 where it can't be had.
private func size(_ path: String) -> Int {
    var status = stat()
    return stat(path, &status) == 0 ? Int(status.st_size) : 0
}

struct CopyCommand: AnsweringCommand {
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

    func work() throws {
        let key = try source.key()
        let newKey = try newKeyFile.map(KeyFile.load) ?? (decrypt ? [] : key)
        let realm = try Inspection.open(source.file, key: key)
        try realm.beginRead()
        try realm.writeCopy(to: to, encryptionKey: newKey)
        realm.close()
        try answer(
            "\(TextWidth.visible(to)): \(bytes(size(to))), of \(bytes(size(source.file)))",
            .object([
                ("file", .text(source.file)), ("to", .text(to)), ("bytes", .number(size(to))),
            ]))
    }
}

struct CompactCommand: AnsweringCommand {
    static let configuration = CommandConfiguration(
        commandName: "compact",
        abstract: "Makes a file as small as it can be, in its place.",
        discussion: """
            Nobody else may have the file open. A kill at any time leaves a sound file.
            """)

    @OptionGroup var options: FileOptions

    func work() throws {
        let before = size(source.file)
        let realm = try Inspection.open(source.file, key: source.key(), mode: .automatic)
        guard try realm.compact() else {
            throw RealmError(
                .wrongTransactionState,
                "another program reads or writes the file; it was not made compact")
        }
        realm.close()
        let now = size(source.file)
        try answer(
            "\(TextWidth.visible(source.file)): \(bytes(before)) before, \(bytes(now)) now",
            .object([
                ("file", .text(source.file)), ("bytes_before", .number(before)),
                ("bytes", .number(now)),
            ]))
    }
}
