import Testing

@testable import XferGateway

/// Strangers take no places from clients with tokens.
struct ClientSeatsTests {
    @Test func aStrangerTooManyOfAnAddressEndsItsOldest() {
        var seats = ClientSeats<Int, String>(capacity: 64)
        #expect(seats.share == 16 && seats.sharePerAddress == 4)
        for key in 1...4 {
            let admission = seats.admit(key, from: "a")
            #expect(admission == .admitted(replacing: nil))
        }
        let fifth = seats.admit(5, from: "a")
        #expect(fifth == .admitted(replacing: 1))
        let other = seats.admit(6, from: "b")
        #expect(other == .admitted(replacing: nil), "another address has its own share")
    }

    @Test func beyondTheShareOfAllTheAddressWithTheMostLosesItsOldest() {
        var seats = ClientSeats<Int, String>(capacity: 16)
        #expect(seats.share == 4 && seats.sharePerAddress == 1)
        for (key, address) in [(1, "a"), (2, "b"), (3, "c"), (4, "d")] { _ = seats.admit(key, from: address) }
        let fifth = seats.admit(5, from: "e")
        guard case .admitted(let victim?) = fifth else {
            Issue.record("\(fifth)")
            return
        }
        #expect((1...4).contains(victim) && seats.count == 4)
    }

    @Test func thousandsOfStrangersKeepNoClientWithATokenOut() {
        var seats = ClientSeats<Int, Int>(capacity: 100)
        for key in 0..<2000 { _ = seats.admit(key, from: key % 500) }
        #expect(seats.count == 25)
        for key in 10_000..<10_075 {
            let admission = seats.admit(key, from: 7777)
            #expect(admission != .refused)
            seats.recognise(key)
        }
        // Members are never replaced, and strangers make room for more of them.
        for key in 20_000..<20_025 {
            let admission = seats.admit(key, from: 8888)
            #expect(admission != .refused)
            seats.recognise(key)
        }
        #expect(seats.count == 100)
        let last = seats.admit(30_000, from: 9)
        #expect(last == .refused)
        seats.remove(10_000)
        let next = seats.admit(30_001, from: 9)
        #expect(next == .admitted(replacing: nil) && seats.isAnonymous(30_001))
    }

    @Test func aSmallListenerHasOnePlaceForStrangers() {
        var seats = ClientSeats<Int, String>(capacity: 1)
        _ = seats.admit(1, from: "a")
        let second = seats.admit(2, from: "b")
        #expect(second == .admitted(replacing: 1))
        seats.recognise(2)
        let third = seats.admit(3, from: "c")
        #expect(third == .refused)
    }
}
