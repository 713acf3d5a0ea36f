import XferTestSupport

/// A database of every schema since the first release, filled with rows of every table: `Fixtures/schema-N.sql`, as `.dump`
/// of sqlite3(1) wrote it after the two pragmas it leaves out. Never edited.
enum SchemaFixture {
    /// The newest that has one; the next migration brings the next file.
    static let newest = 36

    /// The statements that make it.
    static func sql(_ version: Int) throws -> String {
        let tests = "/" + #filePath.split(separator: "/").dropLast(2).joined(separator: "/")
        return try FileTree.text("\(tests)/Fixtures/schema-\(version).sql")
    }
}
