// Who may ask: programs of this machine that know the token, and in browsers the studio's own page alone.
//
// Every request names the studio as its host, so that a name of somebody else that was made to lead to this
// machine ("DNS rebinding") gets nothing. The page itself is given for the token in its address; what
// it asks for then carries the token in a header, which pages of other origins can't set without asking first, and
// that is refused. A page of another origin is also told by what browsers say of themselves.

import CoreSwift
import FlyingFox
import Foundation

struct Gate: Sendable {
    static let tokenHeader = HTTPHeader("X-Realm-Token")

    let token: String
    let port: UInt16

    /// 32 random bytes as hexadecimal digits.
    static func makeToken() -> String {
        var generator = SystemRandomNumberGenerator()
        return HexText.text(
            (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }

    enum Refusal: Error {
        case host, origin, token, method, type
        case size(Int)

        var status: HTTPStatusCode {
            switch self {
            case .host: return .misdirectedRequest
            case .origin, .token: return .forbidden
            case .method: return .methodNotAllowed
            case .type: return .unsupportedMediaType
            case .size: return .payloadTooLarge
            }
        }

        var message: String {
            switch self {
            case .host: return "this is a realm studio, but of another host"
            case .origin: return "only the studio's own page may ask"
            case .token: return "the address of the studio has a token, which is missing or wrong"
            case .method: return "that is asked for in another way"
            case .type: return "requests are application/json"
            case .size(let most): return "requests have at most \(most) bytes"
            }
        }
    }

    private var hosts: [String] { ["127.0.0.1:\(port)", "localhost:\(port)"] }

    /// What holds for every request.
    func checkOrigin(_ request: HTTPRequest) throws(Refusal) {
        guard let host = request.headers[.host], hosts.contains(host.lowercased()) else {
            throw .host
        }
        if let origin = request.headers[HTTPHeader("Origin")] {
            guard origin.lowercased() == "http://" + host.lowercased() else { throw .origin }
        }
        switch request.headers[HTTPHeader("Sec-Fetch-Site")] {
        case nil, "same-origin", "none": break
        default: throw .origin
        }
    }

    /// Of the page: the token in the address.
    func checkPage(_ request: HTTPRequest) throws(Refusal) {
        guard request.method == .GET else { throw .method }
        let given = request.query.first { $0.name == "token" }?.value
        guard isToken(given) else { throw .token }
    }

    /// Of a request for data: the token in the header, and a kind of body that no form can send.
    func checkData(_ request: HTTPRequest) throws(Refusal) {
        guard request.method == .POST else { throw .method }
        guard isToken(request.headers[Self.tokenHeader]) else { throw .token }
        guard let type = request.headers[.contentType],
            type.split(separator: ";").first?.lowercased() == "application/json"
        else { throw .type }
    }

    /// In a time that does not depend on how much of it is right.
    func isToken(_ given: String?) -> Bool {
        guard let given, given.utf8.count == token.utf8.count else { return false }
        return zip(given.utf8, token.utf8).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
