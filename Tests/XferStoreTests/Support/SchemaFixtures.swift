/// Databases of released schemas as `.dump` of sqlite3(1) wrote them. Never edited.
enum SchemaFixtures {
    static let version1 = ""
}
