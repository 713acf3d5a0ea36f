import NIOConcurrencyHelpers
import XferCore
import XferCurl
import XferModel

/// The manager's hold on a run: asks it to stop, and reads how far it is.
///
/// The run may be between two attempts when it is asked to stop, so the wish is kept until the run looks.
final class RunControl: Sendable {
    private struct State {
        var isStopRequested = false
        var isPublishing = false
        var phase: TaskPhase = .connecting
        /// Several only of a download in segments.
        var attempts: [LiveAttempt] = []
        /// Of the hook that works on the file.
        var hook: HookStop?
        var received: Int64 = 0
        /// What the server has from earlier attempts, or from earlier requests of this one.
        var sent: Int64 = 0
        var total: Int64?
        var isResumable: Bool?
        /// Of a download in segments: what was received of it but by live attempts.
        var receivedElsewhere: Int64?
        /// Who knows how far it is.
        var followed: RunControl?
        /// What attempts that have ended moved over the network.
        var endedTraffic = Traffic()
        /// What `measure` has told already.
        var countedTraffic = Traffic()
        var receiveMeter = RateMeter()
        var sendMeter = RateMeter()

        var traffic: Traffic {
            attempts.reduce(into: endedTraffic) { $0 += Traffic($1.handle.progress.snapshot) }
        }
    }

    private struct LiveAttempt {
        let handle: AttemptHandle
        /// What it receives counts from this offset on.
        let origin: Int64

        var received: Int64 { max(0, handle.progress.snapshot.offset.subtractingSaturated(origin)) }
    }

    private let kind: TaskKind
    private let state = NIOLockedValueBox(State())

    init(kind: TaskKind) { self.kind = kind }

    var isStopRequested: Bool { state.withLockedValue(\.isStopRequested) }

    /// Measures how fast bytes move. Answers what moved over the network since this was called last.
    ///
    /// Several tasks may follow one transfer: of calls with the same instant the first one answers what moved.
    func measure(_ now: MonotonicInstant) -> Traffic {
        state.withLockedValue { state in
            let traffic = state.traffic
            state.receiveMeter.sample(traffic.received, at: now)
            state.sendMeter.sample(traffic.sent, at: now)
            defer { state.countedTraffic = traffic }
            return traffic - state.countedTraffic
        }
    }

    /// Bytes per second, as `measure` has seen them. What was kept, and what a cache had, never counts.
    var rates: Traffic {
        state.withLockedValue { Traffic(received: $0.receiveMeter.rate, sent: $0.sendMeter.rate) }
    }

    /// What has moved over the network so far.
    var traffic: Traffic { state.withLockedValue(\.traffic) }

    /// Who makes the requests: this one, or the transfer it follows.
    var mover: RunControl { followed ?? self }

    /// Bytes per second in the task's own direction.
    var rate: Int64 { kind == .upload ? mover.rates.sent : mover.rates.received }

    /// Whether what is held can be continued after a break, nil while that is not known.
    var isResumable: Bool? { followed?.isResumable ?? state.withLockedValue(\.isResumable) }

    /// The live attempts: none, one, or, of a download in segments, several.
    var attempts: [AttemptHandle] { state.withLockedValue { $0.attempts.map(\.handle) } }

    /// The latest phase and counters, from any thread.
    var progress: RunProgress {
        if let followed { return followed.progress }
        return state.withLockedValue { state in
            var progress = RunProgress(
                kind: kind, phase: state.phase, received: state.received, sent: state.sent, total: state.total)
            let snapshots = state.attempts.map(\.handle.progress.snapshot)
            guard let live = snapshots.first(where: \.isTransferring) ?? snapshots.first else { return progress }
            progress.phase = live.isTransferring ? .transferring : .connecting
            progress.received = state.attempts.reduce(state.receivedElsewhere ?? 0) { $0 + $1.received }
            progress.sent += live.sent
            // A request of an upload that goes on has only the rest to send.
            progress.total = kind == .upload ? state.total ?? live.sendTotal : live.total ?? state.total
            return progress
        }
    }

