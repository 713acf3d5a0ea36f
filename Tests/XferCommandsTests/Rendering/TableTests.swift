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

    @Test func columnsAreAlignedAndNothingIsCutIfPiped() {
        #expect(
            table.lines(style: .plain, width: nil) == [
                "ID  STATE    NAME",
                " 7  running  a-very-long-name-indeed.tar.gz",
                "12  queued   日本.iso",
            ])
    }

    @Test func onlyFlexibleColumnsAreCutToFit() {
        #expect(table.lines(style: .plain, width: 30).dropFirst().first == " 7  running  a-very-l…d.tar.gz")
    }

    @Test func theWidestColumnIsCutFirstAndASentenceAtItsEnd() {
        var table = Table(columns: [
            .init(title: "NAME", isFlexible: true), .init(title: "NOTE", isFlexible: true, cut: .end),
        ])
        table.rows = [["short-name.iso", "next try in 5s after the server answered 503"]]
        #expect(table.lines(style: .plain, width: 40).last == "short-name.iso  next try in 5s after th…")
    }

    @Test func coloursDoNotDisturbTheAlignment() {
        let line = table.lines(style: Style(isEnabled: true), width: nil).dropFirst().first
        #expect(line == " 7  \u{1b}[36mrunning\u{1b}[0m  a-very-long-name-indeed.tar.gz")
    }

    @Test func controlCharactersInCellsNeverReachTheTerminal() {
        var table = table
        table.rows = [["1", "queued", "\u{1b}[2Jgone"]]
        #expect(table.lines(style: .plain, width: nil).dropFirst().first == " 1  queued  ␛[2Jgone")
    }
}
