public import XferModel

/// A token and the digest by which it is recognised.
public struct StoredToken: Hashable, Sendable {
    public var token: AccessToken
    /// SHA-256, 32 bytes.
    public var digest: [UInt8]

    public init(token: AccessToken, digest: [UInt8]) {
        self.token = token
        self.digest = digest
    }
}

extension StoredToken {
    /// Reads a row with id, name, digest, owner, scope, created_at, expires_at, directory.
    init(_ row: ResultRow) throws(StoreError) {
        let id = row.integer(0)
        guard let owner = UInt32(exactly: row.integer(3)) else {
            throw .unreadable(table: "token", id: id, column: "owner")
        }
        let scope = try row.word(TokenScope.self, 4, table: "token", id: id, name: "scope")
        token = AccessToken(
            id: id, name: row.text(1), owner: Owner(uid: owner), scope: scope, createdAt: row.time(5),
            expiresAt: row.optionalTime(6), directory: row.optionalText(7))
        digest = row.optionalBlob(2) ?? []
    }
}

/// The tokens of clients: `token`.
public struct TokenTable<Store: StoreReader>: StoreTable {
    public let store: Store

    /// All tokens that can be read, by name.
    public func all() throws(StoreError) -> [StoredToken] { try readable().rows }

    /// The tokens that cannot be read, by name. They are refused.
    public func damaged() throws(StoreError) -> [DamagedRow] { try readable().damaged }

    /// The tokens that can be read, and those that cannot, by name.
    public func readable() throws(StoreError) -> (rows: [StoredToken], damaged: [DamagedRow]) {
        try connection.readable(
            "SELECT id, name, digest, owner, scope, created_at, expires_at, directory FROM token ORDER BY name"
        ) {
            row throws(StoreError) in
            try StoredToken(row)
        } orElse: {
            DamagedRow(table: .token, name: $0.text(1), id: $0.integer(0), isConfigured: false)
        }
    }
}

extension TokenTable where Store == StoreTransaction {
    /// Adds a token and returns it with its id; `token.id` is ignored. No token may have its name.
    public func add(_ stored: StoredToken) throws(StoreError) -> StoredToken {
        let token = stored.token
        try connection.run(
            """
            INSERT INTO token (name, digest, owner, scope, created_at, expires_at, directory)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
            """, .text(token.name), .blob(stored.digest), Value(token.owner), Value(token.scope),
            Value(token.createdAt), Value(token.expiresAt), Value(token.directory))
        var added = stored
        added.token.id = connection.lastInsertedID
        return added
    }

    /// Removes the token with this name. Does nothing if there is none.
    public func remove(named name: String) throws(StoreError) {
        try connection.run("DELETE FROM token WHERE name = ?1", .text(name))
    }
}
