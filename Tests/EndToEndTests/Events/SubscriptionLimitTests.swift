import StrictJSON
import Testing
import XferTestSupport

/// Streams of events are bounded for each connection and for each user.
@Suite struct SubscriptionLimitTests {
    private func refusal(of session: RPCSession) async throws -> RPCRefusal? {
        do {
            _ = try await session.call("events.subscribe", ["types": "task.added"])
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
}
