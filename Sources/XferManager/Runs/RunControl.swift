import NIOConcurrencyHelpers
import XferCore
import XferCurl
import XferModel

/// The control with which `RunScheduler` stops a run and reads its progress.
///
/// The run may be between two attempts when the scheduler requests a stop, so the request is kept until the run checks
/// it.
final class RunControl: Sendable {
    private struct State {
        var isStopRequested = false
        /// True once the run has begun to end without a stop request, so that no attempt may begin.
        var isEnding = false
        var isPublishing = false
        var phase: TaskPhase = .connecting
        /// The live attempts; more than one only for a transfer in segments or parts.
        var attempts: [LiveAttempt] = []
        /// The hook that works on the file.
        var hook: HookStop?
        var received: Int64 = 0
        /// The number of bytes that the server has from earlier attempts, or from earlier requests of this attempt.
        var sent: Int64 = 0
        var total: Int64?
        var isResumable: Bool?
        /// The number of bytes received of a download in segments, without those of live attempts.
        var receivedElsewhere: Int64?
        /// The control of the transfer that fetches the body, while the run waits for it.
        var followed: RunControl?
        /// The measurements of the attempt that ended last.
        var trace: AttemptTrace?
        /// Network traffic of attempts that have ended.
        var endedTraffic = Traffic()
        /// Traffic that `measure` has returned already.
        var countedTraffic = Traffic()
        var receiveMeter = RateMeter()
        var sendMeter = RateMeter()

        var traffic: Traffic {
            attempts.reduce(into: endedTraffic) { $0 += Traffic($1.handle.progress.snapshot) }
        }
    }

    private struct LiveAttempt {
        let handle: AttemptHandle
        /// The offset from which received bytes are counted.
        let origin: Int64

        var received: Int64 { max(0, handle.progress.snapshot.offset.subtractingSaturated(origin)) }
    }

    private let kind: TaskKind
    private let state: NIOLockedValueBox<State>

    init(kind: TaskKind) {
        self.kind = kind
        state = NIOLockedValueBox(State())
    }

    /// Shows the progress in the task's row until the run has opened the kept bytes.
    init(of task: TransferTask) {
        kind = task.specification.kind
        var initial = State()
        // Every attempt of the other requests begins with the first byte.
        if kind == .download || task.specification.upload.uploadProtocol != .plain {
            (initial.received, initial.sent, initial.total) = (task.received, task.sent, task.total)
        }
        state = NIOLockedValueBox(initial)
    }

    var isStopRequested: Bool { state.withLockedValue(\.isStopRequested) }

    /// Samples the rates. Returns the network traffic since the last call.
    ///
    /// Each call returns only the traffic since the previous one, so the metrics count every byte once.
    func measure(_ now: MonotonicInstant) -> Traffic {
        state.withLockedValue { state in
            let traffic = state.traffic
            state.receiveMeter.sample(traffic.received, at: now)
            state.sendMeter.sample(traffic.sent, at: now)
            defer { state.countedTraffic = traffic }
            return traffic - state.countedTraffic
        }
    }

    /// Bytes per second, as `measure` has sampled them. Kept bytes and bytes from a cache never count.
    var rates: Traffic {
        state.withLockedValue { Traffic(received: $0.receiveMeter.rate, sent: $0.sendMeter.rate) }
    }

    /// The network traffic so far.
    var traffic: Traffic { state.withLockedValue(\.traffic) }

    /// The control whose run makes the requests: this one, or that of its transfer.
    var mover: RunControl { followed ?? self }

    /// The rate in the task's own direction in bytes per second.
    var rate: Int64 { kind == .upload ? mover.rates.sent : mover.rates.received }

    /// True if kept bytes can be continued after an interruption; nil while that is not known.
    var isResumable: Bool? { followed?.isResumable ?? state.withLockedValue(\.isResumable) }

    /// The live attempts; more than one only for a transfer in segments or parts.
    var attempts: [AttemptHandle] { state.withLockedValue { $0.attempts.map(\.handle) } }

    /// The latest phase and counters. It can be read from any thread.
    var progress: RunProgress {
        if let followed { return followed.progress }
        return state.withLockedValue { state in
            var progress = RunProgress(
                kind: kind, phase: state.phase, received: state.received, sent: state.sent, total: state.total)
            let snapshots = state.attempts.map(\.handle.progress.snapshot)
            guard let live = snapshots.first(where: \.isUnderWay) ?? snapshots.first else { return progress }
            progress.phase = live.isUnderWay ? .transferring : .connecting
            progress.received = state.attempts.reduce(state.receivedElsewhere ?? 0) { $0 + $1.received }
            progress.sent = snapshots.reduce(progress.sent) { $0.addingSaturated($1.sent) }
            // A request that continues an upload has only the rest to send.
            progress.total = kind == .upload ? state.total ?? live.sendTotal : live.total ?? state.total
            return progress
        }
    }

