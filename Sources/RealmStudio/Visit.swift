// One connection to the studio's port, passed on to the HTTP library within the limits that FrontDoor.swift names.
//
//   head     bytes are collected until an empty line
//   body     as many as the head told go on as they come
//   ended    the client has no more to ask, which the library is told: it ends the connection behind its last answer
//   leaving  nothing is taken any more: the last answer is sent, then the connection ends. What the client still
//            sends is read for a moment, as closing over it would take the answer from it

import FlyingSocks
import Foundation

final class Visit {
    static let headBytesMax = 16 << 10
    /// A longer body goes on only with the token: the library, which reads a shorter one before anybody is
    /// asked, would take what is left of a refused one for the next request.
    private static let openBytesMax = 4096
    static let headSeconds = 30.0
    static let idleSeconds = 120.0
    private static let leavingSeconds = 2.0
    /// What waits for one side, at most, when more is read from the other; a head may come on top of it.
    private static let pieceBytes = 64 << 10

    private let client: Int32
    private let back: sockaddr_un
    private let gate: Gate
    private var server: Int32 = -1
    private var head: [UInt8] = []
    /// Of the head: no end is in them.
    private var searched = 0
    private var headSince = 0.0
    /// Of the body, still to come.
    private var bodyLeft = 0
    private var toServer: [UInt8] = []
    private var toClient: [UInt8] = []
    /// A request was passed on, and nothing came back since.
    private var awaitsAnswer = false
    /// A request was answered before it was whole: refused. What is left of it is for nobody.
    private var isCutShort = false
    private var clientHasEnded = false
    /// The library knows.
    private var serverKnowsEnd = false
    private var leavesAt: Double?
    private var hasSaidGoodbye = false
    private var lastMove: Double
    private(set) var isOver = false

    init(_ client: Int32, _ back: sockaddr_un, _ gate: Gate, _ now: Double) {
        self.client = client
        self.back = back
        self.gate = gate
        lastMove = now
        Self.prepare(client)
    }

    static func prepare(_ descriptor: Int32) {
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }

    func end() {
        close(client)
        if server >= 0 { close(server) }
    }

    // MARK: Waiting

    /// What is waited for: of the client, then of the library.
    var events: [pollfd] {
        let takesMore =
            !clientHasEnded && (leavesAt != nil || isCutShort || toServer.count < Self.pieceBytes)
        return [
            Self.event(client, reads: takesMore, writes: !toClient.isEmpty),
            Self.event(server, reads: toClient.count < Self.pieceBytes, writes: !toServer.isEmpty),
        ]
    }

    /// A side of which nothing is wanted is not looked at: that it has ended would be told without end.
    private static func event(_ descriptor: Int32, reads: Bool, writes: Bool) -> pollfd {
        pollfd(
            fd: reads || writes ? descriptor : -1,
            events: Int16((reads ? POLLIN : 0) | (writes ? POLLOUT : 0)), revents: 0)
    }

    func serve(_ ofClient: Int16, _ ofServer: Int16, _ now: Double) {
        let ends = Int16(POLLIN | POLLHUP | POLLERR)
        if ofClient & ends != 0, !clientHasEnded { readClient(now) }
        if ofServer & ends != 0, server >= 0 { readServer(now) }
        if !isOver, !toServer.isEmpty, server >= 0, !write(&toServer, server, now) { toServer = [] }
        if !isOver, !toClient.isEmpty, !write(&toClient, client, now) { isOver = true }
        if !isOver { lookAtTime(now) }
    }

    private func lookAtTime(_ now: Double) {
        if let leavesAt {
            if toClient.isEmpty, !hasSaidGoodbye {
                hasSaidGoodbye = true
                self.leavesAt = now + Self.leavingSeconds
                shutdown(client, Int32(SHUT_WR))
            }
            isOver =
                toClient.isEmpty
                ? clientHasEnded || now >= leavesAt : now - lastMove > Self.idleSeconds
        } else if !head.isEmpty {
            if now - headSince > Self.headSeconds { refuse(.slow, now) }
        } else if bodyLeft > 0 {
            isOver = now - lastMove > Self.headSeconds
        } else if clientHasEnded {
            if toServer.isEmpty, !serverKnowsEnd {
                serverKnowsEnd = true
                shutdown(server, Int32(SHUT_WR))
            }
            isOver = server < 0 || !awaitsAnswer && now - lastMove > Self.idleSeconds
        } else if !awaitsAnswer {
            isOver = now - lastMove > Self.idleSeconds
        }
    }

    // MARK: Reading and writing

    private func readClient(_ now: Double) {
        var piece = [UInt8](repeating: 0, count: Self.pieceBytes)
        let count = recv(client, &piece, piece.count, 0)
        if count < 0 {
            isOver = errno != EAGAIN && errno != EINTR
        } else if count == 0 {
            clientHasEnded = true
            // Half a request will never be a whole one; those before it are answered.
            head = []
            if bodyLeft > 0 { isOver = true }
        } else if leavesAt == nil, !isCutShort {
            lastMove = now
            take(piece[..<count], now)
        }
    }

    private func readServer(_ now: Double) {
        var piece = [UInt8](repeating: 0, count: Self.pieceBytes)
        let count = recv(server, &piece, piece.count, 0)
        if count < 0, errno == EAGAIN || errno == EINTR { return }
        if count > 0 {
            lastMove = now
            awaitsAnswer = false
            toClient += piece[..<count]
            if bodyLeft > 0 { cutShort() }
        } else {
            leave(now)
        }
    }

