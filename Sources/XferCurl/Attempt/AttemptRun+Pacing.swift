import XferCore
import XferModel

/// Pacing of an attempt: its own rate limits, the shared ones, and the pauses that follow from them.
extension AttemptRun {
    // MARK: Its own limits

    func setMaxReceiveRate(_ rate: Int64) {
        receiveLimit.own = max(0, rate)
        onLimitsChanged()
        changePacing { pacing, now in
            pacing.setRate(max(0, rate), now: now)
            return nil
        }
    }

    /// Applies the attempt's own and shared limits after a change.
    func onLimitsChanged() {
        let rate = receiveRate
        guard rate != receiveLimit.window else { return }
        receiveLimit.window = rate
        if rate > 0, mayRestart, hop?.isMultiplexed == true { return finish(.restartWithHTTP1) }
        hop?.handle?.clampWindow(rate: rate)
    }

    /// The rate of this transfer under all its limits, bytes per second; 0 is unlimited.
    var receiveRate: Int64 {
        receiveLimit.rate(sharing: core.rateShare(of: attempt.rateScopes))
    }

    /// True if a rate limit may end the request, so that it is sent again over HTTP/1.1.
    var mayRestart: Bool { attempt.mode == .download && attempt.request.method == .get }

    func setMaxSendRate(_ rate: Int64) {
        changePacing { pacing, now in
            pacing.setSendRate(max(0, rate), now: now)
            return nil
        }
    }

    // MARK: Pausing

    var isReceivingPaused: Bool { pacing.isReceivingPaused }
    var isSendingPaused: Bool { pacing.isSendingPaused }

    /// Changes the pacing outside libcurl's callbacks and applies the result.
    func changePacing(_ change: (inout Pacing, MonotonicInstant) -> Int64?) {
        if isEnded { return }
        let (wasReceivingPaused, wasSendingPaused) = (isReceivingPaused, isSendingPaused)
        let due = change(&pacing, core.now)
        if let due { events.yield(.checkpointDue(offset: due)) }
        if !wasReceivingPaused, isReceivingPaused { hop?.pauseReceiving() }
        if wasReceivingPaused && !isReceivingPaused || wasSendingPaused && !isSendingPaused { core.unpauseSoon(self) }
        core.schedule(self, at: pacing.deadline)
    }

    /// Resumes the directions that are no longer paused. The loop calls it in its turn.
    func unpause() { hop?.unpause() }

    // MARK: Limits that are shared

    /// The shared limits now let this attempt receive.
    func onReceiveTurn() { onTurn { pacing, now in pacing.wait(inLine: false, now) } }

    /// The shared limits now let this attempt send.
    func onSendTurn() { onTurn { pacing, now in pacing.wait(inLine: false, toSend: true, now) } }

    /// Resumes the transfer at once, so that its bytes are counted before the next attempt's turn.
    private func onTurn(_ change: (inout Pacing, MonotonicInstant) -> Void) {
        if isEnded { return }
        change(&pacing, core.now)
        hop?.unpause()
        core.schedule(self, at: pacing.deadline)
    }

    /// True if the shared limits let this attempt receive; if not, it waits for its turn.
    func mayReceive(_ now: MonotonicInstant) -> Bool {
        let isAdmitted = core.mayTake(.receive, self, now: now)
        if !isAdmitted { pacing.wait(inLine: true, now) }
        return isAdmitted
    }

    /// True if the shared limits let this attempt send; if not, it waits for its turn.
    func maySend() -> Bool {
        let now = core.now
        let isAdmitted = core.mayTake(.send, self, now: now)
        if !isAdmitted { pacing.wait(inLine: true, toSend: true, now) }
        return isAdmitted
    }

    // MARK: Moved bytes

    /// Counts written bytes. Checkpoints and limits may need a pause, which libcurl accepts inside its callbacks, too.
    func onWritten(_ count: Int, now: MonotonicInstant) {
        let wasPaused = isReceivingPaused
        let due = pacing.onChunk(count, writtenTo: received.writer.offset, now: now)
        core.spend(.receive, count, by: self, now: now)
        if let due { events.yield(.checkpointDue(offset: due)) }
        if !wasPaused, isReceivingPaused { hop?.pauseReceiving() }
        core.schedule(self, at: pacing.deadline)
    }

    /// The highest number of bytes of content that may be passed to libcurl at once.
    var sendChunk: Int {
        let shared = core.isLimited ? core.shared.rates.lowestRate(.send, in: attempt.rateScopes) : nil
        return min(pacing.sendChunk, Pacing.sendChunk(shared))
    }

    /// The highest number of bytes that libcurl reads at once. libcurl keeps a buffer of that size for each attempt, so
    /// many attempts get small buffers: a thousand attempts need 30 MiB.
    var readSize: Int {
        guard attempt.sink.isForFiles, attempt.mode == .download else { return 64 << 10 }
        let readSize = attempt.checkpoints.readSize(isShared: attempt.unsynced != nil)
        return min(readSize, Self.bufferSize(beside: core.shared.attemptCount))
    }

    private static func bufferSize(beside attempts: Int) -> Int {
        switch attempts {
        case ...32: 240 << 10
        case ...128: 64 << 10
        default: 16 << 10
        }
    }

    /// Records that a part of the content was passed to libcurl. libcurl requests the next part when the system has
    /// taken this one.
    func onSent(_ count: Int) {
        let now = core.now
        pacing.onActivity(now)
        pacing.onSent(count, now: now)
        core.spend(.send, count, by: self, now: now)
        core.schedule(self, at: pacing.deadline)
    }
}

extension BodySink {
    /// True if the body is, or may have to be, written to a file of its own.
    fileprivate var isForFiles: Bool {
        switch self {
        case .file, .movable: true
        case .memory, .spilling: false
        }
    }
}
