extension Migration {
    /// Adds an index that shows whether a task still waits for others, without reading the ended ones.
    static let openDependencies = Migration(
        name: "open dependencies",
        sql: """
            CREATE INDEX dependency_waiting ON dependency (task_id) WHERE outcome IS NULL;
            """)
}
