import Foundation
import Testing
import XferModel

@testable import XferDaemon
@testable import XferManager
@testable import XferProtocol

/// The guide's table of limits has the numbers that are in force.
@Suite struct LimitsTableTests {
    private static let rows: [(what: String, limit: Int)] = [
        ("event subscriptions of a connection", ConnectionSubscriptions.maxPerConnection),
        ("event streams of a user", EventLeases.maxPerUser),
        ("tasks that a user's event streams name in `task_ids`", EventLeases.maxTasksPerUser),
        ("tasks that a user's open `task.wait` name", WaitedTasks.maxPerUser),
        ("tasks in `after` of one call", TaskLimits.dependenciesOfCall),
        (
            "tasks of the batches and groups in `after_batch` and `after_group` of one call",
            TaskLimits.dependenciesOfCall
        ),
        ("names of leases", TaskLeases.maxCount), ("tokens", TokenCommands.limit),
    ]

    @Test func everyLimitOfTheGuideIsInForce() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let page = try String(contentsOf: root.appending(path: "docs/guide/json-rpc.md"), encoding: .utf8)
        let lines = page.split(separator: "\n").map { $0.split(separator: "|").map(Self.trimmed) }
        let settings = Settings(defaultsFor: try InstancePaths(environment: ["HOME": "/home/ann"], uid: 1000))
        let defaults: [(what: String, text: String)] = [
            ("one message, in or out", "\(settings.rpc.maxLine >> 20) MiB"),
            ("`meta` of a task", "\(TaskLimits.metaSize >> 10) KiB"),
            ("a page of a list", "\(PageText.limit >> 20) MiB, \(Self.grouped(PageBounds.usualScan)) rows"),
            (
                "calls of one connection that are not answered",
                "\(settings.rpc.maxInFlight) (`rpc.max_in_flight`)"
            ),
            (
                "calls of one user that run at a time, but for operators and `task.wait`",
                "\(settings.rpc.maxInFlight) (`rpc.max_in_flight`)"
            ),
        ]
        for row in Self.rows.map({ (what: $0.what, text: Self.grouped($0.limit)) }) + defaults {
            let line = lines.first { $0.first == row.what }
            #expect(line?.dropFirst().first == row.text, "\(row.what): \(line ?? [])")
        }
    }

    private static func trimmed(_ cell: Substring) -> String { cell.trimmingCharacters(in: .whitespaces) }

    /// The number with a comma before every three digits, as the guide has it.
    private static func grouped(_ number: Int) -> String {
        var text = ""
        for (index, digit) in String(number).reversed().enumerated() {
            if index > 0, index.isMultiple(of: 3) { text.append(",") }
            text.append(digit)
        }
        return String(text.reversed())
    }
}