    /// Notes the hook that works on the file now; nil when it has ended. It is told of wishes to stop, earlier ones too.
    func note(_ hook: HookStop?) {
        state.withLockedValue { state in
            state.hook = hook
            if state.isStopRequested { hook?.request() }
        }
    }

    private var followed: RunControl? { state.withLockedValue(\.followed) }

    /// From now on somebody else tells how far it is: the transfer it waits for. Nil ends that.
    func follow(_ other: RunControl?) {
        let last = other == nil ? followed?.progress : nil
        state.withLockedValue { state in
            state.followed = other
            guard let last else { return }
            (state.phase, state.received, state.total) = (last.phase, last.received, last.total)
        }
    }

    /// What was to stop may go on.
    func withdrawStop() { state.withLockedValue { $0.isStopRequested = false } }

    /// Keeps the wish; the live attempts are for the caller to stop.
    func requestStop() -> [AttemptHandle] {
        state.withLockedValue { state in
            state.isStopRequested = true
            state.hook?.request()
            return state.attempts.map(\.handle)
        }
    }

    /// The last moment at which a wish to stop counts: false when there is one. What follows ends within moments.
    func beginPublishing() -> Bool {
        state.withLockedValue { state in
            if !state.isStopRequested { state.isPublishing = true }
            return state.isPublishing
        }
    }

    /// It was too late to stop: the file gets its final name now.
    var isPublishing: Bool { state.withLockedValue(\.isPublishing) }

    func enter(_ phase: TaskPhase) { state.withLockedValue { $0.phase = phase } }

    /// Notes an attempt that runs now; false when the run was asked to stop meanwhile.
    ///
    /// - Parameter origin: what it receives counts from this offset on; 0 counts what was kept before it, too.
    func begin(_ attempt: AttemptHandle, countingFrom origin: Int64 = 0) -> Bool {
        state.withLockedValue { state in
            state.attempts.append(LiveAttempt(handle: attempt, origin: origin))
            return !state.isStopRequested
        }
    }

    /// The attempt has ended; it was the only one with this many bytes kept, or one of several.
    func end(_ attempt: AttemptHandle, received: Int64) {
        state.withLockedValue { state in
            guard let index = state.attempts.firstIndex(where: { $0.handle.id == attempt.id }) else { return }
            let ended = state.attempts.remove(at: index)
            state.endedTraffic += Traffic(ended.handle.progress.snapshot)
            guard let elsewhere = state.receivedElsewhere else { return state.received = received }
            state.receivedElsewhere = elsewhere + ended.received
            state.received = elsewhere + ended.received
        }
    }

    /// From now on several attempts may bring parts of the whole, of which so much is there but for what live ones brought.
    /// Nil ends that.
    func noteSegments(receivedElsewhere: Int64?) {
        state.withLockedValue { $0.receivedElsewhere = receivedElsewhere }
    }

    func note(isResumable: Bool?) { state.withLockedValue { $0.isResumable = isResumable } }

    /// Bytes that are kept, and the complete length as far as known.
    func note(received: Int64, total: Int64?) {
        state.withLockedValue { state in
            state.received = received
            state.total = total
        }
    }

    /// Bytes the server has, and how many there are to send.
    func note(sent: Int64, total: Int64?) {
        state.withLockedValue { state in
            state.sent = sent
            state.total = total
        }
    }
}

/// Bytes of bodies that went over the network, or bytes per second: what was thrown away counts, what was kept before not.
struct Traffic: Hashable, Sendable {
    var received: Int64 = 0
    var sent: Int64 = 0

    static func += (left: inout Traffic, right: Traffic) {
        left.received += right.received
        left.sent += right.sent
    }

    static func - (left: Traffic, right: Traffic) -> Traffic {
        Traffic(received: left.received - right.received, sent: left.sent - right.sent)
    }
}

extension Traffic {
    fileprivate init(_ progress: AttemptProgress.Snapshot) {
        self.init(received: progress.received, sent: progress.sentInAll)
    }
}

/// How far a run is.
struct RunProgress: Hashable, Sendable {
    let kind: TaskKind
    var phase: TaskPhase
    var received: Int64
    var sent: Int64
    /// Of an upload what there is to send, else what there is to receive; nil while unknown.
    var total: Int64?
}
