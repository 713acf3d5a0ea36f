import Testing

@testable import JSONRPC

@Suite struct TurnOrderTests {
    private static func requester(_ user: UInt32, _ connection: UInt64 = 1, _ isPrivileged: Bool = false)
        -> TurnRequester
    {
        TurnRequester(user: user, connection: connection, isPrivileged: isPrivileged)
    }

    @Test func noMoreTurnsAreGivenThanThereAre() {
        var order = TurnOrder<String>(limit: 2)
        let asked = ["a1", "a2", "a3"].map { order.request($0, for: Self.requester(1)) }
        #expect(asked == [true, true, false])
        let given = [order.giveBack(), order.giveBack()]
        #expect(given == ["a3", nil])
        let askedAgain = ["a4", "a5"].map { order.request($0, for: Self.requester(1)) }
        #expect(askedAgain == [true, false])
    }

    @Test func connectionsOfAUserTakeTurnsWhateverTheirNumberOfRequests() {
        var order = TurnOrder<String>(limit: 1)
        let waiting: [(String, UInt64)] = [
            ("a0", 1), ("a1", 1), ("a2", 1), ("a3", 1), ("b1", 2), ("b2", 2), ("c1", 3),
        ]
        let asked = waiting.map { order.request($0.0, for: Self.requester(7, $0.1)) }
        #expect(asked == [true, false, false, false, false, false, false])
        let given = (0..<7).map { _ in order.giveBack() }
        #expect(given == ["a1", "b1", "c1", "a2", "b2", "a3", nil])
        let askedLater = order.request("d", for: Self.requester(7, 4))
        #expect(askedLater)
    }

    @Test func usersTakeTurnsWhateverTheirNumberOfConnections() {
        var order = TurnOrder<String>(limit: 1)
        _ = order.request("a0", for: Self.requester(1))
        for connection in 1...60 as ClosedRange<UInt64> {
            _ = order.request("a\(connection)", for: Self.requester(1, connection))
        }
        _ = order.request("b1", for: Self.requester(2, 100))
        _ = order.request("b2", for: Self.requester(2, 100))
        _ = order.request("c1", for: Self.requester(3, 101))
        let given = (0..<6).map { _ in order.giveBack() }
        #expect(given == ["a1", "b1", "c1", "a2", "b2", "a3"])
    }

    @Test func reservedTurnsAreGivenToPrivilegedUsersAlone() {
        var order = TurnOrder<String>(limit: 2, reserved: 1)
        let guests = ["a1", "a2", "a3"].map { order.request($0, for: Self.requester(1)) }
        #expect(guests == [true, true, false])
        let operators = ["o1", "o2"].map { order.request($0, for: Self.requester(0, 9, true)) }
        #expect(operators == [true, false])
        // The turn of the privileged user goes to the next one of such a user.
        let afterOperator = order.giveBack()
        #expect(afterOperator == "o2")
        let afterLast = order.giveBack()
        #expect(afterLast == nil, "the guests have their turns")
        let afterGuest = order.giveBack()
        #expect(afterGuest == "a3")
    }

    /// At every moment: no turn too many, none free that a waiter may have, and everyone is served.
    @Test(arguments: 1...20) func everyRequestIsServedWithinTheLimits(seed: UInt64) {
        var state = seed
        func random(_ bound: UInt64) -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return (state >> 33) % bound
        }
        let (limit, reserved) = (Int(random(3)) + 1, Int(random(3)))
        var order = TurnOrder<TurnRequester>(limit: limit, reserved: reserved)
        var (running, waiting): ([TurnRequester], [TurnRequester]) = ([], [])
        func check() {
            let ordinary = running.count { !$0.isPrivileged }
            #expect(ordinary <= limit && running.count <= limit + reserved)
            if waiting.contains(where: \.isPrivileged) { #expect(running.count == limit + reserved) }
            if waiting.contains(where: { !$0.isPrivileged }) { #expect(running.count >= limit) }
        }
        for _ in 0..<500 {
            if random(5) < 3 {
                let user = UInt32(random(4))
                let requester = Self.requester(user, UInt64(user) * 10 + random(3), user == 0)
                if order.request(requester, for: requester) {
                    running.append(requester)
                } else {
                    waiting.append(requester)
                }
            } else if !running.isEmpty {
                running.remove(at: Int(random(UInt64(running.count))))
                if let next = order.giveBack() {
                    running.append(next)
                    if let index = waiting.firstIndex(of: next) { waiting.remove(at: index) } else { Issue.record() }
                }
            }
            check()
        }
        while !running.isEmpty {
            running.removeLast()
            if let next = order.giveBack() {
                running.append(next)
                if let index = waiting.firstIndex(of: next) { waiting.remove(at: index) }
            }
        }
        #expect(waiting.isEmpty)
    }
}
