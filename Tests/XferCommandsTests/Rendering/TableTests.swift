import Testing

@testable import XferCommands

@Suite struct TableTests {
    private var table: Table {
        var table = Table(columns: [
            .init(title: "ID", alignment: .right), .init(title: "STATE"), .init(title: "NAME", isFlexible: true),
        ])
        table.rows = [
            ["7", Table.Cell("running", .cyan), "a-very-long-name-indeed.tar.gz"], ["12", "queued", "日本.iso"],
        ]
        return table
    }

    @Test func `columns are aligned and nothing is cut when piped`() {
        #expect(
            table.lines(style: .plain, width: nil) == [
                "ID  STATE    NAME",
                " 7  running  a-very-long-name-indeed.tar.gz",
                "12  queued   日本.iso",
            ])
    }

    @Test func `only flexible columns are cut to fit`() {
        #expect(table.lines(style: .plain, width: 30).dropFirst().first == " 7  running  a-very-l…d.tar.gz")
    }

    @Test func `colours do not disturb the alignment`() {
        let line = table.lines(style: Style(isEnabled: true), width: nil).dropFirst().first
        #expect(line == " 7  \u{1b}[36mrunning\u{1b}[0m  a-very-long-name-indeed.tar.gz")
    }

    @Test func `control characters in cells never reach the terminal`() {
        var table = table
        table.rows = [["1", "queued", "\u{1b}[2Jgone"]]
        #expect(table.lines(style: .plain, width: nil).dropFirst().first == " 1  queued  ␛[2Jgone")
    }
}
