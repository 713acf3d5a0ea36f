import NIOConcurrencyHelpers
import StrictJSON
import Testing
import XferModel
import XferTestSupport

/// Every method with every kind of content and of task, on every way to the answer, judged by what the server received.
@Suite struct ExchangeTableTests {
    /// The way from the request to the answer.
    private enum Way: String, CaseIterable {
        case direct, found, seeOther, temporary, permanent, digest, broken

        /// The status of the redirect; nil without one.
        var redirect: Int? {
            switch self {
            case .found: 302
            case .seeOther: 303
            case .temporary: 307
            case .permanent: 308
            case .direct, .digest, .broken: nil
            }
        }
    }

    /// A kind of content, as a field of `task.add`, and the text that the server has to receive.
    private struct Content {
        let name: String
        let fields: JSONObject
        /// Nil for a form of parts, whose boundary is drawn: it contains `piece`.
        let text: String?
        let type: String?
        static let piece = "a piece of a form"

        static func all(in directory: String) -> [Content] {
            let file = JSONValue.string(directory + "/sent")
            return [
                Content(name: "nothing", fields: [:], text: "", type: nil),
                Content(name: "raw", fields: ["body": ["raw": "raw text"]], text: "raw text", type: nil),
                Content(
                    name: "json", fields: ["body": ["json": ["a": 1]]], text: "{\"a\":1}", type: "application/json"),
                Content(
                    name: "form", fields: ["body": ["form": ["a": "b c"]]], text: "a=b%20c",
                    type: "application/x-www-form-urlencoded"),
                Content(name: "file", fields: ["body": ["file": file]], text: "of a file", type: nil),
                Content(
                    name: "parts", fields: ["parts": [["name": "p", "data": .string(piece)]]], text: nil,
                    type: "multipart/form-data"),
            ]
        }
    }

    /// One cell of the table.
    private struct Cell {
        let kind: String
        let method: String
        let content: Content
        let way: Way
        var name: String { "\(kind) \(method) \(content.name) \(way.rawValue)" }

        /// True if `task.add` has to accept it.
        var isValid: Bool {
            let hasContent = content.name != "nothing"
            if hasContent, ["GET", "HEAD"].contains(method) { return false }
            switch kind {
            case "download": return method != "HEAD"
            case "upload": return hasContent && method != "DELETE"
            default: return true
            }
        }

        /// True if a request may be sent again (RFC 9110 §9.2.2).
        var isIdempotent: Bool { !["POST", "PATCH"].contains(method) }

        /// The method of the request that gets the answer (RFC 9110 §15.4).
        var lastMethod: String {
            switch way {
            case .seeOther: method == "HEAD" ? "HEAD" : "GET"
            case .found: method == "POST" ? "GET" : method
            default: method
            }
        }

        /// True if the request that gets the answer has the content.
        var sendsAgain: Bool { lastMethod == method }
    }

    private static let realm = DigestRealm(user: "u", password: "p")
    private static let answer = "the answer"

    /// Answers `/way/number`, and `/end/number` after a redirect. `isFirst`: no request for this path came before.
    private static func reply(to request: RecordedRequest, _ isFirst: Bool) -> Reply {
        let parts = request.path.split(separator: "/").map(String.init)
        guard parts.count == 2, let way = Way(rawValue: parts[0]) else { return Reply(200, text: answer) }
        if let status = way.redirect { return .redirect(to: "/end/\(parts[1])", status: status) }
        switch way {
        case .digest: return realm.reply(to: request, nonce: "n") { Reply(200, text: answer) }
        case .broken where isFirst:
            return Reply(
                200, headers: [HeaderField(name: "Content-Length", value: "10")], body: [.bytes(Array("the".utf8))],
                ending: .close)
        default: return Reply(200, text: answer)
        }
    }

    @Test(arguments: ["download", "data", "upload"])
    func theServerReceivesWhatTheTaskSays(_ kind: String) async throws {
        let server = try await FaultServer()
        let seen = NIOLockedValueBox<Set<String>>([])
        server.onAnyOther { request in
            Self.reply(to: request, seen.withLockedValue { $0.insert(request.path).inserted })
        }
        try await withDaemon { daemon in
            try FileTree.write("of a file", to: "\(daemon.downloads)/sent")
            let methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]
            let cells = methods.flatMap { method in
                Content.all(in: daemon.downloads).flatMap { content in
                    Way.allCases.map { Cell(kind: kind, method: method, content: content, way: $0) }
                }
            }
            var added: [(cell: Cell, number: Int, id: Int64)] = []
            for (number, cell) in cells.enumerated() {
                var fields = cell.content.fields
                fields["kind"] = .string(kind)
                fields["method"] = .string(cell.method)
                if kind == "download" { fields["output"] = .string("answer\(number)") }
                if cell.way == .digest { fields["credential"] = ["scheme": "digest", "user": "u", "password": "p"] }
                let url = server.url("/\(cell.way.rawValue)/\(number)")
                if cell.isValid {
                    added.append((cell, number, try await daemon.add(url, fields)))
                } else {
                    let refusal = await #expect(throws: RPCRefusal.self, "\(cell.name)") {
                        try await daemon.add(url, fields)
                    }
                    #expect(
                        ["conflicting_fields", "missing"].contains(refusal?.reason), "\(cell.name): \(refusal as Any)")
                }
            }
            for (cell, number, id) in added {
                let view = try await daemon.finish(id)
                // A request that may not be sent again, and whose answer broke off, fails.
                let completes = cell.way != .broken || cell.isIdempotent || cell.method == "HEAD"
                #expect(view.state == (completes ? "completed" : "failed"), "\(cell.name): \(view.json.text)")
                if completes, kind == "download" {
                    #expect(try FileTree.text("\(daemon.downloads)/answer\(number)") == Self.answer, "\(cell.name)")
                }
                check(cell, server.requests.filter { $0.path.hasSuffix("/\(number)") })
            }
        }
    }

    private func check(_ cell: Cell, _ requests: [RecordedRequest]) {
        let count =
            switch cell.way {
            case .direct: 1
            case .broken: cell.isIdempotent && cell.method != "HEAD" ? 2 : 1
            default: 2
            }
        #expect(requests.count == count, "\(cell.name): \(requests.map { "\($0.method) \($0.target)" })")
        guard let first = requests.first, let last = requests.last else { return }
        #expect(first.method == cell.method && last.method == cell.lastMethod, "\(cell.name): \(requests)")
        // The first request of digest authentication may omit the content: it will be refused.
        if cell.way != .digest { checkContent(of: cell, first) }
        if cell.sendsAgain {
            checkContent(of: cell, last)
        } else {
            #expect(last.body == [] && last.header("Content-Type") == nil, "\(cell.name): \(last)")
            #expect(["0", nil].contains(last.header("Content-Length")), "\(cell.name): \(last)")
        }
    }

    private func checkContent(of cell: Cell, _ request: RecordedRequest) {
        let type = request.header("Content-Type")
        if let expected = cell.content.type {
            #expect(type?.hasPrefix(expected) == true, "\(cell.name): \(type ?? "no type")")
        }
        let body = String(decoding: request.body, as: UTF8.self)
        if let text = cell.content.text {
            #expect(body == text, "\(cell.name)")
        } else {
            #expect(body.contains(Content.piece), "\(cell.name): \(body)")
        }
        guard !request.body.isEmpty else { return }
        #expect(request.header("Content-Length") == "\(request.body.count)", "\(cell.name)")
    }
}
