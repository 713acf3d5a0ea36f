import NIOConcurrencyHelpers
import XferCore
import XferFiles
public import XferModel
import XferStore

/// Adds, lists and revokes tokens, and recognises them.
///
/// The digests of all tokens are in memory, so a request with a token reads no table.
public struct TokenCommands: ManagerPart, Sendable {
    let context: ManagerContext

    /// Most tokens that may exist.
    public static let limit = 1000

    /// Reads the tokens from the store. Call it once, before the first `token(for:)`.
    ///
    /// - Throws: `ManagerError`.
    public func load() async throws {
        let stored = try await translatingStoreErrors { try await store.read { try $0.tokens() } }
        registry.replaceAll(stored)
    }

    /// All tokens by name, expired ones too.
    ///
    /// - Throws: `ManagerError`.
    public func list() async throws -> [AccessToken] {
        try await translatingStoreErrors { try await store.read { try $0.tokens() } }.map(\.token)
    }

    /// Adds a token. `text` is the token itself, which is not kept.
    ///
    /// - Throws: `ManagerError`; no token is added then.
    public func add(
        _ name: String, for owner: Owner, _ scope: TokenScope, expiresAt: Timestamp?
    ) async throws -> (token: AccessToken, text: String) {
        let now = clock()
        if let expiresAt, expiresAt <= now {
            throw ManagerError.invalidField(
                path: "expires_at", reason: "the time is over already", expected: "a time in the future")
        }
        let text = TokenText.random()
        let digest = try TokenText.digest(text)
        let token = AccessToken(name: name, owner: owner, scope: scope, createdAt: now, expiresAt: expiresAt)
        let stored = try await translatingStoreErrors {
            try await store.write { tx in
                let known = try tx.tokens()
                guard !known.contains(where: { $0.token.name == name }) else { throw ManagerError.tokenExists(name) }
                guard known.count < Self.limit else {
                    throw ManagerError.limitExceeded(reason: "tokens exist; revoke some", limit: Self.limit)
                }
                return try tx.addToken(StoredToken(token: token, digest: digest))
            }
        }
        registry.insert(stored)
        return (stored.token, text)
    }

    /// Revokes a token: from now on it is refused, and its connections end.
    ///
    /// - Throws: `ManagerError.tokenNotFound`.
    public func revoke(_ name: String) async throws -> AccessToken {
        let token = try await translatingStoreErrors {
            try await store.write { tx in
                guard let found = try tx.tokens().first(where: { $0.token.name == name }) else {
                    throw ManagerError.tokenNotFound(name)
                }
                try tx.removeToken(named: name)
                return found.token
            }
        }
        registry.remove(token.id)
        return token
    }

    /// The token that `text` is; nil if there is none, or it has expired or was revoked.
    public func token(for text: String) -> AccessToken? {
        guard TokenText.isPlausible(text), let digest = try? TokenText.digest(text),
            let token = registry.token(withDigest: digest), !token.isExpired(at: clock())
        else { return nil }
        return token
    }

    /// The token with this id; nil if it has expired or was revoked.
    public func token(_ id: Int64) -> AccessToken? {
        registry.token(id).flatMap { $0.isExpired(at: clock()) ? nil : $0 }
    }

    /// Calls `body` with the id of each token that is revoked, after it is revoked.
    public func onRevocation(_ body: @escaping @Sendable (Int64) -> Void) { registry.onRevocation(body) }

    private var registry: TokenRegistry { context.tokens }
}

/// The tokens in memory.
final class TokenRegistry: Sendable {
    private struct State {
        var byDigest: [[UInt8]: AccessToken] = [:]
        var byID: [Int64: StoredToken] = [:]
        var onRevocation: (@Sendable (Int64) -> Void)?
    }

    private let state = NIOLockedValueBox(State())

    func replaceAll(_ tokens: [StoredToken]) {
        state.withLockedValue { state in
            state.byDigest = Dictionary(tokens.map { ($0.digest, $0.token) }) { $1 }
            state.byID = Dictionary(tokens.map { ($0.token.id, $0) }) { $1 }
        }
    }

    func insert(_ stored: StoredToken) {
        state.withLockedValue { state in
            state.byDigest[stored.digest] = stored.token
            state.byID[stored.token.id] = stored
        }
    }

    func remove(_ id: Int64) {
        let notify = state.withLockedValue { state in
            if let stored = state.byID.removeValue(forKey: id) { state.byDigest[stored.digest] = nil }
            return state.onRevocation
        }
        notify?(id)
    }

    /// Looking a digest up takes a time that depends on stored digests, which reveals nothing of a token.
    func token(withDigest digest: [UInt8]) -> AccessToken? { state.withLockedValue { $0.byDigest[digest] } }

    func token(_ id: Int64) -> AccessToken? { state.withLockedValue { $0.byID[id]?.token } }

    func onRevocation(_ body: @escaping @Sendable (Int64) -> Void) { state.withLockedValue { $0.onRevocation = body } }
}
