extension Migration {
    /// Hosts that have demanded https (RFC 6797).
    static let secureHosts = Migration(
        name: "secure hosts",
        sql: """
            CREATE TABLE secure_host (
                host TEXT NOT NULL PRIMARY KEY,
                includes_subdomains INTEGER NOT NULL,
                expires_at INTEGER NOT NULL,
                noted_at INTEGER NOT NULL
            ) STRICT, WITHOUT ROWID;
            """)
}
