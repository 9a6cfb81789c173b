// The thread that a file's realm belongs to. Requests of the page are queued and run there one after another, so
// that a long query holds up its own file alone; commits of others wake it, too.

import CoreSwift
import Foundation

final class EngineThread: @unchecked Sendable {
    private let scheduler: ThreadScheduler
    /// Touched on the thread alone.
    private let file: StudioFile

    /// How long the thread sleeps at most, in milliseconds: waits end and idle files are closed
    /// within that time.
    private static let tick: Int32 = 1000

    /// Starts the thread; the file is opened by a request.
    init(path: String, readOnly: Bool) throws {
        final class Start: @unchecked Sendable {
            var result: Result<(ThreadScheduler, StudioFile, Int32), any Error>?
        }
        let start = Start()
        let started = DispatchSemaphore(value: 0)
        let thread = Thread {
            let scheduler = ThreadScheduler.ofThisThread
            do {
                let descriptor = try scheduler.eventDescriptor()
                let file = StudioFile(path: path, readOnly: readOnly)
                start.result = .success((scheduler, file, descriptor))
                started.signal()
                Self.serve(scheduler, file, descriptor)
            } catch {
                start.result = .failure(error)
                started.signal()
            }
        }
        // Queries and nested values recurse.
        thread.stackSize = 8 << 20
        thread.name = "realm studio"
        thread.start()
        started.wait()
        guard let result = start.result else {
            throw StudioError.refused("the thread of '\(path)' did not start")
        }
        (scheduler, file, _) = try result.get()
    }

    private static func serve(
        _ scheduler: ThreadScheduler, _ file: StudioFile, _ descriptor: Int32
    ) {
        while !file.hasEnded {
            var event = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            // Interrupted by a signal it looks around once more, which does no harm.
            _ = poll(&event, 1, file.needsTicks ? tick : -1)
            scheduler.queue.performWork()
            file.tick()
        }
    }

    /// Runs `body` on the thread.
    func run<R: Sendable>(
        _ body: @escaping @Sendable (StudioFile) throws -> R
    ) async throws -> R {
        try await withCheckedThrowingContinuation { continuation in
            scheduler.queue.add { [self] in
                file.touch()
                continuation.resume(with: Result { try body(file) })
            }
        }
    }

    /// Returns when the file is at another version than `version`, and at the latest after
    /// `StudioFile.waitSeconds`.
    func wait(beyond version: Int64) async -> Int64 {
        await withCheckedContinuation { continuation in
            scheduler.queue.add { [self] in
                file.touch()
                file.wait(beyond: version) { continuation.resume(returning: $0) }
            }
        }
    }

    /// Closes the file and ends the thread, when what is queued is done; then it signals.
    func end() -> DispatchSemaphore {
        let ended = DispatchSemaphore(value: 0)
        scheduler.queue.add { [self] in
            file.end()
            ended.signal()
        }
        return ended
    }
}
