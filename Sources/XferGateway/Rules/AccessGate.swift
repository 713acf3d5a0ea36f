import JSONRPC
import NIOCore
import NIOHTTP1
import NIOWebSocket
import XferModel

/// Decides about the requests of one listener: first by `Host` and `Origin`, then by the token.
struct AccessGate: HTTPGate {
    let browser: BrowserRules
    let service: any RPCService
    let tokens: any TokenDirectory
    let connections: OpenConnections<Int64>
    let users: UserConnections
    let browserSessions: BrowserSessions
    let refusals: RefusalRecorder
    let aria2: Aria2Sockets
    /// The highest number of bytes of a message of a WebSocket.
    let messageBytes: Int
    /// Called for each request that is answered.
    let onClient: @Sendable (HTTPClient, any Channel) -> Void

    /// The delay of the answer to a wrong token. Tokens cannot be guessed; the delay keeps a client with a wrong one
    /// from repeating it at full speed.
    static let delay = Duration.seconds(1)

    static let socketPath = "/ws"

    func decide(_ request: HTTPRequest) -> HTTPDecision {
        let verdict = browser.judge(request)
        let shared: [(name: String, value: String)]
        switch verdict {
        case .allowed:
            shared = []
        case .allowedFrom(let origin):
            shared = SecurityHeaders.sharing(with: origin)
        case .preflight(let origin):
            let answer = HTTPAnswer(status: 204, contentType: "", body: .bytes([]))
            return HTTPDecision(
                .refused(answer, after: .zero), headers: SecurityHeaders.all + SecurityHeaders.preflight(for: origin))
        case .refused(let refusal):
            refusals.record(.init(refusal))
            return HTTPDecision(
                .refused(refusal.answer(origin: request.header("origin")), after: .zero), headers: SecurityHeaders.all)
        }
        let headers = RouteRules.isPage(request.path) ? SecurityHeaders.page : SecurityHeaders.all
        return HTTPDecision(admission(of: request), headers: headers + shared)
    }

    private func admission(of request: HTTPRequest) -> HTTPDecision.Outcome {
        let found: GatewayToken?
        let fields = request.headers.filter { $0.name.lowercased() == "authorization" }
        if let field = fields.first?.value {
            // A proxy before the listener may have judged the other one of two fields.
            guard fields.count == 1, let token = Self.bearer(field).flatMap(tokens.token(for:)) else {
                refusals.record(.wrongToken)
                return .refused(
                    .unauthorized(
                        "the token is unknown; it may have expired or been revoked\n", error: "invalid_token"),
                    after: Self.delay)
            }
            found = token
        } else {
            found = standIn(for: request)
        }
        guard let token = found else {
            if RouteRules.isOpen(request.path) {
                let anonymous = HTTPClient.anonymous(isEncrypted: browser.isEncrypted)
                return Self.opensAria2Socket(request) ? .upgraded(anonymous) : .admitted(anonymous)
            }
            refusals.record(.missingToken)
            return .refused(.unauthorized("a token is required: Authorization: Bearer …\n"), after: .zero)
        }
        // The user's grant may have been withdrawn since the token was made.
        if let refusal = service.refusal(of: token.user) {
            refusals.record(.user)
            return .refused(.text("\(refusal.message)\n", status: 403), after: .zero)
        }
        guard RouteRules.allows(token.scope, request.path) else {
            refusals.record(.scope)
            return .refused(
                .text("the token's scope, \(token.scope.rawValue), does not allow this\n", status: 403), after: .zero)
        }
        guard users.admits(token) else {
            refusals.record(.tooManyClients)
            return .refused(users.refusal, after: .zero)
        }
        let client = HTTPClient(
            user: token.user,
            remote: RPCRemote(
                tokenID: token.id, isPrivileged: token.scope == .operate, isEncrypted: browser.isEncrypted,
                directory: token.directory))
        if Self.opensAria2Socket(request) { return .upgraded(client) }
        guard request.path == Self.socketPath else { return .admitted(client) }
        guard Self.opensSocket(request) else {
            return .refused(.text("this path is for WebSockets only (RFC 6455)\n", status: 426), after: .zero)
        }
        return .upgraded(client)
    }

