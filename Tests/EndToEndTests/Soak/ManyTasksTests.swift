import StrictJSON
import Testing
import XferTestSupport

/// A long queue costs neither memory nor time to start. With optimised programs (`XFER_PROGRAMS`, as `make soak` does).
@Suite(.serialized, .enabled(if: Machine.isSoak, "make soak")) struct ManyTasksTests {
    @Test func aHundredThousandQueuedTasksAreHandled() async throws {
        try await withDaemon { daemon in
            _ = try await daemon.call("queue.pause")
            for batch in 0..<10 {
                let entries = (0..<10_000).map { index -> JSONValue in
                    ["url": .string("http://host\(index % 100).invalid/\(batch)/\(index)")]
                }
                let result = try await daemon.call("task.add", ["tasks": .array(entries)])
                #expect(result["ids"]?.arrayValue?.count == 10_000)
            }
            #expect(try await daemon.call("queue.stats")["counts"]?["queued"]?.integerValue == 100_000)
            let whileAdding = try daemon.residentKibibytes / 1024

            await daemon.kill9()
            let begin = ContinuousClock.now
            try await daemon.start()
            _ = try await daemon.call("daemon.status")
            let took = ContinuousClock.now - begin
            let afterRestart = try daemon.residentKibibytes / 1024
            print("100,000 tasks: \(whileAdding) MB after adding, \(afterRestart) MB after a restart that took \(took)")
            #expect(whileAdding < 60)
            #expect(afterRestart < 60)
            #expect(took < .milliseconds(500))
            #expect(try await daemon.call("queue.stats")["counts"]?["queued"]?.integerValue == 100_000)
        }
    }
}
