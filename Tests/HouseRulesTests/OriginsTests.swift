import Testing

/// docs/origins.md says which test shows what became of each mechanism this project descends from.
@Suite struct OriginsTests {
    private let tree = SourceTree()

    /// The rows of the tables, without their headings.
    private var rows: [Substring] {
        get throws {
            let text = try tree.contents(of: "docs/origins.md")
            return text.split(separator: "\n").filter { line in
                line.hasPrefix("| ") && !line.hasPrefix("| there |") && !line.hasPrefix("| --- |")
            }
        }
    }

    /// `Suite.test` in a row's last cell.
    private static func tests(in row: Substring) -> [Substring] {
        let cell = row.split(separator: "|").last { $0.contains { $0 != " " } } ?? ""
        return cell.split(separator: "`").filter { $0.contains(".") }
    }

    @Test func everyRowOfTheOriginsNamesTestsThatExist() throws {
        let files = try tree.swiftFiles(in: "Tests").map { $0.lines.joined(separator: "\n") }
        let rows = try rows
        #expect(rows.count > 25)
        for row in rows {
            let names = Self.tests(in: row)
            #expect(!names.isEmpty, "no test in \(row)")
            for name in names {
                let parts = name.split(separator: ".")
                let isThere = files.contains { file in
                    file.contains("struct \(parts[0]) {") && file.contains("func \(parts[parts.count - 1])(")
                }
                #expect(isThere, "\(name) is no test")
            }
        }
    }
}
