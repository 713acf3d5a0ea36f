import Testing
import XferModel
import XferProtocol

@testable import XferCommands

@Suite struct TaskIDsArgumentTests {
    private func ids(_ text: String, newest: Int64? = nil) -> [Int64]? {
        TaskIDsArgument(argument: text)?.ids(newest: newest.map { TaskID($0) }).map(\.rawValue)
    }

    @Test func idsListsAndRangesNameTheirTasks() {
        #expect(ids("7") == [7] && ids("#7") == [7] && ids(" 73") == [73])
        #expect(ids("1,2") == [1, 2] && ids("1-3") == [1, 2, 3])
        #expect(ids("5,1-2,9-9") == [5, 1, 2, 9])
    }

    @Test func aRangeWithoutAnEndGoesUpToTheNewestTask() {
        #expect(ids("7-", newest: 9) == [7, 8, 9])
        #expect(ids("7-", newest: 6) == [] && ids("7-") == [])
    }

    @Test func aHugeRangeIsCutOffBehindWhatACallTakes() {
        #expect(ids("1-9223372036854775807")?.count == TaskLimits.batchSize + 1)
        #expect(ids("9223372036854775806-9223372036854775807") == [.max - 1, .max])
        #expect(ids("1-20000,1-20000")?.count == TaskLimits.batchSize + 1)
    }

    @Test func onlyIDsThatAreNamedOneByOneHaveToBeThere() {
        #expect(TaskIDsArgument(argument: "1-3,8")?.singles == [TaskID(8)])
    }

    @Test(arguments: ["", "0", "-1", "1,", ",1", "3-1", "1-2-3", "a", "1-b", "7--", "1 2", "9223372036854775808"])
    func aTextThatNamesNoTaskIsRejected(text: String) { #expect(ids(text) == nil) }
}
