/// Checks that a server's settings make its answers durable.
enum ServerCheck {
    private static let sql = """
        SELECT current_setting('server_version_num'), current_setting('server_version'), pg_is_in_recovery(),
            current_setting('transaction_read_only'), current_setting('fsync'), current_setting('full_page_writes'),
            current_setting('synchronous_commit'), current_setting('server_encoding'),
            current_setting('synchronous_standby_names'),
            (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'walsender')
        """

    /// Checks that the server is suitable for a fleet.
    ///
    /// - Returns: warnings for the operator.
    static func check(_ connection: PostgresConnection) async throws(FleetError) -> [String] {
        let answer = try await connection.run(sql)
        var warnings: [String] = []
        let refusal = try answer.one { (row) throws(PostgresError) -> FleetError? in
            func unless(_ isRight: Bool, _ what: String, _ column: Int, _ expected: String) throws(PostgresError)
                -> FleetError?
            { isRight ? nil : .unsuitable(what: what, found: try row.text(column), expected: expected) }

            if let error = try unless(try row.integer(0) >= 150_000, "the version", 1, "15 or later") { return error }
            if try row.bool(2) { return .unsuitable(what: "the server", found: "a standby", expected: "a primary") }
            if let error = try unless(
                try row.text(3) == "off", "default_transaction_read_only", 3, "off: nothing can be written")
            {
                return error
            }
            if let error = try unless(try row.text(4) == "on", "fsync", 4, "on") { return error }
            if let error = try unless(try row.text(5) == "on", "full_page_writes", 5, "on") { return error }
            let commit = try row.text(6)
            if let error = try unless(commit != "off", "synchronous_commit", 6, "on") { return error }
            if let error = try unless(try row.text(7) == "UTF8", "the database's encoding", 7, "UTF8") { return error }

            let isSynchronous = try !row.text(8).isEmpty && commit != "local"
            if try row.integer(9) > 0, !isSynchronous {
                warnings.append(
                    "a standby of the PostgreSQL server is asynchronous: after its promotion the fleet may lack the last "
                        + "commits; set synchronous_standby_names")
            }
            return nil
        }
        if let refusal { throw refusal }
        return warnings
    }
}
