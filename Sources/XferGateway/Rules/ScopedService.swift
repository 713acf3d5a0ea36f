import JSONRPC
import StrictJSON
import XferModel
import XferProtocol

/// The service as a client on the network may use it: each call is checked against the scope of its token.
struct ScopedService: RPCService {
    let service: any RPCService
    let tokens: any TokenDirectory
    let fields: RestrictedFields

    func refusal(of peer: PeerCredentials) -> RPCError? { service.refusal(of: peer) }

    func isPrivileged(_ peer: PeerCredentials) -> Bool { service.isPrivileged(peer) }

    func isBulk(_ method: String) -> Bool { service.isBulk(method) }

    func isWaiting(_ method: String) -> Bool { service.isWaiting(method) }

    func hasLongAnswer(_ method: String) -> Bool { service.hasLongAnswer(method) }

    func respond(
        to method: String, params: JSONValue?, on connection: RPCConnection
    ) async throws(RPCError) -> RPCResult {
        guard let remote = connection.remote, let token = tokens.token(remote.tokenID) else {
            throw Self.denied("the token has expired or was revoked", reason: "token_revoked")
        }
        if let refusal = Self.refusal(of: method, params, scope: token.scope, fields) { throw refusal }
        return try await service.respond(to: method, params: params, on: connection)
    }

    /// The reason why a token of this scope may not make this call; nil if it may. A pure decision.
    static func refusal(
        of method: String, _ params: JSONValue?, scope: TokenScope, _ fields: RestrictedFields
    ) -> RPCError? {
        // An unknown method gets the service's answer, which names the nearest one.
        guard let known = MethodRegistry.method(named: method), scope != .operate else { return nil }
        guard scope.allows(known.scope) else {
            return denied(
                "\(method) needs a token with the scope \(needed(for: known.scope)); this one has \(scope.rawValue)",
                reason: "scope")
        }
        if scope == .add, let path = fields.firstReplacing(in: params, of: method) {
            return denied(
                "\(path): the task in the slot would be cancelled, which needs a token with the scope own or operate",
                reason: "scope", path: path)
        }
        guard let path = fields.first(in: params, of: method) else { return nil }
        return denied(
            "\(path): files of the server, hooks and webhooks need a token with the scope operate",
            reason: "scope", path: path)
    }

    private static func needed(for scope: MethodScope) -> String {
        switch scope {
        case .read: "read, own or operate"
        case .add: "add, own or operate"
        case .own: "own or operate"
        case .operate: "operate"
        }
    }

    private static func denied(_ message: String, reason: String, path: String? = nil) -> RPCError {
        RPCError(
            Int(ErrorCode.permissionDenied.rawValue), message, data: ErrorData(reason: reason, path: path).wire)
    }
}
