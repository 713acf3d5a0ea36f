import Testing
import XferCore

@Suite struct ConnectionLossesTests {
    private static let large = ConnectionLosses.leastBody

    @Test func aConnectionOfALossyLineIsTiredBeforeALargeBody() {
        let losses = ConnectionLosses(segments: 1000, outOfOrder: 30)
        #expect(losses.isTired(before: Self.large))
        #expect(!losses.isTired(before: Self.large - 1))
        #expect(!losses.isTired(before: -1))
    }

    @Test func aConnectionWithFewLossesIsNotTired() {
        #expect(!ConnectionLosses(segments: 100, outOfOrder: 7).isTired(before: Self.large), "it may be one packet")
        #expect(ConnectionLosses(segments: 1600, outOfOrder: 8).isTired(before: Self.large))
        #expect(!ConnectionLosses(segments: 1601, outOfOrder: 8).isTired(before: Self.large))
        #expect(!ConnectionLosses(segments: .max, outOfOrder: 0).isTired(before: .max))
        #expect(ConnectionLosses(segments: 0, outOfOrder: .max).isTired(before: .max))
    }
}
