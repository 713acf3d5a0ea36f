import StrictJSON
import Testing
import XferTestSupport

/// Rates and times left, as clients of the real daemon see them.
@Suite struct ReportedRateTests {
    private static let limit: Int64 = 500_000
    /// What a rate may come to under the limit: bytes arrive in bursts.
    private static let bound = limit * 3 / 2

    /// Calls `look` with the task until it has a million bytes more, two seconds under the limit, and returns the
    /// highest rate over all transfers.
    private func highestRate(
        _ daemon: DaemonFixture, _ id: Int64, look: (JSONValue) throws -> Void
    ) async throws -> Int64 {
        var highest: Int64 = 0
        var first: Int64?
        try await eventually("a million bytes more") {
            let task = try await daemon.task(id)
            try look(task)
            let stats = try await daemon.call("queue.stats")
            highest = max(highest, try #require(stats["rates"]?["recv"]?.integerValue))
            guard let received = task["progress"]?["received"]?.integerValue else { return false }
            let begin = first ?? received
            first = begin
            return received >= begin + 1_000_000
        }
        return highest
    }

    @Test func aDownloadThatIsResumedAfterARestartReportsNoRateAboveItsLimit() async throws {
        let server = try await FaultServer()
        let source = SourceVersion.tagged(150, length: 32 << 20)
        let gate = Gate()
        server.serve("/f", source).next([.stall(at: 8 << 20, until: gate)])
        try await withDaemon { daemon in
            let id = try await daemon.add(server.url("/f"), ["idle_timeout": 3600])
            try await daemon.waitForBytes(8 << 20, of: id)
            _ = try await daemon.call(
                "task.update", ["id": .integer(id), "changes": ["max_recv_rate": .integer(Self.limit)]])
            try await daemon.stop()
            gate.open()
            try await daemon.start()
            let highest = try await highestRate(daemon, id) { task in
                #expect(task["state"] != "completed")
                guard let progress = task["progress"], let received = progress["received"]?.integerValue else { return }
                #expect(progress["rate"]?.integerValue ?? 0 <= Self.bound, "\(task.text)")
                if let eta = progress["eta"]?.integerValue {
                    #expect(eta >= (source.length - received) / Self.bound, "\(task.text)")
                }
            }
            #expect(0 < highest && highest <= Self.bound)
        }
    }

    @Test func threeTasksThatShareATransferCountOnceInTheRateOfTheQueue() async throws {
        let server = try await FaultServer()
        server.serve("/f", .tagged(151, length: 12 << 20))
        try await withDaemon { daemon in
            var ids: [Int64] = []
            for name in ["a", "b", "c"] {
                let fields: JSONObject = ["output": .string(name), "max_recv_rate": .integer(Self.limit)]
                ids.append(try await daemon.add(server.url("/f"), fields))
            }
            for id in ids {
                try await eventually("\(id) reports a rate") {
                    (try await daemon.task(id)["progress"]?["rate"]?.integerValue ?? 0) > 0
                }
            }
            let highest = try await highestRate(daemon, ids[0]) { _ in }
            #expect(0 < highest && highest <= Self.bound)
            #expect(server.requests.count == 1)
        }
    }
}
