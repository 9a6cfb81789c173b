// Answers requests: the files of the page, and what the page asks of the files. Everything that changes or reads
// data is a POST with a JSON object to /api/NAME; the names are those of `answer`.

import CoreSwift
import FlyingFox
import FlyingSocks
import Foundation

struct StudioServer: HTTPHandler {
    /// No request is larger: a value that is typed or pasted, a key.
    static let bodyBytesMax = 4 << 20

    let gate: Gate
    let files: [EngineThread]
    let paths: [String]
    let isReadOnly: Bool

    func handleRequest(_ request: HTTPRequest) async -> HTTPResponse {
        do {
            try gate.checkOrigin(request)
            if request.path.hasPrefix("/api/") {
                try gate.checkData(request)
                return await data(request)
            }
            return try page(request)
        } catch let refusal as Gate.Refusal {
            return Self.refuse(refusal)
        } catch {
            return Self.json(errorBody(error), .internalServerError)
        }
    }

    // MARK: The page

    private func page(_ request: HTTPRequest) throws -> HTTPResponse {
        if request.path == "/" {
            try gate.checkPage(request)
            return Self.response(Page.index, "text/html; charset=utf-8")
        }
        guard request.method == .GET else { throw Gate.Refusal.method }
        // They have nothing in them that is anybody's.
        guard let file = Page.files[String(request.path.dropFirst())] else {
            return Self.json(
                errorBody(StudioError(.missing, "the studio has no page '\(request.path)'")),
                .notFound)
        }
        return Self.response(file.content, file.type)
    }

    // MARK: Data

    private func data(_ request: HTTPRequest) async -> HTTPResponse {
        do {
            let body = try await Self.body(request)
            let asked = try Request(body)
            let name = String(request.path.dropFirst("/api/".count))
            return Self.json(try await answer(name, asked), .ok)
        } catch let refusal as Gate.Refusal {
            return Self.refuse(refusal)
        } catch let error as StudioError {
            let status: HTTPStatusCode =
                switch error.kind {
                case .refused: .badRequest
                case .locked: .locked
                case .missing: .notFound
                case .outdated: .conflict
                }
            return Self.json(errorBody(error), status)
        } catch {
            return Self.json(errorBody(error), .unprocessableContent)
        }
    }

    private static func body(_ request: HTTPRequest) async throws -> [UInt8] {
        // Of a body in pieces the size is not known before.
        if let count = request.bodySequence.count, count > bodyBytesMax {
            throw Gate.Refusal.size(bodyBytesMax)
        }
        var bytes: [UInt8] = []
        for try await piece in request.bodySequence {
            bytes.append(contentsOf: piece)
            guard bytes.count <= bodyBytesMax else { throw Gate.Refusal.size(bodyBytesMax) }
        }
        return bytes
    }

    private func answer(_ name: String, _ request: Request) async throws -> [UInt8] {
        if name == "files" {
            return jsonObject { output in
                output.member("readOnly", isReadOnly)
                output.member("files", paths)
            }
        }
        let number = try request.count("file", atMost: .max)
        guard number < files.count else {
            throw StudioError(.missing, "the studio has no file \(number)")
        }
        let thread = files[number]
        switch name {
        case "open":
            let key = try Self.key(request)
            return try await thread.run { file in
                try file.open(key: key)
                return try file.schema()
            }
        case "close":
            return try await thread.run { file in
                file.close()
                return jsonObject { _ in }
            }
        case "wait":
            let version = await thread.wait(beyond: try request.integer("version"))
            return jsonObject { $0.member("version", Int(version)) }
        default:
            guard let verb = Self.verbs[name] else {
                throw StudioError(.missing, "the studio has no request '\(name)'")
            }
            return try await thread.run { file in try verb(file, request) }
        }
    }

    private static let verbs: [String: @Sendable (StudioFile, Request) throws -> [UInt8]] = [
        "schema": { file, _ in try file.schema() },
        "view": { try $0.describeView($1) },
        "rows": { try $0.rows($1) },
        "position": { try $0.position($1) },
        "object": { try $0.object($1) },
        "find": { try $0.find($1) },
        "elements": { try $0.elements($1) },
        "edit": { try $0.edit($1) },
        "undo": { file, _ in try file.undo() },
        "redo": { file, _ in try file.redo() },
        "export": { try $0.export($1) },
        "statistics": { file, _ in try file.statistics() },
        "histogram": { try $0.histogram($1) },
        "preview": { try $0.previewSchema($1) },
        "migrate": { try $0.changeSchema($1) },
    ]

    /// The key that was given, 128 hexadecimal digits; empty without one.
    private static func key(_ request: Request) throws -> [UInt8] {
        guard let text = try request.optionalText("key"), !text.isEmpty else { return [] }
        guard let bytes = ValueText.bytes(hexadecimal: text), bytes.count == 64 else {
            throw StudioError(.locked, "a key is 64 bytes, as 128 hexadecimal digits or a file")
        }
        return bytes
    }

    // MARK: Answers

    /// The page may load what is the studio's and nothing else, may not be framed, and tells nobody its address.
    private static let headers: [(HTTPHeader, String)] = [
        (
            HTTPHeader("Content-Security-Policy"),
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
                + "connect-src 'self'; base-uri 'none'; form-action 'none'; "
                + "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
        ),
        (HTTPHeader("X-Content-Type-Options"), "nosniff"),
        (HTTPHeader("Referrer-Policy"), "no-referrer"),
        (HTTPHeader("Cross-Origin-Opener-Policy"), "same-origin"),
        (HTTPHeader("Cross-Origin-Resource-Policy"), "same-origin"),
        (.cacheControl, "no-store"),
    ]

    private static func response(
        _ body: [UInt8], _ type: String, _ status: HTTPStatusCode = .ok
    ) -> HTTPResponse {
        var headers = HTTPHeaders()
        for (name, value) in Self.headers { headers[name] = value }
        headers[.contentType] = type
        return HTTPResponse(statusCode: status, headers: headers, body: Data(body))
    }

    private static func json(_ body: [UInt8], _ status: HTTPStatusCode) -> HTTPResponse {
        response(body, "application/json; charset=utf-8", status)
    }

    private static func refuse(_ refusal: Gate.Refusal) -> HTTPResponse {
        let body = jsonObject { output in
            output.member("error", refusal.message)
            output.member("kind", "gate")
        }
        var answer = json(body, refusal.status)
        // What is left of a body that nobody reads would be taken for the next request.
        answer.headers[.connection] = "close"
        return answer
    }
}
