// `realm studio FILE…`: opens a page in the browser in which files are looked at and changed. The page and its
// server are the target RealmStudio.

import ArgumentParser
import CoreSwift
import RealmStudio

struct StudioCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "studio",
        abstract: "Opens a page in the browser in which files are looked at and changed.",
        discussion: """
            The page is served to this machine alone, to whoever knows its address. Keys of encrypted files \
            are asked for in the page. It ends with Ctrl-C.
            """)

    @Argument(
        help: "The realm files.", completion: .file(extensions: ["realm"]))
    var files: [String]

    @Flag(name: .customLong("read-only"), help: "Change nothing.")
    var isReadOnly = false

    @Option(help: "The port of the page; any that is free, if none is given.")
    var port: UInt16 = 0

    @Flag(
        name: .customLong("no-browser"), help: "Print the address of the page, and open no browser."
    )
    var staysClosed = false

    func validate() throws {
        if files.isEmpty { throw ValidationError("Please name a realm file.") }
    }

    func run() throws {
        var options = StudioOptions(files: files)
        options.isReadOnly = isReadOnly
        options.port = port
        do {
            for file in files {
                // What is not there at all is an error here rather than in the page.
                guard access(file, R_OK) == 0 else {
                    let reason = String(cString: strerror(errno))
                    throw RealmError(.fileNotFound, "'\(file)': \(reason)")
                }
            }
            try Studio.run(options) { address in
                print("The studio is at \(address)\nIt ends with Ctrl-C.")
                fflush(nil)
                if !staysClosed { open(address) }
            }
        } catch let error as RealmError {
            writeToStandardError("realm: \(error.message)\n")
            throw ExitStatus.unreadable
        }
    }

    /// Shows the page in the user's browser, if there is one.
    private func open(_ address: String) {
        #if canImport(Darwin)
            let program = "open"
        #else
            let program = "xdg-open"
        #endif
        var arguments = [strdup(program), strdup(address), nil]
        defer { for argument in arguments { free(argument) } }
        // This process has signals blocked that the browser is to end by.
        var attributes = posix_spawnattr_t()
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var process: pid_t = 0
        if posix_spawnp(&process, program, nil, &attributes, &arguments, environ) != 0 {
            writeToStandardError("realm: there is no \(program) that would open a browser\n")
        }
    }
}
