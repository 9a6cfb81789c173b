// `realm shell FILE`: questions and changes one after another, typed or from standard input.

import ArgumentParser
import CoreSwift

struct ShellCommand: FileCommand {
    static let configuration = CommandConfiguration(
        commandName: "shell",
        abstract: "Answers what is typed, or comes from standard input, a line at a time.",
        discussion: """
            At a terminal, lines can be edited, earlier ones come back, and the tabulator completes commands, \
            classes and properties. Lines are kept in ~/.realm_history, or where the variable \
            REALM_HISTORY says; nowhere if that is empty, or the file is encrypted. A mistake is told, \
            and the shell goes on.

            From a file or pipe, the first mistake ends it with status 2.

            \(Shell.help)
            """)

    /// So many objects are shown at a terminal, unless .limit says otherwise.
    private static let limitAtTerminal = 100

    @OptionGroup var source: FileArgument
    @Flag(name: .customLong("read-only"), help: "Nothing can be changed.")
    var isReadOnly = false
    @Option(help: "table, json, jsonl or csv.")
    var format = RowFormat.table

    func work() throws {
        let realm = isReadOnly ? try source.open() : try source.openForWriting()
        // What is not committed is rolled back.
        defer { realm.close() }
        let isAtTerminal = isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1
        let shell = try Shell(
            realm, limit: isAtTerminal ? Self.limitAtTerminal : nil, format: format, Output())
        if isAtTerminal { typed(shell, realm) } else { try read(shell) }
        if shell.isWriting {
            throw RealmError(
                .wrongTransactionState,
                "the transaction was not committed; it is rolled back")
        }
    }

    private func read(_ shell: Shell) throws {
        let reader = try DataReader("-")
        while let line = try reader.nextText() {
            if try at("line \(reader.line)", { try shell.run(line) }) == .end { return }
        }
    }

    private func typed(_ shell: Shell, _ realm: Realm) {
        let name = TextWidth.visible(source.file.split(separator: "/").last.map(String.init) ?? "")
        // What is in an encrypted file is not to stand in a plain one.
        let editor = LineEditor(keepsHistory: source.keyFile == nil) { line, word in
            ShellCompletion(schema: realm.schema).words(line, word)
        }
        print("\(name): 'help' lists what can be said, 'quit' ends.")
        while true {
            // Standard output of Swift keeps what it is given.
            fflush(nil)
            guard let line = editor.next(shell.isWriting ? "\(name)*> " : "\(name)> ") else {
                print()
                break
            }
            do {
                if try shell.run(line) == .end { break }
            } catch let error as RealmError {
                writeToStandardError(TextWidth.visible(error.message) + "\n")
            } catch let error as QueryMistake {
                writeToStandardError(error.message + "\n")
            } catch {
                writeToStandardError("\(error)\n")
            }
        }
        editor.saveHistory()
    }
}
