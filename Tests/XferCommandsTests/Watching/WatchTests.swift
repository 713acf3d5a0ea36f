import StrictJSON
import Testing
import XferModel
import XferProtocol

@testable import XferCommands

@Suite struct WatchTests {
    private func task(_ id: Int64, _ state: String) -> TaskSummary {
        TaskSummary(id: id, name: "file\(id)", state: state, received: 10, total: 100, rate: 5)
    }

    private func model(running: Int, waiting: Int, recent: Int) -> WatchModel {
        var model = WatchModel()
        let active =
            (0..<running).map { task(Int64(1 + $0), "running") }
            + (0..<waiting).map { task(Int64(100 + $0), "waiting") }
        model.onRefresh(
            stats: QueueStats.Result(), active: active, recent: (0..<recent).map { task(Int64(500 + $0), "completed") })
        return model
    }

    private func lines(_ model: WatchModel, columns: Int, rows: Int) -> [LiveRegion.Line] {
        WatchScreen(
            style: .plain, bar: Bar(usesUnicode: true), size: .init(columns: columns, rows: rows),
            now: Timestamp(microseconds: 0)
        ).lines(model)
    }

    @Test(arguments: [1, 2, 3, 5, 10, 24, 60], [1, 5, 20, 80, 200])
    func watchFitsATerminalOfAnySize(rows: Int, columns: Int) {
        for counts in [(0, 0, 0), (1, 0, 0), (3, 2, 2), (100, 100, 50), (0, 50, 0), (0, 0, 50)] {
            let lines = lines(
                model(running: counts.0, waiting: counts.1, recent: counts.2), columns: columns, rows: rows)
            #expect(lines.count <= rows && lines.allSatisfy { $0.columns <= max(columns, 1) })
        }
    }

    @Test func tasksThatDoNotFitAreCounted() {
        let text = lines(model(running: 100, waiting: 0, recent: 0), columns: 80, rows: 14).map(\.text)
        #expect(text.contains { $0.hasPrefix("and 9") && $0.hasSuffix("more") })
    }

    @Test func anEndedTaskMovesToTheLastEndedTasks() throws {
        var model = model(running: 2, waiting: 0, recent: 0)
        model.onEvent(try EventMessage(lenient: Wire.completed(1)))
        #expect(model.active.map(\.id) == [2] && model.recent.map(\.id) == [1])
        #expect(model.isStale, "the counts are requested again")
    }

    @Test func tasksThatShareATransferCountOnceInTheTotalRate() {
        var stats = QueueStats.Result()
        stats.rates = QueueStats.Rates(received: 5, sent: 2)
        var model = WatchModel()
        model.onRefresh(stats: stats, active: [task(1, "running"), task(2, "running")], recent: [])
        #expect(model.rate == 7 && model.isMoving)
    }

    @Test func progressOfAKnownTaskNeedsNoListing() throws {
        var model = model(running: 1, waiting: 0, recent: 0)
        model.onEvent(try EventMessage(lenient: Wire.progress(1, received: 50, total: 100)))
        #expect(!model.isStale && model.active.first?.received == 50)
        #expect(model.active.first?.rate == 1_048_576)
        model.onEvent(try EventMessage(lenient: Wire.progress(77, received: 50, total: 100)))
        #expect(model.isStale, "a task that was not listed yet")
    }
}

@Suite struct TaskBoardTests {
    @Test func eachEndIsReportedOnceWhetherByEventOrListing() throws {
        var board = TaskBoard(ids: [1, 2, 1])
        #expect(board.onListed(TaskSummary(id: 1, name: "a", state: "running")) == nil)
        #expect(board.onListed(TaskSummary(id: 2, name: "b", state: "completed"))?.id == 2)
        #expect(board.onEvent(try EventMessage(lenient: Wire.completed(1)))?.id == 1)
        #expect(board.onEvent(try EventMessage(lenient: Wire.completed(1))) == nil)
        #expect(board.onListed(TaskSummary(id: 1, name: "a", state: "completed")) == nil)
        #expect(board.isFinished && board.status == .done)
    }

    @Test func lateProgressDoesNotReviveAnEndedTask() throws {
        var board = TaskBoard(ids: [1])
        _ = board.onListed(TaskSummary(id: 1, name: "a", state: "failed"))
        _ = board.onEvent(try EventMessage(lenient: Wire.progress(1, received: 1, total: 2)))
        #expect(board.tasks[1]?.state == "failed" && board.rows(limit: 5).isEmpty && board.status == .taskFailed)
    }

    @Test func runningTasksAreShownFirst() {
        var board = TaskBoard(ids: [1, 2, 3])
        for (id, state) in [(1, "queued"), (2, "running"), (3, "queued")] as [(Int64, String)] {
            _ = board.onListed(TaskSummary(id: id, name: "", state: state))
        }
        #expect(board.rows(limit: 2).map(\.id) == [2, 1])
    }

    @Test(arguments: [
        ("task.paused", "paused"), ("task.resumed", "queued"), ("task.started", "running"),
        ("task.cancelled", "cancelled"),
    ])
    func eventsMoveATaskBetweenSections(type: String, state: String) throws {
        var task = TaskSummary(id: 1, name: "a", state: "waiting", waitReason: "network")
        let more: JSONObject = ["received": 1, "attempt": 1, "offset": 5, "terminal": true, "state": "cancelled"]
        task.apply(try EventMessage(lenient: Wire.event(type, 1, seq: 1, more)))
        #expect(task.state == state && task.waitReason == nil)
    }
}
