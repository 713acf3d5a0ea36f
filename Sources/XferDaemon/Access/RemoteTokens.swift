import JSONRPC
import NIOConcurrencyHelpers
package import XferGateway
package import XferManager
package import XferModel

/// The tokens for the gateway, each with the groups of its user.
///
/// Groups are looked up when a token is added and when the configuration is read, since a lookup may block.
package final class RemoteTokens: TokenDirectory {
    private let registry: TokenRegistry
    private let clock: @Sendable () -> Timestamp
    private let users = NIOLockedValueBox<[Owner: PeerCredentials]>([:])

    package init(_ registry: TokenRegistry, clock: @escaping @Sendable () -> Timestamp) {
        self.registry = registry
        self.clock = clock
    }

    /// Looks up the groups of a token's user.
    package func learn(_ owner: Owner) {
        let account = AccountDirectory.account(owner.rawValue)
        // A user without an account has no groups, so only a grant to the user itself applies.
        let user = PeerCredentials(
            processID: 0, userID: owner.rawValue, groupID: account?.gid ?? AccessPolicy.overflowUID,
            supplementaryGroupIDs: account?.groups ?? [])
        users.withLockedValue { $0[owner] = user }
    }

    /// Looks up the groups of all tokens' users.
    package func refresh() {
        for owner in Set(registry.all.map(\.owner)) { learn(owner) }
    }

    /// Looks up the groups of users that are not known yet.
    package func learnNew() {
        let known = users.withLockedValue { Set($0.keys) }
        for owner in Set(registry.all.map(\.owner)).subtracting(known) { learn(owner) }
    }

    package func token(for text: String) -> GatewayToken? { registry.token(for: text, at: clock()).flatMap(complete) }

    package func token(_ id: Int64) -> GatewayToken? { registry.token(id, at: clock()).flatMap(complete) }

    private func complete(_ token: AccessToken) -> GatewayToken? {
        users.withLockedValue { $0[token.owner] }.map {
            GatewayToken(
                id: token.id, name: token.name, user: $0, scope: token.scope, expiresAt: token.expiresAt,
                directory: token.directory)
        }
    }
}