    /// The token that a ticket or a session represents, if the request has one.
    private func standIn(for request: HTTPRequest) -> GatewayToken? {
        if let id = browserSessions.tokenID(ofTicket: request) { return tokens.token(id) }
        guard browser.admitsCookie(request) else { return nil }
        return browserSessions.tokenID(ofCookie: request).flatMap { tokens.token($0) }
    }

    private static func opensSocket(_ request: HTTPRequest) -> Bool {
        let connection = request.header("connection")?.lowercased() ?? ""
        // Without the second field a proxy before the listener would not know that the connection is no HTTP any more.
        return request.method == "GET" && request.header("upgrade")?.lowercased() == "websocket"
            && connection.split(separator: ",").contains { $0.filter { $0 != " " } == "upgrade" }
    }

    /// True for the request that opens aria2's WebSocket, which is at the path of its `POST`.
    private static func opensAria2Socket(_ request: HTTPRequest) -> Bool {
        request.path == Aria2Facade.jsonPath && opensSocket(request)
    }

    /// The token in an `Authorization` field (RFC 6750 §2.1); nil if the field has another scheme.
    static func bearer(_ field: String) -> String? {
        let parts = field.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
        return parts[1].split(separator: " ").first.map(String.init)
    }

    func recognised(_ client: HTTPClient, on channel: any Channel) { onClient(client, channel) }

    func opened(_ connection: RPCConnection, for request: HTTPRequest) {
        if Self.opensAria2Socket(request) { aria2.opened(connection) }
        guard let id = connection.remote?.tokenID, id != HTTPClient.anonymousToken else { return }
        connections.add(connection, for: id)
        users.add(connection)
        // The token may have been revoked since `decide`, before the connection was in the list.
        if tokens.token(id) == nil { connection.close() }
        browserSessions.opened(connection, for: request)
    }

    func handshake(_ head: HTTPRequestHead, on channel: any Channel) -> EventLoopFuture<HTTPHeaders> {
        let upgrader = NIOWebSocketServerUpgrader(
            shouldUpgrade: { channel, _ in channel.eventLoop.makeSucceededFuture(HTTPHeaders()) },
            upgradePipelineHandler: { channel, _ in channel.eventLoop.makeSucceededVoidFuture() })
        return upgrader.buildUpgradeResponse(
            channel: channel, upgradeRequest: head, initialResponseHeaders: HTTPHeaders()
        ).map { headers in
            var headers = headers
            headers.replaceOrAdd(name: "Upgrade", value: "websocket")
            headers.replaceOrAdd(name: "Connection", value: "Upgrade")
            return headers
        }
    }

    func frameHandlers(for request: HTTPRequest) -> [any ChannelHandler] {
        let maxBytes = Self.opensAria2Socket(request) ? min(Aria2Facade.maxMessageBytes, messageBytes) : messageBytes
        return [
            WebSocketFrameEncoder(),
            ByteToMessageHandler(ClientFrameDecoder(maxFrameSize: maxBytes)),
            WebSocketProtocolErrorHandler(),
            ClientFrames(),
            NIOWebSocketFrameAggregator(
                minNonFinalFragmentSize: 1, maxAccumulatedFrameCount: 1024, maxAccumulatedFrameSize: maxBytes),
            WebSocketLines(),
        ]
    }
}

extension HTTPClient {
    /// A client without a token. Its user may call nothing: uid 65534 represents every unknown user.
    static func anonymous(isEncrypted: Bool) -> HTTPClient {
        HTTPClient(
            user: PeerCredentials(processID: 0, userID: 65534, groupID: 65534),
            remote: RPCRemote(tokenID: anonymousToken, isPrivileged: false, isEncrypted: isEncrypted))
    }

    /// The id that anonymous requests have instead of a token's; ids of tokens are greater.
    static let anonymousToken: Int64 = 0
}

extension HTTPAnswer {
    /// The answer 401 (RFC 6750 §3).
    fileprivate static func unauthorized(_ text: String, error: String? = nil) -> HTTPAnswer {
        var answer = HTTPAnswer.text(text, status: 401)
        answer.headers = [("WWW-Authenticate", "Bearer" + (error.map { " error=\"\($0)\"" } ?? ""))]
        return answer
    }
}
