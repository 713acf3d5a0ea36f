import Testing
import XferCore
import XferModel
import XferTestSupport

/// Transfers as fast as a loop lets them be, and a clock that is moved from turn to turn.
private struct Loop {
    struct Transfer {
        var scopes: [RateScope] = [.service]
        var chunk = 16 << 10
        /// Seconds between two chunks of its server.
        var pause = 0.0
        var taken: Int64 = 0
        var ready = 0.0
        var isRefused = false
    }

    var gate = RateGate<Int>()
    var transfers: [Transfer]
    var now = MonotonicInstant(nanoseconds: 1_000_000_000)
    var elapsed = 0.0

    init(_ transfers: [Transfer]) { self.transfers = transfers }

    /// Lets every transfer take what the limits allow until `seconds` after the beginning.
    mutating func run(until seconds: Double, lateness: Double = 0.001) {
        while elapsed < seconds {
            for id in transfers.indices where !transfers[id].isRefused && transfers[id].ready <= elapsed { ask(id) }
            while let id = gate.next(now) {
                transfers[id].isRefused = false
                ask(id)
            }
            advance(by: lateness)
        }
    }

    /// The loop reads a socket's buffer in one go.
    private mutating func ask(_ id: Int) {
        let transfer = transfers[id]
        var buffered = transfer.pause > 0 ? transfer.chunk : 256 << 10
        while buffered > 0 {
            guard gate.mayTake(id, in: transfer.scopes, now: now) else {
                transfers[id].isRefused = true
                return
            }
            gate.spend(transfer.chunk, by: id, in: transfer.scopes, now: now)
            transfers[id].taken += Int64(transfer.chunk)
            buffered -= transfer.chunk
        }
        transfers[id].ready = elapsed + transfer.pause
    }

    private mutating func advance(by seconds: Double) {
        elapsed += seconds
        now = now.advanced(by: .nanoseconds(Int64(seconds * 1e9)))
    }

    var total: Int64 { transfers.reduce(0) { $0 + $1.taken } }
}

private let a = GroupKey(owner: Owner(uid: 1000), name: "a")

@Suite struct RateGateTests {
    @Test(arguments: [64 << 10, 1 << 20, 50 << 20] as [Int64], [1, 4, 32])
    func theRateHoldsOverFiveSecondsForAnyNumberOfTransfers(rate: Int64, count: Int) {
        var loop = Loop(Array(repeating: Loop.Transfer(), count: count))
        loop.gate.setLimits([.service: rate], now: loop.now)
        loop.run(until: 5)
        #expect(Double(loop.total) <= Double(rate) * 5 * 1.1)
        #expect(Double(loop.total) >= Double(rate) * 5 * 0.9)
    }

