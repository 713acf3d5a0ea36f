extension Migration {
    /// The schema of 1.0.0-rc.1, the first release: every database begins with it.
    static let firstRelease = Migration(
        name: "schema of 1.0.0-rc.1", sql: String(decoding: PackageResources.schema_20_sql, as: UTF8.self))
}
