import NIOConcurrencyHelpers
import XferCore
import XferCurl
import XferFiles
import XferModel

/// A body in segments: several attempts fetch parts of it at the same time, into one partial file.
///
/// The first lane requests all that is missing. If its response shows that ranges of this version can be requested, it
/// leaves the rear to further lanes. Each response is compared with the known version before a byte of it is written.
/// While another lane is live, a failure costs a lane and not a try: the round ends as the last lane ends.
extension SharedTransfer {
    /// Bytes before its segment that a lane reads and discards instead of making another request.
    private static var maxSkipped: Int64 { 64 << 10 }
    /// If a lane received fewer bytes before its connection broke, the number of lanes is reduced.
    private static var worthwhile: Int64 { 256 << 10 }

    /// The highest number that a member, or a task about to become one, wants.
    var segmentCount: SegmentCount {
        guard specification.kind == .download, specification.request.method == .get else { return .one }
        let wanted = members.values.map { $0.run.specification.segments ?? settings.segments }
        return .highest(wanted + expected.withLockedValue { Array($0.values) })
    }

    /// Fetches the missing bytes over as many lanes as the members want and the server allows.
    func bringSegments(
        into part: PartialFile, in directory: DirectoryHandle, maySplit: Bool
    ) async throws -> Round {
        let (signals, continuation) = AsyncStream<LaneSignal>.makeStream()
        lanes = Lanes(plan: planOfKept(maySplit ? segmentCount : .one), maySplit: maySplit, signals: continuation)
        defer {
            lanes = nil
            control.noteSegments(receivedElsewhere: nil)
        }
        if let plan = lanes?.plan { control.noteSegments(receivedElsewhere: plan.writtenByteCount) }
        startFirst(into: part, in: directory)
        for await signal in signals {
            if case .ended(let lane, let result) = signal {
                if let round = await onEnd(of: lane, result) { return round }
                if lanes?.live.isEmpty == true, let end = try onRest() { return end }
            }
            await fill(into: part, in: directory)
        }
        throw TransferError(.internalError, "the lanes ended without a result")
    }

    /// Kept bytes with gaps need a plan from the beginning.
    private func planOfKept(_ count: SegmentCount) -> SegmentPlan? {
        guard choice(of: 0).way != .anew, !transfer.resumeData.hasOnlyPrefix,
            let total = transfer.resumeData.totalLength
        else { return nil }
        return SegmentPlan(
            total: total, kept: transfer.resumeData.segments, count: count, smallest: settings.smallestSegment)
    }

    // MARK: Handing out the work

    private func startFirst(into part: PartialFile, in directory: DirectoryHandle) {
        guard case .fetch(let segment)? = lanes?.plan?.next(for: 0, idle: 1) else {
            return start(0, nil, into: part, in: directory)
        }
        start(0, segment, into: part, in: directory)
    }

    /// Starts lanes as long as there is work and no stop was requested.
    private func fill(into part: PartialFile, in directory: DirectoryHandle) async {
        lanes?.noteProgress()
        await retireSurplus()
        while let lanes, lanes.verdict == nil, !control.isStopRequested, var plan = lanes.plan,
            lanes.live.isEmpty || lanes.isOpen && lanes.live.count < plan.wantedLanes
        {
            let lane = lanes.freeLane
            let step = plan.next(for: lane, idle: max(1, plan.wantedLanes - lanes.live.count))
            self.lanes?.plan = plan
            switch step {
            case .fetch(let segment):
                start(lane, segment, into: part, in: directory)
            case .split(let other, let offset, let parts):
                let isAgreed = await setEnd(of: other, offset)
                self.lanes?.plan?.onSplit(other, at: offset, parts: parts, isAgreed: isAgreed)
                if isAgreed { self.lanes?.hasSplit = true }
            case nil:
                return
            }
        }
        await widen()
    }

    /// Stops lanes that did not increase the speed. The rest of their segments goes to other lanes.
    private func retireSurplus() async {
        guard let lanes, lanes.verdict == nil, let plan = lanes.plan else { return }
        for lane in plan.surplus where !lanes.retiring.contains(lane) {
            guard let handle = lanes.handle(of: lane) else { continue }
            self.lanes?.retiring.insert(lane)
            await services.engine.stop(handle.id)
        }
    }

    /// Gives segments that will get no lane of their own to the lanes before them, whose responses contain these bytes
    /// anyway.
    private func widen() async {
        while let lanes, lanes.isOpen, lanes.verdict == nil, let plan = lanes.plan,
            lanes.live.count >= plan.wantedLanes,
            let (lane, end) = plan.widening()
        {
            let isAgreed = await setEnd(of: lane, end)
            self.lanes?.plan?.onExtend(lane, to: end, isAgreed: isAgreed)
        }
    }

    private func setEnd(of lane: Int, _ offset: Int64) async -> Bool {
        guard let handle = lanes?.handle(of: lane) else { return false }
        return await services.engine.setEnd(handle.id, offset)
    }

