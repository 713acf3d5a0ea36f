import JSONRPC
import XferManager
package import XferModel
import XferProtocol

/// Handles `token.*`: decodes, authorises, calls and encodes.
package struct TokenHandlers: Sendable {
    let tokens: TokenCommands
    /// Prepares the gateway for tokens of this user.
    let learn: @Sendable (Owner) -> Void

    var all: [Handler] {
        [
            Handler(TokenAdd.self, add),
            Handler(
                TokenList.self,
                encoding: { params, _, _ in
                    PageText.named(try await tokens.list(), params, as: TokenList.Result.self, name: \.name) {
                        TokenRecord($0)
                    }
                }),
            Handler(TokenRevoke.self) { params, context in
                try Self.requireSocket(context)
                try await tokens.revoke(params.name)
                return Done()
            },
        ]
    }

    private func add(_ params: TokenAdd.Params, _ context: CallContext) async throws -> TokenAdd.Result {
        try Self.requireSocket(context)
        let owner = try Self.owner(params.user, context)
        learn(owner)
        let (token, text) = try await tokens.add(
            params.name, for: owner, params.scope, expiresAt: params.expiresAt, directory: params.directory)
        return TokenAdd.Result(token: TokenRecord(token), secret: text)
    }

    /// The user for whom the token acts; by default the caller.
    package static func owner(_ user: String?, _ context: CallContext) throws -> Owner {
        guard let user else { return context.caller.owner }
        guard let found = AccountDirectory.system.owner(user), found.rawValue != AccessPolicy.overflowUID else {
            throw ManagerError.invalidField(
                path: "user", reason: "there is no user \"\(user)\"", expected: "a user's name or uid")
        }
        return found
    }

    /// Requires a call over the Unix socket: a stolen token must not be able to create another token, which would
    /// remain valid after its revocation.
    package static func requireSocket(_ context: CallContext) throws {
        guard context.connection.remote == nil else {
            throw ManagerError.permissionDenied(path: nil, reason: "tokens are changed over the Unix socket only")
        }
    }
}
