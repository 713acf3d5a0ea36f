import Testing
import XferModel

@testable import XferManager

/// What reaches a subscriber, in which order, and what becomes of one that does not read.
@Suite struct EventSubscriptionTests {
    private static let owner = Owner(uid: 1000)

    private func event(_ seq: Int64, task: Int64 = 1, _ payload: EventPayload = .taskResumed) -> Event {
        Event(
            seq: seq, time: Timestamp(microseconds: seq), taskID: TaskID(task), owner: Self.owner, payload: payload)
    }

    private func progress(_ task: Int64, _ received: Int64) -> ProgressSnapshot {
        ProgressSnapshot(
            taskID: TaskID(task), owner: Self.owner, phase: .transferring, received: received, total: 100, rate: 1)
    }

    private func completed(_ seq: Int64) -> Event {
        event(seq, .taskCompleted(path: "/x", size: 100, skipped: false, notModified: false))
    }

    @Test func unreadProgressIsReplacedByTheNewest() async {
        let hub = EventHub()
        let subscription = hub.subscribe(EventFilter(includesProgress: true))
        hub.publish([progress(1, 10), progress(2, 5)])
        hub.publish([progress(1, 20)])
        #expect(await subscription.next() == [.progress(progress(1, 20)), .progress(progress(2, 5))])
    }

    @Test func theLastProgressComesBeforeTheTerminalEventAndIsWhole() async {
        let hub = EventHub()
        let subscription = hub.subscribe(EventFilter(includesProgress: true))
        hub.publish([progress(1, 10)])
        _ = await subscription.next()
        hub.publish([completed(1)])
        #expect(await subscription.next() == [.progress(progress(1, 100)), .event(completed(1))])
    }

    @Test func aSubscriberToFewTasksReceivesTheirEventsInOrder() async {
        let hub = EventHub()
        let few = hub.subscribe(EventFilter(includesProgress: true, taskIDs: Set([3, 7, 99].map { TaskID($0) })))
        let all = hub.subscribe(EventFilter())
        let events = (1...40).map { event(Int64($0), task: Int64($0 % 10)) }
        hub.publish(events)
        hub.publish((1...40).map { progress(Int64($0), 1) })
        let wanted = events.filter { [TaskID(3), TaskID(7)].contains($0.taskID) }.map(EventSubscription.Delivery.event)
        #expect(await few.next() == wanted + [.progress(progress(3, 1)), .progress(progress(7, 1))])
        let first = EventSubscription.largestBatch
        #expect(await all.next() == events.prefix(first).map(EventSubscription.Delivery.event))
        #expect(await all.next() == events.dropFirst(first).map(EventSubscription.Delivery.event))
    }