    private func start(
        _ lane: Int, _ segment: Segment?, into part: PartialFile, in directory: DirectoryHandle
    ) {
        guard let lanes else { return }
        var segment = segment
        if lanes.isOneStream { segment?.end = nil }
        if lanes.isOpen { chooseSource(for: lane) }
        self.lanes?.live[lane] = .some(nil)
        self.lanes?.began[lane] = Clocks.monotonic()
        self.lanes?.stake.setAttempts(lanes.live.count + 1)
        let (isFirst, signals) = (!lanes.isOpen, lanes.signals)
        Task { [segment] in
            do {
                let outcome = try await attempt(lane, for: segment, isFirst: isFirst, into: part) { event, handle in
                    try await onEvent(event, of: lane, handle, for: segment, into: part, in: directory)
                }
                signals.yield(.ended(lane, .success(outcome)))
            } catch {
                signals.yield(.ended(lane, .failure(error)))
            }
        }
    }

    // MARK: What lanes meet with

    private func onEvent(
        _ event: AttemptEvent, of lane: Int, _ handle: AttemptHandle, for segment: Segment?, into part: PartialFile,
        in directory: DirectoryHandle
    ) async throws {
        lanes?.live[lane] = handle
        switch event {
        case .head(let head, let verdict, let keeping):
            if lanes?.verdict != nil { throw LaneLoss.unwanted }
            if let segment { try Self.requirePart(verdict, of: segment) }
            guard lanes?.isOpen == true else {
                times.answered = services.clock()
                try await onHead(head, verdict, keeping, of: handle, into: part, in: directory)
                return open(lane, verdict, isPart: head.status == 206, described)
            }
            if case .restart(_, let reason) = verdict { throw LaneLoss.otherVersion(reason) }
            if case .write(let body) = verdict {
                try await takePart(lane, at: body.offset)
                if head.status == 206 { lanes?.plan?.onAnswer(lane) }
            }
            lanes?.signals.yield(.looked)
        case .checkpointDue(let offset):
            try await checkpoint(part, because: lane, handle, isAt: offset)
        case .redirected, .judged, .informational, .response, .finished:
            break
        }
    }

    /// Throws unless the response brings the segment, of the known version.
    private static func requirePart(_ verdict: HeadVerdict, of segment: Segment) throws(LaneLoss) {
        switch verdict {
        case .restart(_, let reason): throw .otherVersion(reason)
        case .write(let body) where segment.end != nil && body.skip > maxSkipped: throw .rangeIgnored
        case .write, .complete, .startOver, .retryPlainRange, .notModified, .fail: break
        }
    }

    /// Handles the first accepted head: further lanes may start if the body can be split.
    private func open(_ lane: Int, _ verdict: HeadVerdict, isPart: Bool, _ described: ResumeData) {
        let body: BodyPlan
        switch verdict {
        case .write(let plan), .restart(let plan, _): body = plan
        case .complete, .startOver, .retryPlainRange, .notModified, .fail: return
        }
        if lanes?.plan == nil {
            let count = lanes?.maySplit == true ? segmentCount : .one
            guard count != .one, ResumeRules.isSplittable(described), let total = body.total, body.skip == 0 else {
                return
            }
            let kept = body.offset > 0 ? [Segment(start: 0, committed: body.offset)] : []
            lanes?.plan = SegmentPlan(
                total: total, kept: kept, count: count, smallest: settings.smallestSegment)
            lanes?.plan?.begin(lane)
            control.noteSegments(receivedElsewhere: 0)
        }
        if isPart { lanes?.plan?.onAnswer(lane) }
        lanes?.isOpen = true
        lanes?.signals.yield(.looked)
    }

    /// Commits a checkpoint for all lanes. One sync makes the bytes of all of them durable.
    private func checkpoint(
        _ part: PartialFile, because lane: Int, _ handle: AttemptHandle, isAt offset: Int64
    ) async throws {
        await checkpointing.enter()
        defer { checkpointing.leave() }
        let stake = lanes?.stake
        if let durable = lanes?.plan?.committed(of: lane), durable >= offset {
            stake?.release()
            return
        }
        let mark = stake?.mark() ?? 0
        let marks = lanes?.noteProgress() ?? []
        guard let plan = lanes?.plan else {
            try await checkpoint(part, at: [Segment(start: 0, committed: offset)], keeping: described)
            stake?.settle(mark)
            return await services.engine.committed(handle.id, offset: offset)
        }
        let written = plan.writtenSegments
        try await checkpoint(part, at: written, keeping: described)
        lanes?.plan?.onDurable(written)
        stake?.settle(mark)
        for (id, mark) in marks { await services.engine.committed(id, offset: mark) }
        if lanes?.plan?.measure(Clocks.monotonic()) == true { lanes?.signals.yield(.looked) }
    }

    // MARK: How lanes end

