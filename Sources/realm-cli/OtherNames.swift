// Other names of commands. They are commands of their own, and no aliases: the completion scripts that the parser
// generates know nothing of aliases, and complete neither these names nor what follows them.

import ArgumentParser

/// `realm serve`, which is `realm studio`.
struct ServeCommand: ParsableCommand {
    static let configuration = StudioCommand.configuration.renamed("serve")

    @OptionGroup var studio: StudioCommand

    func run() throws { try studio.run() }
}

/// `realm import-data`, which is `realm import`: its name when rows had a command of their own.
struct ImportDataCommand: ParsableCommand {
    static let configuration = ImportCommand.configuration.renamed("import-data")

    @OptionGroup var command: ImportCommand

    func run() throws { try command.run() }
}

extension CommandConfiguration {
    fileprivate func renamed(_ name: String) -> CommandConfiguration {
        var renamed = self
        renamed.commandName = name
        renamed.abstract = "The same as '\(commandName ?? "")'."
        return renamed
    }
}
