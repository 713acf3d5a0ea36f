import Testing
import XferModel
import XferProtocol

@testable import XferCommands

@Suite struct ListSummaryTests {
    private func record(_ state: TaskState, _ change: (inout TaskRecord) -> Void = { _ in }) -> TaskSummary {
        var record = TaskRecord()
        (record.id, record.url, record.state) = (TaskID(1), "http://h/f", .known(state))
        change(&record)
        return TaskSummary(record)
    }

    @Test func aListIsSummedUpInOneLine() {
        var summary = ListSummary()
        for size in [1 << 20, 3 << 20] as [Int64] {
            summary.add(
                record(.completed) {
                    var progress = ProgressRecord()
                    (progress.received, progress.total) = (size, size)
                    $0.progress = progress
                })
        }
        summary.add(record(.completed) { $0.skipped = true })
        summary.add(record(.completed) { $0.notModified = true })
        #expect(summary.line(seconds: 4) == "4 tasks: 2 downloaded (4.0 MiB in 4s), 2 existed already")
        for _ in 0..<2 {
            summary.add(
                record(.failed) {
                    var failure = FailureRecord()
                    (failure.reason, failure.message) = (.known(.dnsFailure), "no such host")
                    $0.error = failure
                })
        }
        summary.add(record(.cancelled))
        let ended = [record(.completed)]
        #expect(ListSummary(ended, cached: [1]).line(seconds: 1) == "1 task: 1 from the cache")
        #expect(ListSummary(ended, cached: [2]).line(seconds: 1) == "1 task: 1 downloaded (0 B in 1s)")
        // A cached response that was validated has an attempt.
        for attempt in [nil, AttemptRecord()] {
            var record = TaskRecord()
            (record.choices.cachePolicy, record.lastAttempt) = (.set(.protocol), attempt)
            #expect(ListSummary.isFromCache(record) == (attempt == nil))
        }
        #expect(
            summary.line(seconds: 4)
                == "7 tasks: 2 downloaded (4.0 MiB in 4s), 2 existed already, 2 failed: 2 dns failure, 1 cancelled")
        var one = ListSummary()
        one.add(record(.paused))
        #expect(one.line(seconds: 0) == "1 task: 1 not finished")
    }
}
