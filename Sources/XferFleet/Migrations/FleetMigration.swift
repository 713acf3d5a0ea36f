/// One step of the fleet's schema, never edited once it is in a release. The schema's number is that of the steps taken.
struct FleetMigration: Sendable {
    /// The name, for people who inspect the database.
    let name: String
    /// The statements in order. Each is one statement: PQexecParams accepts no more.
    let statements: [String]

    /// All migrations in order; new ones are added at the end, each in a file of its own.
    static let all: [FleetMigration] = [
        .tables, .positions, .adding, .claiming, .reporting, .wishing, .nodes, .limits, .showing,
        .tokens, .permits, .shares, .cancellingPaused,
    ]

    /// The oldest program that may work with this schema, by the number of steps it knows. A step that a program of the
    /// version before cannot live with raises it.
    static let minimum = 11

    /// The settings with which every function of the schema runs, whatever the server's are.
    ///
    /// The functions' arrays are short and the tables are long, so a lookup by key is right for each element. A plan
    /// that was made while a table was empty must not read all of it later. A lock that is not free after so long is a
    /// sign of trouble, not of work.
    static let settings = """
        LANGUAGE plpgsql SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off
        SET plan_cache_mode = force_generic_plan SET lock_timeout = '10s'
        """
}
