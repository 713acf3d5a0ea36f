public import JSONRPC
public import XferModel
import XferProtocol

/// A client's token, as the service knows it.
public struct GatewayToken: Hashable, Sendable {
    public var id: Int64
    public var name: String
    /// The user it calls for, with the user's groups.
    public var user: PeerCredentials
    public var scope: TokenScope
    public var expiresAt: Timestamp?
    /// The directory beneath which its tasks write; nil is the directory for downloads.
    public var directory: String?

    public init(
        id: Int64, name: String, user: PeerCredentials, scope: TokenScope, expiresAt: Timestamp? = nil,
        directory: String? = nil
    ) {
        self.directory = directory
        self.id = id
        self.name = name
        self.user = user
        self.scope = scope
        self.expiresAt = expiresAt
    }
}

/// Recognises tokens. Called on event loops: answer from memory.
public protocol TokenDirectory: Sendable {
    /// The token that `text` is; nil if there is none, or it has expired or was revoked.
    func token(for text: String) -> GatewayToken?

    /// The token with this id; nil if it has expired or was revoked.
    func token(_ id: Int64) -> GatewayToken?
}

/// The requests of a scope that are allowed in addition to RPC methods.
enum RouteRules {
    /// True if a path is answered without `Authorization`: the health check, the files of the web page, which contain
    /// no secrets, and aria2's paths, whose tokens are in the calls.
    static func isOpen(_ path: String) -> Bool {
        path == "/healthz" || isPage(path) || Aria2Facade.paths.contains(path)
    }

    /// True if a path is the web page's.
    static func isPage(_ path: String) -> Bool { path == "/" || path.hasPrefix("/web/") }

    /// True if a token of this scope may get the resource. `POST /rpc` and `/ws` are decided for each method.
    static func allows(_ scope: TokenScope, _ path: String) -> Bool {
        switch path {
        case "/metrics": scope != .add
        case "/events": scope.allows(.read)
        case "/openrpc.json", BrowserSessions.sessionPath: true
        case BrowserSessions.ticketPath: scope.allows(.read)
        case let path where path.hasPrefix(BrowserSessions.filesPath): scope.allows(.read)
        case let path where isPage(path): true
        default: scope != .metrics
        }
    }
}
