import JSONRPC
import StrictJSON
import XferModel
import XferProtocol

/// Lets the web page work without a token in each request: by a cookie over TLS, by tickets for downloads.
///
/// Without TLS there is no cookie: browsers send cookies to every port of a host, so another user's server on the same
/// machine would receive it.
struct BrowserSessions: Sendable {
    private enum Session: Hashable, Sendable { case cookie }

    private let cookies = TemporarySecrets<Session>(lifetime: .seconds(86_400))
    private let tickets = TemporarySecrets<String>(lifetime: .seconds(30))

    /// The open connections of each session.
    private let connections = OpenConnections<String>()

    /// `__Host-` makes browsers accept it only with `Secure`, for `/`, and from this host itself (RFC 6265bis
    /// §4.1.3.2).
    static let cookieName = "__Host-xfer"
    static let sessionPath = "/session"
    static let ticketPath = "/tickets"
    static let filesPath = "/files/"

    // MARK: What requests prove

    /// The token of the session whose cookie the request has.
    func tokenID(ofCookie request: HTTPRequest) -> Int64? {
        Self.cookie(in: request).flatMap { cookies.tokenID(of: $0, .cookie) }
    }

    /// The token for which a ticket was made. The ticket counts for one request of the path.
    func tokenID(ofTicket request: HTTPRequest) -> Int64? {
        Self.ticket(in: request).flatMap { tickets.redeem($0, request.path) }
    }

    private static func ticket(in request: HTTPRequest) -> String? {
        let name = "ticket="
        guard request.path.hasPrefix(filesPath), let query = request.query, query.hasPrefix(name) else { return nil }
        return String(query.dropFirst(name.count))
    }

    /// Called when an admitted request begins: one that its cookie admitted ends with the session.
    func opened(_ connection: RPCConnection, for request: HTTPRequest) {
        // A request that ends its own session is still answered, and a ticket needs no session.
        guard request.header("authorization") == nil, request.path != Self.sessionPath,
            Self.ticket(in: request) == nil, let secret = Self.cookie(in: request)
        else { return }
        connections.add(connection, for: secret)
        // The session may have ended since the request was admitted.
        if cookies.tokenID(of: secret, .cookie) == nil { connection.close() }
    }

    /// Closes the connections of expired sessions.
    func closeExpired() {
        for secret in connections.keys where cookies.tokenID(of: secret, .cookie) == nil { connections.close(secret) }
    }

    private func end(_ secret: String) {
        cookies.remove(secret)
        connections.close(secret)
    }

    /// The session's secret in the `Cookie` fields (RFC 6265 §5.4).
    static func cookie(in request: HTTPRequest) -> String? {
        for field in request.headers where field.name.lowercased() == "cookie" {
            for pair in field.value.split(separator: ";") {
                let parts = pair.split(separator: "=", maxSplits: 1)
                guard parts.count == 2, parts[0].filter({ $0 != " " }) == cookieName else { continue }
                return String(parts[1].filter { $0 != " " })
            }
        }
        return nil
    }

    // MARK: Routes

    /// The routes for sessions and tickets.
    ///
    /// - Parameter service: checks whether a caller may read the task for which it wants a ticket.
    func routes(_ service: any RPCService) -> [HTTPRoute] {
        [
            HTTPRoute(Self.sessionPath, methods: ["POST", "DELETE"]) { request, connection in
                session(request, connection)
            },
            HTTPRoute(Self.ticketPath, methods: ["POST"]) { request, connection in
                await ticket(request, connection, service)
            },
        ]
    }

    private func session(_ request: HTTPRequest, _ connection: RPCConnection) -> HTTPAnswer {
        guard let remote = connection.remote, remote.isEncrypted else {
            return .text("sessions need TLS; send the token with each request\n", status: 403)
        }
        if request.method == "DELETE" {
            if let secret = Self.cookie(in: request) { end(secret) }
            return .cookie("\(Self.cookieName)=; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=0")
        }
        guard request.header("authorization") != nil else {
            return .text("a session needs a token: Authorization: Bearer …\n", status: 400)
        }
        // The browser is going to replace its cookie, so the old one is of no use to its user.
        if let old = Self.cookie(in: request) { end(old) }
        let secret = cookies.issue(.cookie, tokenID: remote.tokenID)
        return .cookie("\(Self.cookieName)=\(secret); Path=/; Secure; HttpOnly; SameSite=Strict")
    }

    private func ticket(
        _ request: HTTPRequest, _ connection: RPCConnection, _ service: any RPCService
    ) async -> HTTPAnswer {
        guard let remote = connection.remote, remote.tokenID != HTTPClient.anonymousToken,
            let id = (try? JSONValue(parsing: request.body))?["task"]?.integerValue, id > 0
        else { return .text("expected {\"task\": ID}\n", status: 400) }
        do throws(RPCError) {
            let params: JSONValue = ["id": .integer(id), "fields": ["id"]]
            _ = try await service.respond(to: TaskGet.name, params: params, on: connection)
        } catch {
            return .text("\(error.message)\n", status: error.code == ErrorCode.notFound.rawValue ? 404 : 403)
        }
        let path = "\(Self.filesPath)\(id)"
        let ticket = tickets.issue(path, tokenID: remote.tokenID)
        let answer: JSONValue = ["path": .string("\(path)?ticket=\(ticket)")]
        return HTTPAnswer(
            contentType: "application/json", headers: [("Cache-Control", "no-store")],
            body: .bytes(Array("\(answer.text)\n".utf8)))
    }
}

extension HTTPAnswer {
    fileprivate static func cookie(_ text: String) -> HTTPAnswer {
        HTTPAnswer(
            status: 204, contentType: "", headers: [("Set-Cookie", text), ("Cache-Control", "no-store")],
            body: .bytes([]))
    }
}