    /// Handles the end of a lane and its effect on the others. Returns the round's end if there was only one stream.
    private func onEnd(of lane: Int, _ result: Result<AttemptOutcome, any Error>) async -> Round? {
        let brought = lanes?.handle(of: lane)?.progress.snapshot.received ?? 0
        noteSpeed(of: lane)
        lanes?.noteProgress()
        lanes?.live.removeValue(forKey: lane)
        lanes?.stake.setAttempts(lanes?.live.count ?? 0)
        let wasRetiring = lanes?.retiring.remove(lane) != nil
        guard lanes?.plan != nil else { return await onOnlyEnd(result) }
        switch result {
        case .success(let outcome) where outcome.result == .stopped && wasRetiring:
            lanes?.plan?.onEnd(lane, at: outcome.offset)
        case .success(let outcome):
            lanes?.plan?.onEnd(lane, at: outcome.offset)
            await judge(outcome, of: lane, brought: brought)
        case .failure(let loss as LaneLoss):
            lanes?.plan?.onEnd(lane, at: 0)
            onLoss(loss, of: lane)
        case .failure(let error):
            lanes?.plan?.onEnd(lane, at: 0)
            await end(.failure(error))
        }
        if course.maxRates != BandwidthLimits() { await shareRates() }
        return nil
    }

    /// Handles the end of the only lane, when there is no plan.
    private func onOnlyEnd(_ result: Result<AttemptOutcome, any Error>) async -> Round? {
        switch result {
        case .success(let outcome):
            take(outcome)
            return Round(outcome)
        case .failure(let error):
            await end(.failure(error))
            return nil
        }
    }

    private func judge(_ outcome: AttemptOutcome, of lane: Int, brought: Int64) async {
        switch outcome.result {
        case .complete, .restartWithHTTP1:
            break
        case .stopped, .notModified:
            await end(.success(.stopped))
        case .startOver(let reason):
            onLoss(.otherVersion(reason), of: lane)
        case .failed(let error) where error.reason.isOurs:
            await end(.success(outcome.result))
        case .failed(let error):
            // A mirror's failure concerns only that mirror while other sources may take over.
            if lanes?.isOpen == true, choice(of: lane).way.isForeign, isOfSourceAlone(lane, error) { return }
            if lanes?.live.isEmpty == true { return await onLastFailure(error, of: lane, brought: brought) }
            if isOfSourceAlone(lane, error) { return }
            if brought < Self.worthwhile { limitLanes() }
        }
    }

    /// The failure of the last lane ends the round, unless it may be due to the number of connections.
    private func onLastFailure(_ error: TransferError, of lane: Int, brought: Int64) async {
        if lanes?.hasSplit == true, brought == 0 {
            // The server may still have counted connections that other lanes had just closed, so one more attempt is
            // made alone.
            if lanes?.hasTriedAlone == false {
                lanes?.hasTriedAlone = true
                lanes?.plan?.limit(to: 1)
                return
            }
            // The server serves the whole body and refuses every range.
            if lanes?.plan?.isProven == false, error.httpStatus != nil {
                choices[0] = choice(of: lane)
                lanes?.verdict = .success(.startOver(.rangeIgnored))
                return
            }
        }
        choices[0] = choice(of: lane)
        await end(.success(.failed(error)))
    }

    private func onLoss(_ loss: LaneLoss, of lane: Int) {
        // This loss does not affect the other lanes, nor those of the source that the bytes are from.
        if lanes?.isOpen == true, choice(of: lane).way.isForeign {
            if let reason = loss.reason { refuse(of: lane, because: reason) }
            return
        }
        guard lanes?.live.isEmpty == true else { return limitLanes() }
        choices[0] = choice(of: lane)
        switch loss {
        case .rangeIgnored:
            lanes?.plan?.collapse()
            lanes?.isOneStream = true
            // No bytes are written at the start of the body, so a response from the start could not be compared with
            // the known version.
            if lanes?.plan?.writtenPrefix == 0 { lanes?.verdict = .success(.startOver(.rangeIgnored)) }
            control.noteSegments(receivedElsewhere: lanes?.plan?.writtenByteCount)
        case .otherVersion(let reason):
            lanes?.verdict = .success(.startOver(reason))
        case .unwanted:
            break
        }
    }

    private func limitLanes() {
        let count = lanes?.live.count ?? 1
        lanes?.plan?.limit(to: count)
    }

    /// Ends the round: every live lane is stopped.
    private func end(_ verdict: Result<AttemptOutcome.Result, any Error>) async {
        if lanes?.verdict == nil { lanes?.verdict = verdict }
        for attempt in control.attempts { await services.engine.stop(attempt.id) }
    }

    /// Returns how the round ended, if it has; no lane is live.
    private func onRest() throws -> Round? {
        let written = lanes?.plan?.writtenSegments ?? []
        if let verdict = lanes?.verdict { return Round(try verdict.get(), written: written) }
        if lanes?.plan?.isWritten == true { return Round(.complete, written: written) }
        return control.isStopRequested ? Round(.stopped, written: written) : nil
    }
}

extension FailureReason {
    /// Whether the cause is on this machine, so that no other request would succeed.
    fileprivate var isOurs: Bool {
        switch self {
        case .insufficientSpace, .diskError, .outOfDescriptors, .internalError: true
        default: false
        }
    }
}

extension LaneLoss {
    /// Nil if the source did not cause the loss.
    fileprivate var reason: RestartReason? {
        switch self {
        case .rangeIgnored: .rangeIgnored
        case .otherVersion(let reason): reason
        case .unwanted: nil
        }
    }
}
