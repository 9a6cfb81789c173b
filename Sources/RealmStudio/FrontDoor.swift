// What the studio's port leads to. The HTTP library takes a request's head line by line, as long as lines come;
// so connections are passed on to it from here, with limits for what it is given:
//
//   head         at most `headBytesMax`, within `headSeconds`
//   body         as its Content-Length says, at most `StudioServer.bodyBytesMax`; bodies in pieces, whose sizes
//                are lines again, are refused
//   both         read no faster than they are taken
//   connections  at most `visitsMax`; one that is silent between requests ends after `idleSeconds`
//
// An empty line ends a head here as it does there. So whatever a client sends, the library has one before it after
// at most a head and a body, also where it takes for a head what is a body here.
//
// One thread serves all connections. Who may ask is the business of `Gate`; here the token alone is asked for, of
// who sends a long body.

import CoreSwift
import FlyingSocks
import Foundation

final class FrontDoor: @unchecked Sendable {
    private static let visitsMax = 64
    /// Times are looked at so often, in milliseconds.
    private static let tick: Int32 = 500

    let port: UInt16
    private let listener: Int32
    /// Touched by the thread alone.
    private var visits: [Visit] = []

    /// Listens on a port of the loopback interface; 0: any that is free.
    init(port: UInt16) throws(RealmError) {
        func failed() -> RealmError {
            RealmError(
                .fileOperationFailed,
                "the studio can't listen on port \(port): \(String(cString: strerror(errno)))")
        }
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard listener >= 0 else { throw failed() }
        var yes: Int32 = 1
        setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        address.sin_port = port.bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = listener
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && listen(descriptor, 128) == 0
                    && getsockname(descriptor, $0, &length) == 0
            }
        }
        guard isBound else {
            let error = failed()
            close(listener)
            throw error
        }
        Visit.prepare(listener)
        self.port = UInt16(bigEndian: address.sin_port)
    }

    /// Serves until the process ends.
    func open(to back: sockaddr_un, _ gate: Gate) {
        let thread = Thread { self.serve(back, gate) }
        thread.name = "realm front door"
        thread.start()
    }

    private func serve(_ back: sockaddr_un, _ gate: Gate) {
        while true {
            // Who finds no room waits.
            let door = visits.count < Self.visitsMax ? listener : -1
            var events = [pollfd(fd: door, events: Int16(POLLIN), revents: 0)]
            for visit in visits { events += visit.events }
            guard poll(&events, nfds_t(events.count), visits.isEmpty ? -1 : Self.tick) >= 0 else {
                continue
            }
            let now = Date().timeIntervalSinceReferenceDate
            for (index, visit) in visits.enumerated() {
                visit.serve(events[1 + 2 * index].revents, events[2 + 2 * index].revents, now)
            }
            visits.removeAll {
                if $0.isOver { $0.end() }
                return $0.isOver
            }
            if events[0].revents != 0 { welcome(back, gate, now) }
        }
    }

    private func welcome(_ back: sockaddr_un, _ gate: Gate, _ now: Double) {
        while visits.count < Self.visitsMax {
            let client = accept(listener, nil, nil)
            guard client >= 0 else {
                // Out of descriptors, say: others may end meanwhile.
                if errno != EAGAIN && errno != EINTR { usleep(10_000) }
                return
            }
            visits.append(Visit(client, back, gate, now))
        }
    }
}

/// Where the library listens: a socket in a folder that only this user can look into, which both have no name any more
/// once it is open. So nothing is left of them however the studio ends.
final class BackDoor: Sendable {
    let address: sockaddr_un
    private let folder: String
    private let path: String

    init() throws(RealmError) {
        // Paths of sockets are short.
        let places = [NSTemporaryDirectory(), "/tmp/"].filter { $0.utf8.count < 64 }
        for place in places {
            var name = Array((place + "realm-studio-XXXXXX").utf8CString)
            guard mkdtemp(&name) != nil else { continue }
            folder = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
            path = folder + "/socket"
            address = .unix(path: path)
            return
        }
        throw RealmError(
            .fileOperationFailed,
            "no folder for the studio's socket can be made: \(String(cString: strerror(errno)))")
    }

    /// Takes the names away, when the library listens; the address that leads there from then on.
    func hide() -> sockaddr_un {
        #if os(Linux)
            // O_PATH, which Swift does not see: to name the socket, not to read it.
            let descriptor = open(path, 0o10_000_000 | O_CLOEXEC)
            let link = "/proc/self/fd/\(descriptor)"
            // Without /proc the name is needed.
            if descriptor >= 0, access(link, F_OK) == 0 {
                remove()
                return .unix(path: link)
            }
        #endif
        return address
    }

    func remove() {
        unlink(path)
        rmdir(folder)
    }
}