    /// The known measurements of the last attempt.
    var trace: AttemptTrace? {
        if let followed { return followed.trace }
        return state.withLockedValue { state in
            state.attempts.lazy.compactMap(\.handle.progress.snapshot.trace).first ?? state.trace
        }
    }

    /// Sets the hook that works on the file; nil when the hook has ended. A stop request, earlier or later, also stops
    /// the hook.
    func setHook(_ hook: HookStop?) {
        state.withLockedValue { state in
            state.hook = hook
            if state.isStopRequested { hook?.request() }
        }
    }

    private var followed: RunControl? { state.withLockedValue(\.followed) }

    /// Reports the progress of `other`, the control of the transfer that the run waits for. Nil ends that.
    func follow(_ other: RunControl?) {
        let former = other == nil ? followed : nil
        let (last, trace) = (former?.progress, former?.trace)
        state.withLockedValue { state in
            state.followed = other
            state.trace = trace ?? state.trace
            guard let last else { return }
            (state.phase, state.received, state.total) = (last.phase, last.received, last.total)
        }
    }

    /// Withdraws a request to stop.
    func withdrawStop() { state.withLockedValue { $0.isStopRequested = false } }

    /// Records a request to stop. Returns the live attempts, which the caller has to stop.
    func requestStop() -> [AttemptHandle] {
        state.withLockedValue { state in
            state.isStopRequested = true
            state.hook?.request()
            return state.attempts.map(\.handle)
        }
    }

    /// True once the run has begun to end without a stop request, although attempts may still be live; see
    /// `endAttempts`.
    var isEnding: Bool { state.withLockedValue(\.isEnding) }

    /// Records that the run ends without a stop request, so that its other attempts are no longer needed. Returns the
    /// live ones, which the caller has to stop; `begin` refuses attempts that are being started.
    func endAttempts() -> [AttemptHandle] {
        state.withLockedValue { state in
            state.isEnding = true
            return state.attempts.map(\.handle)
        }
    }

    /// Checks for a stop request for the last time; false if there is one. After true the run can no longer be stopped.
    func beginPublishing() -> Bool {
        state.withLockedValue { state in
            if !state.isStopRequested { state.isPublishing = true }
            return state.isPublishing
        }
    }

    /// True if it is too late to stop, because the file gets its final name now.
    var isPublishing: Bool { state.withLockedValue(\.isPublishing) }

    func enter(_ phase: TaskPhase) { state.withLockedValue { $0.phase = phase } }

    /// Adds a live attempt. False means that a stop was requested, or that the run has begun to end meanwhile: the
    /// caller has to stop the attempt.
    ///
    /// - Parameter origin: received bytes count from this offset on; 0 includes the bytes kept before.
    func begin(_ attempt: AttemptHandle, countingFrom origin: Int64 = 0) -> Bool {
        state.withLockedValue { state in
            state.attempts.append(LiveAttempt(handle: attempt, origin: origin))
            return !state.isStopRequested && !state.isEnding
        }
    }

    /// Removes an attempt that has ended. Without segments, `received` is the number of bytes kept.
    func end(_ attempt: AttemptHandle, received: Int64) {
        state.withLockedValue { state in
            guard let index = state.attempts.firstIndex(where: { $0.handle.id == attempt.id }) else { return }
            let ended = state.attempts.remove(at: index)
            let last = ended.handle.progress.snapshot
            state.endedTraffic += Traffic(last)
            state.trace = last.trace ?? state.trace
            if last.isUnderWay, state.phase == .connecting { state.phase = .transferring }
            guard let elsewhere = state.receivedElsewhere else { return state.received = received }
            state.receivedElsewhere = elsewhere + ended.received
            state.received = elsewhere + ended.received
        }
    }

    /// Begins to count segments. Nil ends that.
    ///
    /// - Parameter received: the bytes received so far, without those of live attempts.
    func setReceivedElsewhere(_ received: Int64?) {
        state.withLockedValue { $0.receivedElsewhere = received }
    }

    func setResumable(_ isResumable: Bool?) { state.withLockedValue { $0.isResumable = isResumable } }

    /// Sets the number of kept bytes, and the complete length if known.
    func setReceived(_ received: Int64, total: Int64?) {
        state.withLockedValue { state in
            state.received = received
            state.total = total
        }
    }

    /// Sets the number of bytes the server has, and how many there are to send.
    func setSent(_ sent: Int64, total: Int64?) {
        state.withLockedValue { state in
            state.sent = sent
            state.total = total
        }
    }
}

/// Network traffic of bodies, in bytes or bytes per second. Discarded bytes count; bytes kept before do not.
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

/// A run's progress.
struct RunProgress: Hashable, Sendable {
    let kind: TaskKind
    var phase: TaskPhase
    var received: Int64
    var sent: Int64
    /// For an upload the length to send, otherwise the length to receive; nil while unknown.
    var total: Int64?
}
