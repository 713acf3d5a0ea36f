import Testing

@testable import JSONRPC

@Suite struct TurnOrderTests {
    @Test func noMoreTurnsAreGivenThanThereAre() {
        var order = TurnOrder<String>(limit: 2)
        let asked = ["a1", "a2", "a3"].map { order.ask($0, for: 1) }
        #expect(asked == [true, true, false])
        let given = [order.giveBack(), order.giveBack()]
        #expect(given == ["a3", nil])
        let askedAgain = ["a4", "a5"].map { order.ask($0, for: 1) }
        #expect(askedAgain == [true, false])
    }

    @Test func connectionsTakeTurnsWhateverTheirNumberOfRequests() {
        var order = TurnOrder<String>(limit: 1)
        let waiting: [(String, UInt64)] = [
            ("a0", 1), ("a1", 1), ("a2", 1), ("a3", 1), ("b1", 2), ("b2", 2), ("c1", 3),
        ]
        let asked = waiting.map { order.ask($0.0, for: $0.1) }
        #expect(asked == [true, false, false, false, false, false, false])
        let given = (0..<7).map { _ in order.giveBack() }
        #expect(given == ["a1", "b1", "c1", "a2", "b2", "a3", nil])
        let askedLater = order.ask("d", for: 4)
        #expect(askedLater)
    }
}
