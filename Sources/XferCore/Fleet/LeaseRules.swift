public import XferModel

/// The times of beats and leases. Each time is on the clock of one machine; clocks of different machines are never
/// compared.
public struct LeaseRules: Hashable, Sendable {
    /// The interval of a node's beats.
    public let beatInterval: Duration
    /// The time for which a node's tasks may run after it sent its last successful beat.
    public let leaseLength: Duration
    /// The time without a beat after which an observer considers the node dead.
    public let deathAfter: Duration
    /// The time for which a node continues to beat while its daemon does not answer.
    public let patience: Duration
    /// The time for which a node's refusal of a task is valid. Its settings, or its daemon's, may change later.
    public let refusalLength: Duration

    /// - Parameter scale: all times are divided by it; 1 in service, more in tests. At least 1.
    public init(scale: Int = 1) {
        let scale = max(1, scale)
        beatInterval = .seconds(5) / scale
        leaseLength = .seconds(25) / scale
        deathAfter = .seconds(40) / scale
        patience = .seconds(40) / scale
        refusalLength = .seconds(300) / scale
    }

    /// The time until which the node's daemon may run the tasks of the fleet.
    ///
    /// It counts from the sending: the observers' clocks began at the earliest when the beat was written.
    public func leaseEnd(beatSentAt: MonotonicInstant) -> MonotonicInstant { beatSentAt.advanced(by: leaseLength) }

    /// True if the node has to beat now.
    public func isBeatDue(lastSentAt: MonotonicInstant?, at now: MonotonicInstant) -> Bool {
        lastSentAt.map { $0.duration(to: now) >= beatInterval } ?? true
    }

    /// True if a node may beat although its daemon has been silent since `lastAnswerAt`.
    ///
    /// A node that beats keeps its tasks, although only a daemon could carry them out.
    public func mayBeat(lastAnswerAt: MonotonicInstant?, at now: MonotonicInstant) -> Bool {
        lastAnswerAt.map { $0.duration(to: now) < patience } ?? false
    }
}

/// An observer's record of the other nodes' beats.
///
/// It is a value without clocks: the time is a parameter, always of the observer's own boot clock.
public struct BeatObserver: Hashable, Sendable {
    /// A beat as the database has it.
    public struct Beat: Hashable, Sendable {
        public let incarnation: Int64
        public let count: Int64

        public init(incarnation: Int64, count: Int64) {
            self.incarnation = incarnation
            self.count = count
        }
    }

    /// The state of a node according to the time since its last beat.
    public enum Liveness: Hashable, Sendable {
        case live
        /// There was no beat for more than two intervals.
        case silent
        case dead
    }

    private struct Seen: Hashable, Sendable {
        var beat: Beat
        var changedAt: MonotonicInstant
    }

    private var seen: [String: Seen] = [:]

    public init() {}

    /// Applies the database's present beats. A node that is new, or whose beat has changed, is silent from now on; a
    /// node that is no longer listed is removed.
    public mutating func observe(_ beats: [String: Beat], at now: MonotonicInstant) {
        for (name, beat) in beats where seen[name]?.beat != beat { seen[name] = Seen(beat: beat, changedAt: now) }
        seen = seen.filter { beats[$0.key] != nil }
    }

    /// Restarts all counts. The observer's own contact was broken, so it saw no beats meanwhile.
    public mutating func restart() { seen = [:] }

    public func liveness(of name: String, _ rules: LeaseRules, at now: MonotonicInstant) -> Liveness {
        guard let silence = seen[name]?.changedAt.duration(to: now) else { return .silent }
        if silence >= rules.deathAfter { return .dead }
        return silence > rules.beatInterval * 2 ? .silent : .live
    }

    /// The nodes whose tasks are to be taken over, by name. Empty if more than half of all nodes are silent: then the
    /// cause is more likely the observer or the network, and an operator decides.
    ///
    /// - Parameter own: the observer itself, which is alive.
    public func dead(_ rules: LeaseRules, own: String, at now: MonotonicInstant) -> [String] {
        let dead = seen.keys.filter { $0 != own && liveness(of: $0, rules, at: now) == .dead }
        return dead.count * 2 > seen.count ? [] : dead.sorted()
    }
}
