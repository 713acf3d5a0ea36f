import Glibc
import Testing

@testable import XferDaemon

@Suite("Signals", .serialized)
struct SignalEventsTests {
    @Test("Signals come as a stream instead of ending the process")
    func stream() async throws {
        let signals = try SignalEvents.stream([.hangUp, .terminate])
        var iterator = signals.makeAsyncIterator()
        #expect(kill(getpid(), SIGHUP) == 0)
        #expect(await iterator.next() == .hangUp)
        #expect(kill(getpid(), SIGTERM) == 0)
        #expect(await iterator.next() == .terminate)
    }

    @Test("A signal that came before anybody listened is kept")
    func early() async throws {
        let signals = try SignalEvents.stream([.hangUp])
        #expect(kill(getpid(), SIGHUP) == 0)
        var iterator = signals.makeAsyncIterator()
        #expect(await iterator.next() == .hangUp)
    }

    @Test("The numbers are the system's")
    func numbers() {
        #expect(SignalEvents.Signal.terminate.rawValue == SIGTERM)
        #expect(SignalEvents.Signal.interrupt.rawValue == SIGINT)
        #expect(SignalEvents.Signal.hangUp.rawValue == SIGHUP)
    }

    @Test("Writing to a closed pipe is an error, not the end")
    func brokenPipe() throws {
        SignalEvents.ignoreBrokenPipes()
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        close(ends[0])
        defer { close(ends[1]) }
        #expect(write(ends[1], "x", 1) == -1)
        #expect(errno == EPIPE)
    }
}
