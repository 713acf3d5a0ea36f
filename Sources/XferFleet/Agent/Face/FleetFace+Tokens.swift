import JSONRPC
import XferDaemon
import XferManager
import XferModel
import XferProtocol
import XferSystem

/// `token.*` of the fleet: a token is valid at every node that listens.
extension FleetFace {
    var tokenHandlers: [Handler] {
        [
            Handler(TokenAdd.self) { params, context in try await add(params, context) },
            Handler(
                TokenList.self,
                encoding: { params, _, _ in
                    let tokens = try await attempt { () throws(FleetError) in try await database.tokens.list() }
                    return PageText.named(
                        tokens.map { record($0) }, params, as: TokenList.Result.self, name: \.name
                    ) { $0 }
                }),
            Handler(TokenRevoke.self) { params, context in
                try TokenHandlers.requireSocket(context)
                guard
                    let id = try await attempt({ () throws(FleetError) in try await database.tokens.revoke(params.name)
                    })
                else { throw ManagerError.tokenNotFound(params.name) }
                tokens.remove(id)
                return Done()
            },
        ]
    }

    private func add(_ params: TokenAdd.Params, _ context: CallContext) async throws -> TokenAdd.Result {
        try TokenHandlers.requireSocket(context)
        if let expiresAt = params.expiresAt, expiresAt <= Clocks.wall() {
            throw ManagerError.invalidField(
                path: "expires_at", reason: "the time has already passed", expected: "a time in the future")
        }
        guard params.directory == nil else {
            throw ManagerError.invalidField(
                path: "dir", reason: "a fleet's nodes have directories of their own",
                expected: "the field to be left out")
        }
        let owner = try TokenHandlers.owner(params.user, context)
        let text = TokenText.random()
        let digest = try TokenText.digest(text).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        let name = AccountDirectory.name(of: owner.rawValue) ?? owner.description
        let outcome = try await attempt { () throws(FleetError) in
            try await database.tokens.add(
                params.name, digest: digest, owner: name, scope: params.scope, expiresAt: params.expiresAt)
        }
        switch outcome {
        case .added(let token):
            tokens.insert(token)
            return TokenAdd.Result(token: record(token), secret: text)
        case .nameTaken: throw ManagerError.tokenExists(params.name)
        case .tooMany:
            throw ManagerError.limitExceeded(reason: "tokens exist; revoke some", limit: FleetToken.limit)
        }
    }

    private func record(_ token: FleetToken) -> TokenRecord {
        TokenRecord(
            AccessToken(
                id: token.id, name: token.name, owner: records.owner(token.owner), scope: token.scope,
                createdAt: token.createdAt, expiresAt: token.expiresAt))
    }
}
