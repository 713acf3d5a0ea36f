/// A table in Markdown. Cells may hold any text: bars are escaped, line breaks become spaces.
struct MarkdownTable {
    let columns: [String]
    var rows: [[String]] = []

    init(_ columns: String...) { self.columns = columns }

    /// With a line break behind its last row.
    var text: String {
        let lines = [columns, columns.map { _ in "---" }] + rows
        return lines.map { "| " + $0.map(Self.escaped).joined(separator: " | ") + " |\n" }.joined()
    }

    private static func escaped(_ cell: String) -> String {
        cell.replacing("\n", with: " ").replacing("|", with: "\\|")
    }
}

/// Text as code.
func code(_ text: String) -> String { "`\(text)`" }

/// What stands above each generated document.
func title(_ name: String) -> String {
    """
    # \(name)

    A test generates this file from the sources and compares it with what is committed.
    `XFER_UPDATE_SCHEMA=1 swift test --filter ReferenceTests` writes it.


    """
}
