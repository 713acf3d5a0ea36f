import Testing
import XferModel

@Suite struct AttemptTraceTests {
    private var trace: AttemptTrace {
        var trace = AttemptTrace(beganAt: Timestamp(microseconds: 0))
        trace.times.nameLookup = 5_000
        trace.times.connect = 205_000
        trace.times.firstByte = 900_000
        return trace
    }

    @Test func aNewConnectionsRoundTripIsThatOfItsHandshake() {
        #expect(trace.roundTrip == .milliseconds(200))
    }

    @Test func aKeptConnectionsRoundTripIsAtMostThatOfItsRequest() {
        var kept = trace
        kept.isReused = true
        (kept.times.nameLookup, kept.times.connect) = (nil, nil)
        #expect(kept.roundTrip == .milliseconds(900))
    }

    @Test func aConnectionThatIsNotMadeHasNoRoundTrip() {
        #expect(AttemptTrace(beganAt: Timestamp(microseconds: 0)).roundTrip == nil)
    }
}
