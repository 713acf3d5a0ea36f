import Testing
import XferCore
import XferModel
import XferTestSupport

/// When changes are published, and what follows from them.
@Suite struct ReachabilityTests {
    private func at(_ seconds: Double) -> MonotonicInstant { MonotonicInstant(nanoseconds: Int64(seconds * 1e9)) }

    private static func facts(_ interfaces: String..., routed: Bool = true) -> NetworkFacts {
        var facts = NetworkFacts()
        for (index, name) in interfaces.enumerated() {
            let index = Int32(index + 2)
            facts.links.insert(NetworkFacts.Link(index: index, name: name, isRunning: true))
            if let address = ReachabilityRulesTests.ipv4 {
                facts.addresses.insert(NetworkFacts.Address(link: index, address: address, prefixLength: 24))
            }
            if routed { facts.defaultRoutes.insert(NetworkFacts.DefaultRoute(links: [index])) }
        }
        return facts
    }

    private let cheap = facts("eth0")
    private let dear = facts("wwan0")
    private let local = facts("eth0", routed: false)
    private let nothing = NetworkFacts()
    private let metered = [InterfacePattern("wwan*")].compactMap(\.self)

    @Test func theFirstStateIsThereAtOnce() {
        #expect(Reachability(facts: dear, metered: metered).announced == .metered)
        #expect(Reachability().announced == .unknown)
    }

    @Test func aChangeIsPublishedOnceItHasSettled() {
        var network = Reachability(facts: cheap)
        #expect(network.onFacts(nothing, at: at(10)) == at(10.5))
        #expect(network.current == .offline && network.announced == .unmetered)
        #expect(network.onTimer(at: at(10.4)) == nil)
        #expect(network.onTimer(at: at(10.5)) == Reachability.Change(state: .offline, wakes: false, hasLost: true))
        #expect(network.onTimer(at: at(11)) == nil)
        #expect(network.onFacts(cheap, at: at(20)) == at(20.5))
        #expect(network.onTimer(at: at(20.5)) == Reachability.Change(state: .unmetered, wakes: true, hasLost: false))
    }

    /// A momentary loss is no other state, but transfers that failed in that moment are tried again.
    @Test func aMomentaryLossIsNotPublishedAndWakesTasks() {
        var network = Reachability(facts: cheap)
        _ = network.onFacts(nothing, at: at(1))
        #expect(network.onFacts(cheap, at: at(1.2)) == at(1.7))
        #expect(network.onTimer(at: at(1.5)) == nil)
        #expect(network.onTimer(at: at(1.7)) == Reachability.Change(state: nil, wakes: true, hasLost: true))
    }

    @Test func aNetworkThatNeverSettlesIsPublishedEveryFewSeconds() {
        var network = Reachability(facts: cheap)
        var announced: [(Double, NetworkState)] = []
        var due: MonotonicInstant?
        for step in 0..<200 {
            let now = Double(step) / 10
            if let due, due <= at(now), let change = network.onTimer(at: at(now)) {
                announced.append((now, change.state ?? network.announced))
            }
            due = network.onFacts(step % 3 == 0 ? nothing : cheap, at: at(now))
        }
        #expect((3...4).contains(announced.count), "\(announced)")
        for (earlier, later) in zip(announced, announced.dropFirst()) { #expect(later.0 - earlier.0 >= 5) }
    }

    @Test func equalFactsArePublishedOnce() {
        var network = Reachability(facts: cheap)
        #expect(network.onFacts(cheap, at: at(1)) == nil)
        #expect(network.onTimer(at: at(9)) == nil)
        #expect(network.lastLoss == nil)
    }

    /// A local network counts as offline all the time, and its links still come and go.
    @Test func aLinkThatComesUpWakesTasksEvenIfTheStateStays() {
        var network = Reachability(facts: nothing)
        _ = network.onFacts(local, at: at(1))
        #expect(network.onTimer(at: at(1.5)) == Reachability.Change(state: nil, wakes: true, hasLost: false))
        _ = network.onFacts(nothing, at: at(2))
        #expect(network.onTimer(at: at(2.5)) == Reachability.Change(state: nil, wakes: false, hasLost: true))
    }

    /// A task that avoids metered links is held at once, before the change is published.
    @Test func meteredHoldsFromTheFirstMomentToTheLast() {
        var network = Reachability(facts: cheap, metered: metered)
        #expect(!network.isMetered)
        _ = network.onFacts(dear, at: at(1))
        #expect(network.isMetered && network.announced == .unmetered)
        #expect(network.onTimer(at: at(1.5))?.state == .metered)
        _ = network.onFacts(nothing, at: at(2))
        #expect(network.isMetered)
        #expect(network.onTimer(at: at(2.5)) == Reachability.Change(state: .offline, wakes: true, hasLost: true))
        #expect(!network.isMetered)
    }

    @Test func changedMeteredInterfacesApplyAtOnce() {
        var network = Reachability(facts: dear)
        #expect(network.onMetered(metered, at: at(1)) == at(1))
        #expect(network.onTimer(at: at(1)) == Reachability.Change(state: .metered, wakes: false, hasLost: false))
        #expect(network.onMetered(metered, at: at(2)) == nil)
        #expect(network.onMetered([], at: at(3)) == at(3))
        #expect(network.onTimer(at: at(3)) == Reachability.Change(state: .unmetered, wakes: true, hasLost: false))
        #expect(network.lastLoss == nil)
    }

    @Test func withoutAMonitorNoTaskIsHeldBack() {
        var network = Reachability(facts: nothing)
        _ = network.onFacts(nil, at: at(1))
        #expect(network.onTimer(at: at(1.5))?.state == .unknown)
        #expect(network.condition(since: at(2)) == .online)
    }

    @Test func aLossConcernsOnlyRunsThatBeganBeforeIt() {
        var network = Reachability(facts: cheap)
        _ = network.onFacts(local, at: at(5))
        #expect(
            network.condition(since: at(4))
                == NetworkCondition(isOffline: true, hasLostSinceStart: true, hasNeighbours: true))
        #expect(
            network.condition(since: at(6))
                == NetworkCondition(isOffline: true, hasLostSinceStart: false, hasNeighbours: true))
        _ = network.onFacts(cheap, at: at(7))
        #expect(network.condition(since: at(6)) == NetworkCondition(hasNeighbours: true))
        _ = network.onFacts(nothing, at: at(8))
        #expect(network.condition(since: at(9)) == NetworkCondition(isOffline: true))
    }

    /// Each published state differs from the one before, and the last equals the current state.
    @Test func randomChangesArePublishedInOrder() {
        var random = SplitMix64(seed: 8)
        for _ in 0..<300 {
            let all: [NetworkFacts?] = [cheap, dear, local, nothing, nil]
            var network = Reachability(facts: cheap, metered: metered)
            var (now, announced, due) = (0.0, network.announced, MonotonicInstant?.none)
            for step in 0..<40 {
                now += Double.random(in: 0.01...1, using: &random)
                if let target = due, target <= at(now) {
                    if let state = network.onTimer(at: at(now))?.state {
                        #expect(state != announced)
                        announced = state
                    }
                    due = nil
                }
                if step < 39, let next = all.randomElement(using: &random) {
                    due = network.onFacts(next, at: at(now)) ?? due
                }
            }
            if due != nil, let state = network.onTimer(at: at(now + 6))?.state { announced = state }
            #expect(announced == network.current)
            #expect(network.announced == network.current)
        }
    }
}
