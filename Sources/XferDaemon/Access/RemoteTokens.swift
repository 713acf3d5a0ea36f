import JSONRPC
import NIOConcurrencyHelpers
import XferGateway
import XferManager
import XferModel

/// The tokens for the gateway, each with the groups of its user.
///
/// Groups are looked up when a token is added and when the configuration is read, since a lookup may block.
final class RemoteTokens: TokenDirectory {
    private let tokens: TokenCommands
    private let users = NIOLockedValueBox<[Owner: PeerCredentials]>([:])

    init(_ tokens: TokenCommands) { self.tokens = tokens }

    /// Looks up the groups of a token's user.
    func learn(_ owner: Owner) {
        let account = AccountDirectory.account(owner.rawValue)
        // A user without an account has no groups, so only a grant to the user itself applies.
        let user = PeerCredentials(
            processID: 0, userID: owner.rawValue, groupID: account?.gid ?? AccessPolicy.overflowUID,
            supplementaryGroupIDs: account?.groups ?? [])
        users.withLockedValue { $0[owner] = user }
    }

    /// Looks up the groups of all tokens' users.
    func refresh() async throws {
        for owner in Set(try await tokens.list().map(\.owner)) { learn(owner) }
    }

    func token(for text: String) -> GatewayToken? { tokens.token(for: text).flatMap { complete($0) } }

    func token(_ id: Int64) -> GatewayToken? { tokens.token(id).flatMap { complete($0) } }

    private func complete(_ token: AccessToken) -> GatewayToken? {
        users.withLockedValue { $0[token.owner] }.map {
            GatewayToken(id: token.id, name: token.name, user: $0, scope: token.scope, expiresAt: token.expiresAt)
        }
    }
}
