import StrictJSON
import Testing
import XferModel
import XferProtocol

@testable import XferCommands

/// Columns of `xferctl list`, and their order.
@Suite struct TaskTableTests {
    private func record(_ id: Int64, _ more: JSONObject = [:]) throws -> TaskRecord {
        try TaskRecord(lenient: Wire.task(id, "queued", more))
    }

    private func lines(_ table: Table) -> [String] { table.lines(style: .plain, width: nil) }

    @Test func aLabelHasAColumnOfItsOwnBesideTheFilesName() throws {
        let tasks = [try record(1, ["label": "nightly"]), try record(2)]
        let overview = lines(TaskTable.overview(tasks, now: .now))
        #expect(overview[0].contains("LABEL    NAME"))
        #expect(overview[1].contains("nightly  file1.iso"))
        #expect(!lines(TaskTable.overview([tasks[1]], now: .now))[0].contains("LABEL"))
    }

    @Test(arguments: [
        ("http://h/a%20b.iso", "a b.iso"), ("http://h/%C3%BC", "ü"), ("http://h/%ff", "%ff"), ("http://h/5%", "5%"),
        ("http://h/%zz", "%zz"), ("http://h/a%1b[2J", "a␛[2J"),
    ])
    func aNameFromAURLIsPercentDecodedIfItIsText(url: String, name: String) throws {
        let table = TaskTable.table([try record(1, ["url": .string(url)])], [.name], now: .now)
        #expect(lines(table).last == name)
    }

    @Test func tasksAreSortedByAColumnWithEmptyOnesLast() throws {
        func sized(_ id: Int64, _ total: Int64) throws -> TaskRecord {
            try record(
                id, ["progress": ["received": 0, "sent": 0, "total": .integer(total), "rate": 0, "eta": nil]])
        }
        let tasks = [try record(1), try sized(2, 300), try sized(3, 20), try sized(4, 300)]
        #expect(TaskTable.sorted(tasks, by: .size).map(\.id.rawValue) == [3, 2, 4, 1])
        // The task without a size is last in both directions.
        #expect(TaskTable.sorted(tasks, by: .size, isReversed: true).map(\.id.rawValue) == [4, 2, 3, 1])
        let named = [try record(2, ["url": "http://h/b"]), try record(3, ["url": "http://h/a"])]
        #expect(TaskTable.sorted(named, by: .name).map(\.id.rawValue) == [3, 2])
    }

    @Test func everyColumnCanBeShownAndSortedBy() throws {
        let task = try record(
            7,
            [
                "label": "l", "group": "g", "priority": "high", "created_at": "2026-01-02T03:04:05Z",
                "finished_at": "2026-01-02T03:04:05Z", "owner": 1000, "final_path": "/d/f",
            ])
        for column in TaskColumn.allCases {
            #expect(lines(TaskTable.table([task], [column], now: .now)).first == column.title)
            #expect(TaskTable.sorted([task], by: column).count == 1)
            #expect(!column.meaning.isEmpty)
        }
        let line = lines(TaskTable.table([task], [.group, .label, .host, .added], now: .now)).last ?? ""
        #expect(line.hasPrefix("g      l      host  2026-01-0"), "\(line)")
        #expect(lines(TaskTable.table([task], [.owner, .path], now: .now)) == ["OWNER  PATH", " 1000  /d/f"])
        let paused = try record(8, ["state": "paused", "dir": "/d", "output": "g"])
        #expect(lines(TaskTable.table([paused], [.path], now: .now)) == ["PATH", "/d/g"])
    }
}
