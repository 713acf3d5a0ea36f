import XferDaemon
import XferManager
import XferModel
import XferStore
import XferSystem

/// The fleet's tokens on this node, by which the gateway recognises clients.
///
/// They are read again with every beat, so that a token that was revoked at another node is refused here, too.
struct FleetTokens: Sendable {
    let database: FleetDatabase
    let registry = TokenRegistry()
    let remote: RemoteTokens

    init(_ database: FleetDatabase) {
        self.database = database
        remote = RemoteTokens(registry, clock: Clocks.wall)
    }

    /// Reads the tokens again.
    ///
    /// - Throws: `FleetError`; the tokens of the last reading stay valid until the next.
    func refresh() async throws(FleetError) {
        registry.replaceAll(try await database.tokens.list().compactMap { Self.stored($0) })
        remote.learnNew()
    }

    /// Adds a token that was created here, so that it is valid at once.
    func insert(_ token: FleetToken) {
        guard let stored = Self.stored(token) else { return }
        remote.learn(stored.token.owner)
        registry.insert(stored)
    }

    func remove(_ id: Int64) { registry.remove(id) }

    /// The token for this machine, or nil if this machine does not know the user: then the token is refused here.
    private static func stored(_ token: FleetToken) -> StoredToken? {
        guard let uid = AccountDirectory.system.uid(token.owner) ?? UInt32(token.owner, radix: 10),
            let digest = bytes(token.digest)
        else { return nil }
        return StoredToken(
            token: AccessToken(
                id: token.id, name: token.name, owner: Owner(uid: uid), scope: token.scope,
                createdAt: token.createdAt, expiresAt: token.expiresAt), digest: digest)
    }

    /// The bytes of hexadecimal digits.
    private static func bytes(_ text: String) -> [UInt8]? {
        let digits = text.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
        guard digits.count == text.utf8.count, digits.count.isMultiple(of: 2) else { return nil }
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(clamping: digits[$0] << 4 | digits[$0 + 1]) }
    }
}
