import StrictJSON
import Testing
import XferModel
import XferProtocol

@testable import XferCommands

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
