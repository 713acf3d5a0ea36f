import StrictJSON
import Testing
import XferTestSupport

/// Streams of events are bounded for each connection and for each user.
@Suite struct SubscriptionLimitTests {
    private func refusal(of session: RPCSession, tasks: Range<Int>? = nil) async throws -> RPCRefusal? {
        do {
            var params: JSONValue = ["types": "task.added"]
            if let tasks { params = ["task_ids": .array(tasks.map { .integer(Int64($0)) })] }
            _ = try await session.call("events.subscribe", params)
            return nil
        } catch let refusal as RPCRefusal {
            #expect(refusal.reason == "limit_exceeded", "\(refusal)")
            return refusal
        }
    }

    @Test func aConnectionHas64StreamsAndAUser1024() async throws {
        try await withDaemon { daemon in
            var sessions: [RPCSession] = []
            for _ in 0..<16 {
                // Without a transcript: thousands of messages of one kind.
                let session = try RPCSession(socket: daemon.socket)
                for _ in 0..<64 { #expect(try await refusal(of: session) == nil) }
                if sessions.isEmpty { #expect(try await refusal(of: session)?.data["limit"] == 64) }
                sessions.append(session)
            }
            let late = try RPCSession(socket: daemon.socket)
            #expect(try await refusal(of: late)?.data["limit"] == 1024)
            _ = try await sessions[0].call("events.unsubscribe", ["subscription": 1])
            try await eventually("the place of an ended stream is free") { try await refusal(of: late) == nil }
            #expect(try await refusal(of: late)?.data["limit"] == 1024)
            withExtendedLifetime(sessions) {}
        }
    }

    /// The filters are memory that the daemon holds for as long as the streams last.
    @Test func theStreamsOfAUserName100000Tasks() async throws {
        try await withDaemon { daemon in
            let session = try RPCSession(socket: daemon.socket)
            for index in 0..<9 {
                #expect(try await refusal(of: session, tasks: index * 10_000 + 1..<index * 10_000 + 10_001) == nil)
            }
            #expect(try await refusal(of: session, tasks: 1..<10_000) == nil)
            #expect(try await refusal(of: session, tasks: 1..<3)?.data["limit"] == 100_000)
            #expect(try await refusal(of: session, tasks: 1..<2) == nil)
            let other = try RPCSession(socket: daemon.socket)
            #expect(try await refusal(of: other, tasks: 1..<2)?.data["limit"] == 100_000)
            #expect(try await refusal(of: other) == nil, "a stream of all tasks names none")
            _ = try await session.call("events.unsubscribe", ["subscription": 1])
            try await eventually("the places of an ended stream are free") {
                try await refusal(of: other, tasks: 1..<10_001) == nil
            }
        }
    }
}
