public import XferModel

/// Hosts that have demanded https (RFC 6797).
public struct SecureHostTable<Store: StoreReader>: StoreTable {
    public let store: Store

    /// The hosts that were noted last, at most `limit`.
    public func list(limit: Int) throws(StoreError) -> [SecureHost] {
        try connection.all(
            """
            SELECT host, includes_subdomains, expires_at, noted_at FROM secure_host ORDER BY noted_at DESC LIMIT ?1
            """, Value(limit)
        ) {
            SecureHost(
                host: $0.text(0), includesSubdomains: $0.integer(1) != 0, expiresAt: $0.time(2), notedAt: $0.time(3))
        }
    }
}

extension SecureHostTable where Store == StoreTransaction {
    public func set(_ host: SecureHost) throws(StoreError) {
        try connection.run(
            """
            INSERT OR REPLACE INTO secure_host (host, includes_subdomains, expires_at, noted_at)
            VALUES (?1, ?2, ?3, ?4)
            """, .text(host.host), .integer(host.includesSubdomains ? 1 : 0), Value(host.expiresAt),
            Value(host.notedAt))
    }

    /// Does nothing if the host is not there.
    public func remove(_ host: String) throws(StoreError) {
        try connection.run("DELETE FROM secure_host WHERE host = ?1", .text(host))
    }
}