    /// The library would take what follows for the next request, and collect it.
    private func cutShort() {
        isCutShort = true
        bodyLeft = 0
        toServer = []
        shutdown(server, Int32(SHUT_WR))
    }

    /// Sends what can be sent at once; false when the other side takes no more.
    private func write(_ bytes: inout [UInt8], _ descriptor: Int32, _ now: Double) -> Bool {
        let count = send(descriptor, bytes, bytes.count, 0)
        if count < 0 { return errno == EAGAIN || errno == EINTR }
        lastMove = now
        bytes.removeFirst(count)
        return true
    }

    private func leave(_ now: Double) {
        leavesAt = now + Self.leavingSeconds
        if server >= 0 { close(server) }
        server = -1
        toServer = []
        head = []
    }

    // MARK: Requests

    private func take(_ bytes: ArraySlice<UInt8>, _ now: Double) {
        var bytes = bytes
        while !bytes.isEmpty, leavesAt == nil, !isOver {
            if bodyLeft > 0 {
                let count = min(bodyLeft, bytes.count)
                toServer += bytes.prefix(count)
                bytes = bytes.dropFirst(count)
                bodyLeft -= count
                continue
            }
            if head.isEmpty { headSince = now }
            head += bytes
            let end = endOfHead()
            guard end ?? head.count <= Self.headBytesMax else { return refuse(.long, now) }
            guard let end else { return }
            let whole = head[..<end]
            bytes = head[end...]
            head = []
            searched = 0
            pass(whole, now)
        }
    }

    /// Behind the first empty line.
    private func endOfHead() -> Int? {
        var place = searched
        while let feed = head[place...].firstIndex(of: 0x0A) {
            let next = feed + 1
            if next < head.count, head[next] == 0x0A { return next + 1 }
            if next + 1 < head.count, head[next] == 0x0D, head[next + 1] == 0x0A { return next + 2 }
            place = next
        }
        searched = max(0, head.count - 2)
        return nil
    }

    private func pass(_ whole: ArraySlice<UInt8>, _ now: Double) {
        do throws(Refusal) {
            bodyLeft = try bodyBytes(of: whole)
        } catch {
            return refuse(error, now)
        }
        if server < 0, !reachServer() {
            isOver = true
            return
        }
        toServer += whole
        awaitsAnswer = true
    }

    private func reachServer() -> Bool {
        server = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        guard server >= 0 else { return false }
        Self.prepare(server)
        return back.withSockAddr { connect(server, $0, $1) == 0 }
    }

    /// How long the body behind a head is. Whatever of the head could be read in two ways is refused.
    private func bodyBytes(of head: ArraySlice<UInt8>) throws(Refusal) -> Int {
        // Cookies of other programs of this machine may have any letters.
        let isPlain = head.allSatisfy {
            $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 || $0 == 0x0A || $0 == 0x0D
        }
        guard isPlain else { throw .malformed }
        var length: Int?
        var token: String?
        for line in head.split(separator: 0x0A).dropFirst() {
            let text = String(decoding: line, as: UTF8.self).lowercased()
            if text.contains("transfer-encoding") { throw .pieces }
            if text.hasPrefix("x-realm-token:") {
                token = text.dropFirst("x-realm-token:".count).trimmingCharacters(
                    in: .whitespacesAndNewlines)
            }
            guard text.contains("content-length") else { continue }
            let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            let digits =
                parts.count == 2 ? parts[1].trimmingCharacters(in: .whitespacesAndNewlines) : ""
            guard parts[0] == "content-length", length == nil, !digits.isEmpty,
                digits.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 })
            else { throw .malformed }
            guard let count = Int(digits), count <= StudioServer.bodyBytesMax else { throw .large }
            length = count
        }
        if let length, length > Self.openBytesMax, !gate.isToken(token) { throw .token }
        return length ?? 0
    }

    private enum Refusal: Error {
        case long, slow, pieces, large, malformed, token

        var status: String {
            switch self {
            case .long: "431 Request Header Fields Too Large"
            case .slow: "408 Request Timeout"
            case .pieces: "411 Length Required"
            case .large: "413 Payload Too Large"
            case .malformed: "400 Bad Request"
            case .token: "403 Forbidden"
            }
        }

        var message: String {
            switch self {
            case .long: "the head of a request has at most \(Visit.headBytesMax) bytes"
            case .slow: "the head of a request has to come within \(Int(Visit.headSeconds)) seconds"
            case .pieces: "requests tell how long they are, and do not come in pieces"
            case .large: Gate.Refusal.size(StudioServer.bodyBytesMax).message
            case .malformed: "the head of the request can't be read"
            case .token: Gate.Refusal.token.message
            }
        }
    }

    private func refuse(_ refusal: Refusal, _ now: Double) {
        // It would be taken for the answer that is due.
        guard !awaitsAnswer else {
            isOver = true
            return
        }
        let body = jsonObject { output in
            output.member("error", refusal.message)
            output.member("kind", "gate")
        }
        let text =
            "HTTP/1.1 \(refusal.status)\r\nContent-Type: application/json; charset=utf-8\r\n"
            + "Content-Length: \(body.count)\r\nX-Content-Type-Options: nosniff\r\n"
            + "Cache-Control: no-store\r\nConnection: close\r\n\r\n"
        toClient += Array(text.utf8) + body
        leave(now)
    }
}
