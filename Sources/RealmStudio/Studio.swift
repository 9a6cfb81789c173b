// The studio as `realm studio` starts it: a server on a port of the loopback interface, a thread for each file.

import CoreSwift
import FlyingFox
import FlyingSocks
import Foundation

public struct StudioOptions: Sendable {
    /// Paths of realm files.
    public var files: [String]
    /// 0: any that is free.
    public var port: UInt16 = 0
    /// The files are opened so that nothing can change them.
    public var isReadOnly = false

    public init(files: [String]) { self.files = files }
}

public enum Studio {
    /// How long an answer may take: a query over everything, a page that waits for changes.
    private static let timeoutSeconds = 3600.0
    /// How long the end waits for requests that run.
    private static let endSeconds = 2.0

    /// Serves until the process is asked to end (SIGINT or SIGTERM); then closes the files. `ready` is called with the
    /// address of the page once that can be asked for. Throws a `RealmError` if the port can't be had.
    public static func run(
        _ options: StudioOptions, ready: (_ address: String) throws -> Void
    ) throws {
        // Before there are threads, which inherit it: one waits for them below.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGINT)
        sigaddset(&signals, SIGTERM)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        signal(SIGPIPE, SIG_IGN)

        let files = try options.files.map {
            try EngineThread(path: $0, readOnly: options.isReadOnly)
        }
        defer { end(files) }
        let token = Gate.makeToken()
        let back = try BackDoor()
        defer { back.remove() }
        let port = try serve(options, files, token, back)
        try ready("http://127.0.0.1:\(port)/?token=\(token)")
        var caught: Int32 = 0
        sigwait(&signals, &caught)
    }

    /// Closes the files. Where a request takes longer the process ends in the middle of it: what it has not
    /// committed is not in the file, as with any program that ends.
    private static func end(_ files: [EngineThread]) {
        let latest = DispatchTime.now() + endSeconds
        for ended in files.map({ $0.end() }) where ended.wait(timeout: latest) == .timedOut {
            fflush(nil)
            // Not `exit`, which takes apart what the thread still uses.
            _exit(0)
        }
    }

    /// Starts the server, behind `FrontDoor`; the port that it has.
    private static func serve(
        _ options: StudioOptions, _ files: [EngineThread], _ token: String, _ back: BackDoor
    ) throws -> UInt16 {
        let front = try FrontDoor(port: options.port)
        let gate = Gate(token: token, port: front.port)
        let server = HTTPServer(
            address: back.address, timeout: timeoutSeconds, logger: .disabled,
            handler: StudioServer(
                gate: gate, files: files, paths: options.files, isReadOnly: options.isReadOnly))
        final class Outcome: @unchecked Sendable { var failure: String? }
        let outcome = Outcome()
        let started = DispatchSemaphore(value: 0)
        Task.detached {
            do {
                try await server.run()
            } catch {
                outcome.failure = "\(error)"
                started.signal()
            }
        }
        Task.detached {
            try? await server.waitUntilListening()
            started.signal()
        }
        started.wait()
        if let failure = outcome.failure {
            throw RealmError(.fileOperationFailed, "the studio's server does not start: \(failure)")
        }
        front.open(to: back.hide(), gate)
        return front.port
    }
}