    @Test func theRateIsSharedEvenlyWhateverTheServersSend() {
        var loop = Loop([Loop.Transfer(chunk: 1000), Loop.Transfer(chunk: 16 << 10), Loop.Transfer(chunk: 64 << 10)])
        loop.gate.setLimits([.service: 5 << 20], now: loop.now)
        loop.run(until: 20)
        let shares = loop.transfers.map { Double($0.taken) / Double(loop.total) }
        for share in shares { #expect((0.25...0.45).contains(share), "\(shares)") }
    }

    @Test func theShareThatASlowServerLeavesGoesToTheOthers() {
        // 16 KiB a second each.
        let slow = Loop.Transfer(pause: 1)
        var loop = Loop([slow, slow, Loop.Transfer()])
        loop.gate.setLimits([.service: 1 << 20], now: loop.now)
        loop.run(until: 10)
        #expect(Double(loop.total) >= 10 * Double(1 << 20) * 0.9)
        #expect((8...11).contains(loop.transfers[0].taken / (16 << 10)))
    }

    @Test func aTransferObeysEveryLimitOfItsScopes() {
        let inGroup = Loop.Transfer(scopes: [.service, .group(a)])
        let inBoth = Loop.Transfer(scopes: [.service, .group(a), .profile("p")])
        var loop = Loop([inGroup, inGroup, inBoth, Loop.Transfer()])
        loop.gate.setLimits([.service: 10 << 20, .group(a): 1 << 20, .profile("p"): 100 << 10], now: loop.now)
        loop.run(until: 10)
        let taken = loop.transfers.map(\.taken)
        #expect(Double(taken[2]) <= 10 * Double(100 << 10) * 1.1)
        #expect(Double(taken[2]) >= 10 * Double(100 << 10) * 0.85)
        let group = taken[0] + taken[1] + taken[2]
        #expect((0.9...1.1).contains(Double(group) / Double(10 << 20)))
        // A group at its limit holds no other transfer back.
        #expect((0.9...1.1).contains(Double(loop.total) / Double(100 << 20)))
    }

    @Test func withoutALimitNoTransferWaits() {
        var gate = RateGate<Int>()
        let now = MonotonicInstant(nanoseconds: 1)
        #expect(gate.lowestRate(in: [.service]) == nil)
        for id in 0..<100 {
            let isAdmitted = gate.mayTake(id, in: [.service, .group(a)], now: now)
            #expect(isAdmitted)
            gate.spend(1 << 30, by: id, in: [.service, .group(a)], now: now)
        }
        let (deadline, next) = (gate.deadline(now), gate.next(now))
        #expect(deadline == nil && next == nil)
    }

    @Test func aRemovedLimitReleasesWaitingTransfers() {
        var loop = Loop(Array(repeating: Loop.Transfer(), count: 3))
        loop.gate.setLimits([.service: 1000], now: loop.now)
        loop.run(until: 1)
        #expect(loop.total == 16 << 10)
        loop.gate.setLimits([:], now: loop.now)
        let deadline = loop.gate.deadline(loop.now)
        #expect(deadline == loop.now)
        var released: Set<Int> = []
        while let id = loop.gate.next(loop.now) { released.insert(id) }
        #expect(released == [0, 1, 2])
        let isAdmitted = loop.gate.mayTake(0, in: [.service], now: loop.now)
        #expect(isAdmitted)
    }

    @Test func aChangedRateHoldsAtOnce() {
        var loop = Loop(Array(repeating: Loop.Transfer(), count: 4))
        loop.gate.setLimits([.service: 1 << 20], now: loop.now)
        loop.run(until: 5)
        let before = loop.total
        loop.gate.setLimits([.service: 4 << 20], now: loop.now)
        loop.run(until: 10)
        #expect((0.9...1.1).contains(Double(loop.total - before) / Double(20 << 20)))
    }

    @Test func aLimitThatIsSetByItselfLeavesTheOthers() {
        var gate = RateGate<Int>()
        let now = MonotonicInstant(nanoseconds: 1)
        gate.setLimits([.service: 1000, .profile("a"): 10, .profile("b"): 20], now: now)
        gate.setLimit(5, of: .profile("a"), now: now)
        gate.setLimit(7, of: .profile("c"), now: now)
        gate.setLimit(nil, of: .profile("none"), now: now)
        #expect(["a", "b", "c"].map { gate.lowestRate(in: [.profile($0)]) } == [5, 20, 7])
        gate.spend(100, by: 1, in: [.profile("a"), .profile("c")], now: now)
        let admitted = [2, 3].filter { gate.mayTake($0, in: [.profile($0 == 2 ? "a" : "c")], now: now) }
        #expect(admitted == [])
        gate.setLimit(nil, of: .profile("a"), now: now)
        let (released, other) = (gate.next(now), gate.next(now))
        #expect(released == 2 && other == nil)
        #expect(gate.lowestRate(in: [.profile("a")]) == nil && gate.lowestRate(in: [.service]) == 1000)
    }

    @Test func aTransferThatLeavesDoesNotDelayTheOthers() throws {
        var gate = RateGate<Int>()
        var now = MonotonicInstant(nanoseconds: 1)
        gate.setLimits([.service: 1000], now: now)
        for id in 0..<3 {
            if gate.mayTake(id, in: [.service], now: now) { gate.spend(1000, by: id, in: [.service], now: now) }
        }
        gate.leave(1)
        let deadline = gate.deadline(now)
        now = try #require(deadline)
        let turns = [gate.next(now), gate.next(now)]
        #expect(turns == [2, nil])
        gate.leave(2)
        let later = gate.deadline(now)
        #expect(later == nil)
    }

    /// Transfers queue at two limits: a turn in one queue must not cost the place in the other for ever.
    @Test func noTransferStarvesBetweenTheQueuesOfTwoLimits() {
        let members = (0..<6).map { Loop.Transfer(scopes: $0.isMultiple(of: 2) ? [.service, .group(a)] : [.service]) }
        var loop = Loop(members)
        loop.gate.setLimits([.service: 1 << 20, .group(a): 512 << 10], now: loop.now)
        loop.run(until: 30)
        for transfer in loop.transfers { #expect(transfer.taken > 2 << 20) }
    }

    @Test func aLoopIsGivenOnlyItsOwnWaitingTransfers() {
        var gate = RateGate<Int>()
        let isEven: (Int) -> Bool = { $0.isMultiple(of: 2) }
        let isOdd: (Int) -> Bool = { !isEven($0) }
        var now = MonotonicInstant(nanoseconds: 0)
        func next(_ isOurs: (Int) -> Bool) -> Int? { gate.next(now, where: isOurs) }
        func deadline(_ isOurs: (Int) -> Bool) -> MonotonicInstant? { gate.deadline(now, where: isOurs) }
        gate.setLimits([.service: 1000], now: now)
        gate.spend(2000, by: 1, in: [.service], now: now)
        let admitted = [2, 3, 4].filter { gate.mayTake($0, in: [.service], now: now) }
        #expect(admitted == [])
        #expect(gate.firsts == [2])
        // Only the loop of the first in line gets a deadline.
        #expect(deadline(isEven) == MonotonicInstant(nanoseconds: 2_000_000_000))
        #expect(deadline(isOdd) == nil)
        now = MonotonicInstant(nanoseconds: 2_000_000_000)
        #expect(next(isOdd) == nil)
        #expect(next(isEven) == 2)
        #expect(gate.firsts == [3])
        #expect(next(isEven) == nil)
        #expect(next(isOdd) == 3)
        // Without limits each loop gets only its own released transfers.
        gate.setLimits([:], now: now)
        #expect(deadline(isOdd) == nil)
        #expect(next(isOdd) == nil)
        #expect(next(isEven) == 4)
        #expect(next { _ in true } == nil)
    }
}
