import NIOConcurrencyHelpers
import Testing
import XferCore
import XferModel
import XferTestSupport

@testable import XferCurl

/// Limits and timeouts of what is sent, by a clock of the test's own.
@Suite struct SendPacingTests {
    private let content = SourceVersion.tagged(130, length: 64 << 10).bytes

    @Test(arguments: [false, true])
    func aSendLimitAppliesToContentAndParts(asPart: Bool) async throws {
        let server = try await FaultServer()
        server.onAnyOther { _ in Reply(200, text: "ok") }
        let clock = ManualClock()
        let harness = try Harness(clock: clock)
        let content: AttemptContent =
            asPart ? .parts([AttemptPart(name: "a", content: .bytes(self.content))]) : .bytes(self.content)
        let handle = await harness.engine.start(
            try .exchange(.put, server.url("/x"), content) { attempt in
                attempt.maxSendRate = 64 << 10
                attempt.request.timeouts.idle = 0.2
            })
        let ended = Task { try await harness.follow(handle) }
        var steps = 0
        var last: Int64 = -1
        while handle.progress.snapshot.sent < 60_000, steps < 100 {
            // Eight kilobytes an eighth of a second.
            try await eventually("something more is sent") { handle.progress.snapshot.sent > last }
            last = handle.progress.snapshot.sent
            #expect(last <= Int64(steps + 1) * 8192 + 1000)
            clock.advance(by: .milliseconds(126))
            _ = await harness.engine.turns
            steps += 1
        }
        #expect(steps >= 7)
        clock.advance(by: .milliseconds(126))
        _ = await harness.engine.turns
        let record = try await ended.value
        #expect(record.outcome.result == .complete)
        #expect(server.requests.first?.body.count ?? 0 >= self.content.count)
    }

    @Test func aSendLimitCanBeLiftedDuringATransfer() async throws {
        let server = try await FaultServer()
        server.onAnyOther { _ in Reply(200, text: "ok") }
        let harness = try Harness(clock: ManualClock())
        let handle = await harness.engine.start(
            try .exchange(.put, server.url("/x"), .bytes(content)) { $0.maxSendRate = 2048 })
        try await eventually("the limit holds") { handle.progress.snapshot.sent > 0 }
        #expect(handle.progress.snapshot.sent < 8192)
        await harness.engine.setMaxSendRate(handle.id, 0)
        let record = try await harness.follow(handle)
        #expect(record.outcome.result == .complete)
        #expect(server.requests.first?.body == content)
    }

    /// All is in the system's hands at once and on its way for far longer than the timeout.
    @Test func contentThatTheServerReadsSlowlyDoesNotTimeOut() async throws {
        let (begun, read) = (Gate(), NIOLockedValueBox(0))
        // Not so much that the server is asked first.
        let portions = (0..<15).map { _ in Gate() }
        let length = portions.count << 16
        let server = try RawServer(receiveBuffer: 16 << 10) { connection in
            guard connection.readHead() != nil else { return }
            begun.open()
            for portion in portions {
                portion.block()
                let count = connection.read(1 << 16).count
                if count == 0 { return }
                read.withLockedValue { $0 += count }
            }
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        }
        let clock = ManualClock()
        let harness = try Harness(clock: clock)
        let handle = await harness.engine.start(
            try .exchange(.put, server.url("/x"), .bytes(Array(repeating: 1, count: length))) { attempt in
                attempt.request.timeouts.idle = 10
            })
        let ended = Task { try await harness.follow(handle) }
        await begun.wait()
        for (index, portion) in portions.enumerated() {
            portion.open()
            try await eventually("the server reads on") { read.withLockedValue { $0 } == (index + 1) << 16 }
            clock.advance(by: .seconds(7))
            _ = await harness.engine.turns
        }
        #expect(try await ended.value.outcome.head?.status == 200)
    }

    @Test func aServerThatReadsNoMoreContentTimesOut() async throws {
        let (begun, done) = (Gate(), Gate())
        let server = try RawServer(receiveBuffer: 16 << 10) { connection in
            guard connection.readHead() != nil else { return }
            begun.open()
            done.block()
        }
        defer { done.open() }
        let clock = ManualClock()
        let harness = try Harness(clock: clock)
        let handle = await harness.engine.start(
            try .exchange(.put, server.url("/x"), .bytes(Array(repeating: 1, count: 16 << 20))) { attempt in
                attempt.request.timeouts.idle = 10
            })
        let ended = Task { try await harness.follow(handle) }
        await begun.wait()
        // Once its buffers are full, time passes and nothing moves.
        try await eventually("it ends") {
            clock.advance(by: .seconds(11))
            await harness.turn()
            return await harness.engine.isPaused(handle.id) == nil
        }
        let record = try await ended.value
        #expect(record.error?.reason == .idleTimeout)
        #expect(record.outcome.requestWasSent)
        #expect(handle.progress.snapshot.sent < 16 << 20)
    }
}
