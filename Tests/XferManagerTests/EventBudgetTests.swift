import Testing
import XferModel

@testable import XferManager

/// What waits for those who do not read is bounded, by connection and by user.
@Suite struct EventBudgetTests {
    private func events(_ range: ClosedRange<Int64>) -> [Event] {
        range.map { seq in
            Event(
                seq: seq, time: Timestamp(microseconds: seq), taskID: TaskID(1), owner: Owner(uid: 1000),
                payload: .taskResumed)
        }
    }

    @Test func beyondItsConnectionsBudgetAStreamEndsInAnOverflow() async {
        let hub = EventHub()
        let budget = EventBudget(limit: 100 * EventSubscription.cost)
        let subscription = hub.subscribe(EventFilter(), within: budget)
        hub.publish(events(1...100))
        #expect(budget.waiting == 100 * EventSubscription.cost)
        hub.publish(events(101...101))
        #expect(await subscription.next() == [.overflow(lastSeq: 0)])
        #expect(await subscription.next() == nil)
        #expect(budget.waiting == 0)
    }

    @Test func aHundredStreamsOfAUserHaveOneBudgetTogether() async {
        let hub = EventHub()
        let limit = 1000 * EventSubscription.cost
        let user = EventBudget(limit: limit)
        let others = EventBudget(limit: limit)
        let streams = (0..<100).map { _ in
            hub.subscribe(EventFilter(), within: EventBudget(limit: limit, within: user))
        }
        let other = hub.subscribe(EventFilter(), within: EventBudget(limit: limit, within: others))
        for start in stride(from: Int64(1), to: 500, by: 10) {
            hub.publish(events(start...start + 9))
            #expect(user.waiting <= limit)
        }
        #expect(await other.next()?.count == 200)
        withExtendedLifetime(streams) {}
    }

    /// What a reader was given counts until it comes for more: it may wait with it for its client.
    @Test func deliveredEventsCountUntilTheNextAreTaken() async {
        let hub = EventHub()
        let budget = EventBudget(limit: 1000 * EventSubscription.cost)
        var subscription: EventSubscription? = hub.subscribe(EventFilter(), within: budget)
        hub.publish(events(1...300))
        #expect(await subscription?.next()?.count == 200)
        #expect(budget.waiting == 300 * EventSubscription.cost)
        #expect(await subscription?.next()?.count == 100)
        #expect(budget.waiting == 100 * EventSubscription.cost)
        if let subscription { hub.unsubscribe(subscription) }
        subscription = nil
        #expect(budget.waiting == 0)
    }
}
