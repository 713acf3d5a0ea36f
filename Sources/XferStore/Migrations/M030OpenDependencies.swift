extension Migration {
    /// Finds whether a task still waits for others without reading those that have ended.
    static let openDependencies = Migration(
        name: "open dependencies",
        sql: """
            CREATE INDEX dependency_waiting ON dependency (task_id) WHERE outcome IS NULL;
            """)
}
