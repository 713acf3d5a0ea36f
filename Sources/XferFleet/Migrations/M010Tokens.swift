extension FleetMigration {
    /// Tokens of clients on the network: one is good at every node that listens.
    static let tokens = FleetMigration(
        name: "tokens",
        statements: [
            """
            CREATE TABLE fleet_token (
                id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                name text NOT NULL UNIQUE,
                -- SHA-256 in hexadecimal: the token itself is nowhere.
                digest text NOT NULL UNIQUE,
                owner text NOT NULL,
                scope text NOT NULL,
                created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
                expires_at timestamptz
            )
            """
        ])
}
