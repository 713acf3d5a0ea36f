import Testing
import XferModel
import XferProtocol

@testable import XferDaemon

/// The query of `GET /events` has the parameters of `events.subscribe`, and no others.
struct EventQueryTests {
    private static func params(_ query: String?, _ lastEventID: String? = nil) throws -> EventsSubscribe.Params {
        try EventsSubscribe.Params(query: query, lastEventID: lastEventID)
    }

    @Test func aQueryNamesTypesTasksAndAPosition() throws {
        #expect(try Self.params(nil) == EventsSubscribe.Params())
        #expect(try Self.params("") == EventsSubscribe.Params())
        #expect(
            try Self.params("types=task.completed,task.failed&task_ids=17,18&since=4000")
                == EventsSubscribe.Params(
                    types: [.durable(.taskCompleted), .durable(.taskFailed)], taskIDs: [TaskID(17), TaskID(18)],
                    since: 4000))
        #expect(
            try Self.params("types=task%2Eadded%2Ctask.progress").types?.values == [.durable(.taskAdded), .progress])
    }

    @Test func thePositionOfABrowserCountsMoreThanThatOfTheQuery() throws {
        #expect(try Self.params("since=4", "9").since == 9)
        #expect(try Self.params(nil, "0").since == 0)
    }

    @Test(arguments: [
        ("type=task.completed", "there is no parameter type"), ("since=1&since=2", "since: expected once"),
        ("since=", "since: expected a number"), ("since=-1", "since: expected a number"),
        ("since=9007199254740993", "since: expected a number"), ("task_ids=1,x", "task_ids: expected a number"),
        ("task_ids=", "task_ids: expected a number"), ("types=task.finished", "types"), ("types=", "types"),
        ("types=%zz", "percent encoding"), ("types=%ff", "percent encoding"), ("types=%4", "percent encoding"),
        ("&=", "there is no parameter"),
    ])
    func anUnknownOrInvalidParameterIsRefusedByItsName(query: String, text: String) throws {
        do {
            _ = try Self.params(query)
            Issue.record("accepted")
        } catch let error as EventQueryError {
            #expect(error.description.contains(text), "\(error)")
        }
    }

    @Test func manyTypesAreAsManyAsTheSchemaAllows() throws {
        let ids = (1...TaskLimits.batchSize).map(String.init).joined(separator: ",")
        #expect(try Self.params("task_ids=" + ids).taskIDs?.values.count == TaskLimits.batchSize)
        #expect(throws: EventQueryError.self) { try Self.params("task_ids=" + ids + ",1") }
    }
}
