public import NIOCore
public import NIOHTTP1

/// Decides which requests of a network listener are answered, and for which client.
///
/// All methods are called on the connection's event loop: decide from memory.
public protocol HTTPGate: Sendable {
    /// Decides from the request's head, before its body is read.
    func decide(_ request: HTTPRequest) -> HTTPDecision

    /// Called when the client of a request is known: when it was admitted, and again when a route has found a
    /// client in its body.
    func recognised(_ client: HTTPClient, on channel: any Channel)

    /// Called when an admitted request begins, before its body is read. The connection ends with the request, or with
    /// the WebSocket that the request opened; `RPCConnection.close` ends both.
    func opened(_ connection: RPCConnection, for request: HTTPRequest)

    /// Checks the handshake of a WebSocket; returns the header fields that accept it.
    func handshake(_ head: HTTPRequestHead, on channel: any Channel) -> EventLoopFuture<HTTPHeaders>

    /// The handlers of an accepted WebSocket: they turn its messages into lines and lines into messages.
    func frameHandlers(for request: HTTPRequest) -> [any ChannelHandler]
}

extension HTTPGate {
    public func recognised(_ client: HTTPClient, on channel: any Channel) {}
}

/// The decision of a gate about a request.
public struct HTTPDecision: Sendable {
    public enum Outcome: Sendable {
        /// The request is not carried out. The answer is sent after the delay.
        case refused(HTTPAnswer, after: Duration)
        /// The request is answered as this client's.
        case admitted(HTTPClient)
        /// The request opens a WebSocket for this client.
        case upgraded(HTTPClient)
    }

    public var outcome: Outcome
    /// Header fields that are added to the answer.
    public var headers: [(name: String, value: String)]

    public init(_ outcome: Outcome, headers: [(name: String, value: String)] = []) {
        self.outcome = outcome
        self.headers = headers
    }
}

/// The client for whom a request is answered.
public struct HTTPClient: Hashable, Sendable {
    /// The user, as if its process had connected to a Unix socket. The process is 0.
    public let user: PeerCredentials
    public let remote: RPCRemote

    public init(user: PeerCredentials, remote: RPCRemote) {
        self.user = user
        self.remote = remote
    }
}

/// The properties of a client on the network that its user's local processes do not have.
public struct RPCRemote: Hashable, Sendable {
    /// The id of the token by which the request was admitted; 0 if it needs none.
    public let tokenID: Int64
    /// True if the client may use rights that its user has as an operator.
    public let isPrivileged: Bool
    /// True if the listener uses TLS.
    public let isEncrypted: Bool
    /// The directory beneath which it may write; nil is the service's choice. It does not apply to privileged clients.
    public let directory: String?

    public init(tokenID: Int64, isPrivileged: Bool, isEncrypted: Bool, directory: String? = nil) {
        self.directory = directory
        self.tokenID = tokenID
        self.isPrivileged = isPrivileged
        self.isEncrypted = isEncrypted
    }
}
