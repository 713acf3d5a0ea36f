import XferCore
import XferFiles
public import XferModel
import XferStore

/// Adds, lists and revokes tokens, and recognises them.
///
/// The digests of all tokens are in memory, so a request with a token reads no table.
public struct TokenCommands: ManagerPart, Sendable {
    let context: ManagerContext

    /// The highest number of tokens that may exist.
    public static let limit = 1000

    /// Reads the tokens from the store. Call it once, before the first `token(for:)`.
    ///
    /// - Throws: `ManagerError`.
    public func load() async throws {
        let stored = try await translatingStoreErrors { try await store.read { try $0.tokens.all() } }
        registry.replaceAll(stored)
    }

    /// All tokens by name, expired ones too.
    ///
    /// - Throws: `ManagerError`.
    public func list() async throws -> [AccessToken] {
        await context.findDamagedRows()
        return try await translatingStoreErrors { try await store.read { try $0.tokens.all() } }.map(\.token)
    }

    /// Adds a token. `text` is the token itself, which is not kept.
    ///
    /// - Parameter directory: where its tasks write, absolute; nil is the directory for downloads.
    /// - Throws: `ManagerError`; no token is added then.
    public func add(
        _ name: String, for owner: Owner, _ scope: TokenScope, expiresAt: Timestamp?,
        directory: String? = nil
    ) async throws -> (token: AccessToken, text: String) {
        let now = clock()
        if let expiresAt, expiresAt <= now {
            throw ManagerError.invalidField(
                path: "expires_at", reason: "the time has already passed", expected: "a time in the future")
        }
        try await check(directory, of: owner, scope)
        let text = TokenText.random()
        let digest = try TokenText.digest(text)
        let token = AccessToken(
            name: name, owner: owner, scope: scope, createdAt: now, expiresAt: expiresAt,
            directory: directory)
        let stored = try await translatingStoreErrors {
            try await store.write { tx in
                let (known, damaged) = try tx.tokens.readable()
                let names = known.map(\.token.name) + damaged.map(\.name)
                guard !names.contains(name) else { throw ManagerError.tokenExists(name) }
                guard names.count < Self.limit else {
                    throw ManagerError.limitExceeded(reason: "tokens exist; revoke some", limit: Self.limit)
                }
                return try tx.tokens.add(StoredToken(token: token, digest: digest))
            }
        }
        registry.insert(stored)
        return (stored.token, text)
    }

    /// Throws unless the directory exists beneath a root of the owner's, and the token adds tasks that are confined.
    private func check(_ directory: String?, of owner: Owner, _ scope: TokenScope) async throws {
        guard let directory else { return try await requireDownloads(of: owner, scope) }
        guard scope == .add || scope == .own else {
            throw ManagerError.invalidField(
                path: "dir", reason: "tokens with the scope \(scope.rawValue) are not confined",
                expected: "the field to be left out, or the scope add or own")
        }
        do throws(FileError) {
            try await services.pool(of: owner, forPath: directory).run {
                [rights = services.rights] () throws(FileError) in
                _ = try rights.rootsOfTokens(of: owner).open(directory: directory)
            }
        } catch {
            throw ManagerError.invalidField(
                path: "dir", reason: reason(error, for: owner),
                expected: "a directory in which the token's user may write")
        }
    }

    /// The text of the failure, with the line that allows a directory outside the roots.
    private func reason(_ error: FileError, for owner: Owner) -> String {
        guard case .outsideRoots(let refused, let roots) = error else { return error.description }
        let advice = RootsAdvice(
            refused: refused, roots: roots, file: settings.configurationFile, grants: settings.grants)
        if settings.isOperator(owner) { return advice.ofOperator }
        return roots.isEmpty ? advice.ofUnlisted(owner) : advice.ofGuest(owner)
    }

    /// Throws if the token would add tasks beneath the directory for downloads, where a guest may not write: each of its
    /// adds would be refused.
    private func requireDownloads(of owner: Owner, _ scope: TokenScope) async throws {
        let settings = settings
        let downloads = settings.downloadDirectory
        guard scope == .add || scope == .own, !settings.isOperator(owner) else { return }
        let roots = await services.pool(of: owner, forPath: downloads).run { [rights = services.rights] in
            rights.rootsOfTokens(of: owner).roots
        }
        let guest = Principal(owner: owner, isOperator: false, roots: roots)
        // A user without roots has no access yet.
        guard !roots.isEmpty, guest.defaultDirectory(downloads) != downloads else { return }
        throw ManagerError.invalidField(
            path: "dir", reason: "user \(settings.grants.name(of: owner)) may not write in download.dir (\(downloads))",
            expected: "a directory beneath \(roots.joined(separator: " or ")): xferctl token add --dir DIR")
    }

    /// Revokes a token: from now on it is refused, and its connections end.
    ///
    /// - Throws: `ManagerError.tokenNotFound`.
    public func revoke(_ name: String) async throws {
        let id = try await translatingStoreErrors {
            try await store.write { tx in
                let found = try tx.tokens.all().first { $0.token.name == name }?.token.id
                guard let id = try found ?? tx.tokens.damaged().first(where: { $0.name == name })?.id else {
                    throw ManagerError.tokenNotFound(name)
                }
                try tx.tokens.remove(named: name)
                return id
            }
        }
        registry.remove(id)
        context.damagedRows.remove(.token, name)
    }

    /// The token that `text` is; nil if there is none, or it has expired or was revoked.
    public func token(for text: String) -> AccessToken? {
        registry.token(for: text, at: clock())
    }

    /// The token with this id; nil if it has expired or was revoked.
    public func token(_ id: Int64) -> AccessToken? {
        registry.token(id, at: clock())
    }

    /// Calls `body` with the id of each token that is revoked, after it is revoked.
    public func onRevocation(_ body: @escaping @Sendable (Int64) -> Void) { registry.onRevocation(body) }

    /// The tokens after `load` and the later calls.
    package var registry: TokenRegistry { context.tokens }
}
