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

    @Test func beyondItsConnectionsBudgetAStreamFallsBehind() async {
        let hub = EventHub(capacity: 1000)
        let budget = EventBudget(limit: 100 * EventSubscription.cost)
        let subscription = hub.subscribe(EventFilter(), within: budget)
        hub.publish(events(1...100))
        #expect(budget.waiting == 100 * EventSubscription.cost)
        hub.publish(events(101...101))
        #expect(budget.waiting == 0)
        #expect(await subscription.next() == [.behind(after: 0)])
        // Nothing gathers while it is behind.
        hub.publish(events(102...400))
        #expect(budget.waiting == 0)
        #expect(!subscription.catchUp(to: 399))
        #expect(subscription.catchUp(to: 400))
        hub.publish(events(401...401))
        #expect(await subscription.next() == [.event(events(401...401)[0])])
    }

    @Test func countersOfTasksAreDroppedWhereTheBudgetHasNoRoomForThem() async {
        let hub = EventHub()
        let budget = EventBudget(limit: 2 * EventSubscription.progressCost)
        let subscription = hub.subscribe(EventFilter(includesProgress: true), within: budget)
        let snapshots = (1...3).map { task in
            ProgressSnapshot(
                taskID: TaskID(Int64(task)), owner: Owner(uid: 1000), phase: .transferring, received: 1, total: 9,
                rate: 1)
        }
        hub.publish(snapshots)
        #expect(await subscription.next() == snapshots.prefix(2).map { .progress($0) })
        hub.publish(snapshots)
        #expect(await subscription.next() == snapshots.prefix(2).map { .progress($0) })
        #expect(budget.waiting == 2 * EventSubscription.progressCost)
    }

    @Test func aHundredStreamsOfAUserHaveOneBudgetTogether() async {
        let hub = EventHub(capacity: 1000)
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
        #expect(await other.next()?.count == EventSubscription.largestBatch)
        withExtendedLifetime(streams) {}
    }

    /// What a reader was given counts until it comes for more: it may wait with it for its client.
    @Test func deliveredEventsCountUntilTheNextAreTaken() async {
        let hub = EventHub()
        let budget = EventBudget(limit: 1000 * EventSubscription.cost)
        var subscription: EventSubscription? = hub.subscribe(EventFilter(), within: budget)
        let batch = EventSubscription.largestBatch
        hub.publish(events(1...Int64(batch) + 8))
        #expect(await subscription?.next()?.count == batch)
        #expect(budget.waiting == (batch + 8) * EventSubscription.cost)
        #expect(await subscription?.next()?.count == 8)
        #expect(budget.waiting == 8 * EventSubscription.cost)
        if let subscription { hub.unsubscribe(subscription) }
        subscription = nil
        #expect(budget.waiting == 0)
    }
}
