import XferCore
import XferModel

/// The tasks that wait for the body of a transfer, and their combined requirements.
///
/// A value without effects: `SharedTransfer` resumes the members that a method returns. Invariant: a method that
/// returns members to be resumed also removes them, so that each member is resumed exactly once.
struct TransferMembers {
    /// A task that waits for the body.
    struct Member {
        let run: any TransferSubscriber
        var maxRates: BandwidthLimits
        /// The conditional header fields: for `on_conflict: update`, which is never shared, or from a kept response's
        /// validators.
        let conditions: [HeaderField]
        /// The file whose bytes the transfer begins with: for `on_conflict: continue`, where transfers are never
        /// shared.
        let adopted: AdoptedFile?
        let asking: CheckedContinuation<SharedTransfer.Delivery, Never>
        /// The number of the last response head that was reported to this member.
        var reportedHead: Int

        func resume(_ delivery: SharedTransfer.Delivery) { asking.resume(returning: delivery) }
    }

    private(set) var waiting: [TaskID: Member] = [:]
    /// The members that left when no other member waited. They are resumed when the received bytes are durable.
    private(set) var leaving: [TaskID: Member] = [:]

    var isEmpty: Bool { waiting.isEmpty }
    var ids: [TaskID] { waiting.keys.sorted() }

    /// The runs of all members that have not been resumed.
    var runs: [any TransferSubscriber] { [waiting, leaving].flatMap { $0.values.map(\.run) } }

    // MARK: Joining and leaving

    mutating func insert(_ member: Member) { waiting[member.run.taskID] = member }

    mutating func remove(_ id: TaskID) -> Member? { waiting.removeValue(forKey: id) }

    /// Adds a member that left; it resumes when the received bytes are durable.
    mutating func beginLeaving(_ member: Member) { leaving[member.run.taskID] = member }

    /// Removes the members that are leaving.
    mutating func removeLeaving() -> [Member] {
        defer { leaving = [:] }
        return Array(leaving.values)
    }

    /// Removes the members that wait.
    mutating func removeWaiting() -> [Member] {
        defer { waiting = [:] }
        return Array(waiting.values)
    }

    /// Removes the members whose requests would have these conditions.
    mutating func removeWaiting(with conditions: [HeaderField]) -> [Member] {
        let found = waiting.filter { $0.value.conditions == conditions }
        for id in found.keys { waiting[id] = nil }
        return Array(found.values)
    }

    /// Sets the rate limits of a member. Returns false if the task is not a waiting member.
    mutating func setMaxRates(_ rates: BandwidthLimits, of id: TaskID) -> Bool {
        waiting[id]?.maxRates = rates
        return waiting[id] != nil
    }

    /// Records the head as reported to the member and returns the member; nil if the head was reported to it before.
    mutating func beginReport(of head: Int, to id: TaskID) -> Member? {
        guard let member = waiting[id], member.reportedHead != head else { return nil }
        waiting[id]?.reportedHead = head
        return member
    }

    // MARK: Combined requirements

    /// The highest limit among the members, unlimited (0) if one of them is unlimited; nil without members.
    var maxRates: BandwidthLimits? {
        guard !waiting.isEmpty else { return nil }
        return BandwidthLimits(
            receive: SharingRules.highestRate(waiting.values.map(\.maxRates.receive)),
            send: SharingRules.highestRate(waiting.values.map(\.maxRates.send)))
    }

    /// The conditions that all members have. If they differ, the request has none: a whole response suits all of them.
    var conditions: [HeaderField] { SharingRules.common(waiting.values.map(\.conditions)) ?? [] }

    /// The file whose bytes the transfer begins with; nil if there is none.
    var adopted: AdoptedFile? { waiting.values.lazy.compactMap(\.adopted).first }

    /// The types that all members accept. If they differ, each member checks the type itself.
    var acceptedTypes: [String] {
        SharingRules.common(waiting.values.map(\.run.specification.request.acceptedTypes)) ?? []
    }

    /// The number of segments that each member wants.
    func wantedSegments(default count: SegmentCount) -> [SegmentCount] {
        waiting.values.map { $0.run.specification.segments ?? count }
    }

    /// The digest that each member demands, or nil, in the order of the task ids.
    var demandedDigests: [Checksum?] {
        waiting.sorted { $0.key < $1.key }.map(\.value.run.specification.checksum)
    }

    /// True if every member would be retried soon if this run failed.
    ///
    /// - Parameter hasGained: true if this run has received bytes that are kept.
    func arePatient(hasGained: Bool) -> Bool {
        waiting.values.allSatisfy { member in
            let limits = member.run.specification.retry
            let tries = tries(of: member, hasGained: hasGained)
            return limits.retryFor > 0 && MirrorSelector.isPatient(tries: tries, maxRetries: limits.maxRetries)
        }
    }

    /// The attempts of the member that has made the fewest, as `TransferTask.attempts` counts them; 0 without members.
    func fewestTries(hasGained: Bool) -> Int { waiting.values.map { tries(of: $0, hasGained: hasGained) }.min() ?? 0 }

    private func tries(of member: Member, hasGained: Bool) -> Int {
        hasGained ? min(member.run.context.tries, 1) : member.run.context.tries
    }
}

/// A task's run as its transfer sees it: one of the members that wait for the body.
protocol TransferSubscriber: TaskRun {
    /// Handles the head of a response whose body is arriving. Returns false if the task does not want the body.
    func apply(_ update: ResponseUpdate) async -> Bool
    /// Records the head of a response without a body.
    func record(_ head: ResponseHead, from url: HTTPURL?)
}

/// Events and facts that a member has not committed yet.
struct MemberChanges: Sendable {
    var events: [EventPayload]
    var outcome: TaskOutcome
}

extension TransferSubscriber {
    var maxRates: BandwidthLimits { attemptState.maxRates }

    func add(_ events: [EventPayload]) { pendingEvents += events }

    /// Returns the changes that the transfer commits for this member, and removes the member's pending events.
    func removeChanges() -> MemberChanges {
        defer { pendingEvents = [] }
        return MemberChanges(events: pendingEvents, outcome: outcome)
    }
}