    /// Nothing about a task follows its terminal event: a sample taken just before may be delivered just after.
    @Test func noProgressFollowsTheTerminalEvent() async {
        let hub = EventHub()
        let subscription = hub.subscribe(EventFilter(includesProgress: true))
        hub.publish([progress(1, 10)])
        hub.publish([event(1, .taskCancelled)])
        hub.publish([event(2, task: 2)])
        #expect(
            await subscription.next()
                == [.progress(progress(1, 10)), .event(event(1, .taskCancelled)), .event(event(2, task: 2))])
    }

    @Test func aSubscriberThatDoesNotReadFallsBehindAndOthersDoNot() async {
        let hub = EventHub(capacity: 3)
        let subscription = hub.subscribe(EventFilter())
        let other = hub.subscribe(EventFilter())
        for seq in 1...3 { hub.publish([event(Int64(seq))]) }
        #expect(await other.next()?.count == 3)
        for seq in 4...5 { hub.publish([event(Int64(seq))]) }
        #expect(await subscription.next() == [.behind(after: 0)])
        #expect(await other.next() == [.event(event(4)), .event(event(5))], "others are not delayed")
    }

    /// It reads from the store what was queued and dropped: everything after the last event it received.
    @Test func aSubscriberThatHasCaughtUpReceivesEachLaterEventOnce() async {
        let hub = EventHub(capacity: 2)
        let subscription = hub.subscribe(EventFilter())
        hub.publish([event(1), event(2)])
        #expect(await subscription.next()?.count == 2)
        hub.publish([event(3), event(4), event(5)])
        #expect(await subscription.next() == [.behind(after: 2)])
        #expect(!subscription.catchUp(to: 4), "5 is in the store")
        // The store may be ahead of what was published.
        #expect(subscription.catchUp(to: 6))
        hub.publish([event(6), event(7)])
        #expect(await subscription.next() == [.event(event(7))])
    }

    /// The store need not have the older events any more.
    @Test func aSubscriberFallsBehindOnlyToTheFirstEventThatItHasMissed() async {
        let hub = EventHub(capacity: 1)
        let subscription = hub.subscribe(EventFilter(taskIDs: [TaskID(2)]))
        for seq in 1...1000 { hub.publish([event(Int64(seq))]) }
        hub.publish([event(1001, task: 2), event(1002, task: 2)])
        #expect(await subscription.next() == [.behind(after: 1000)])
        #expect(subscription.catchUp(to: 1002))
        hub.publish([event(1003, task: 2)])
        #expect(await subscription.next() == [.event(event(1003, task: 2))])
    }

    @Test func aSubscriberThatBeginsBehindReceivesNothingBeforeItHasCaughtUp() async {
        let hub = EventHub()
        hub.begin(after: 9)
        let subscription = hub.subscribe(EventFilter(), behind: 4)
        hub.publish([event(10)])
        #expect(subscription.startSeq == 9 && subscription.backlog == 0)
        #expect(!subscription.catchUp(to: 9))
        #expect(subscription.catchUp(to: 10))
        hub.publish([event(11)])
        #expect(await subscription.next() == [.event(event(11))])
    }

    @Test func aSubscriberThatSkipsReceivesWhatComesThen() async {
        let hub = EventHub(capacity: 1)
        let subscription = hub.subscribe(EventFilter())
        hub.publish([event(1), event(2)])
        #expect(await subscription.next() == [.behind(after: 0)])
        subscription.skip()
        hub.publish([event(3)])
        #expect(await subscription.next() == [.event(event(3))])
    }

    /// Counters may be lost while a subscriber is behind, but never follow the end of their task.
    @Test func noProgressOfAnEndedTaskFollowsOnceASubscriberHasCaughtUp() async {
        let hub = EventHub(capacity: 1)
        let subscription = hub.subscribe(EventFilter(includesProgress: true))
        hub.publish([event(1), event(2)])
        hub.publish([progress(1, 10), progress(2, 10)])
        hub.publish([event(3, .taskCancelled)])
        #expect(await subscription.next() == [.behind(after: 0)])
        #expect(subscription.catchUp(to: 3))
        #expect(await subscription.next() == [.progress(progress(2, 10))])
    }

    /// A subscriber without terminal events gets no progress of a task that has ended.
    @Test func waitingProgressIsForgottenWithItsTask() async {
        let hub = EventHub()
        let subscription = hub.subscribe(EventFilter(types: [.taskAdded], includesProgress: true))
        hub.publish([progress(1, 10), progress(2, 10)])
        hub.publish([event(1, .taskCancelled)])
        #expect(await subscription.next() == [.progress(progress(2, 10))])
    }

    @Test func aSubscriptionStartsAfterEventsPublishedBefore() async {
        let hub = EventHub()
        hub.begin(after: 7)
        hub.publish([event(8)])
        let subscription = hub.subscribe(EventFilter())
        #expect(subscription.startSeq == 8)
        hub.publish([event(9)])
        #expect(await subscription.next() == [.event(event(9))])
    }

    @Test func eventsOfAnotherOwnersTasksAreNotDelivered() async {
        let hub = EventHub()
        let subscription = hub.subscribe(EventFilter(includesProgress: true, owner: Owner(uid: 1)))
        hub.publish([event(1)])
        hub.publish([progress(1, 10)])
        hub.unsubscribe(subscription)
        #expect(await subscription.next() == nil)
    }

    @Test func endingASubscriptionWakesItsWaitingReader() async {
        let hub = EventHub()
        let subscription = hub.subscribe(EventFilter())
        async let read = subscription.next()
        hub.unsubscribe(subscription)
        #expect(await read == nil)
    }
}
