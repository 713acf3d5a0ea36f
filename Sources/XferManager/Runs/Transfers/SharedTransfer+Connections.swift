import NIOConcurrencyHelpers
import XferCore
import XferCurl
import XferFiles
import XferModel

/// A body in segments: several attempts fetch parts of it at the same time, into one partial file.
///
/// The first connection requests all that is missing. If its response shows that ranges of this version can be
/// requested, it leaves the rear to further connections. Each response is compared with the known version before a byte
/// of it is written. While another connection is live, a failure costs a connection and not a try: the round ends as
/// the last connection ends.
extension SharedTransfer {
    /// Bytes before its segment that a connection reads and discards instead of making another request.
    private static var maxSkipped: Int64 { 64 << 10 }
    /// If a connection received fewer bytes before its connection broke, the number of connections is reduced.
    private static var worthwhile: Int64 { 256 << 10 }

    /// The highest number that a member, or a task about to become one, wants.
    var segmentCount: SegmentCount {
        guard specification.kind == .download, specification.request.method == .get else { return .one }
        let wanted = members.values.map { $0.run.specification.segments ?? settings.segments }
        return .highest(wanted + expected.withLockedValue { Array($0.values) })
    }

    /// Fetches the missing bytes over as many connections as the members want and the server allows.
    func bringSegments(
        into part: PartialFile, in directory: DirectoryHandle, maySplit: Bool
    ) async throws -> Round {
        let (signals, continuation) = AsyncStream<SegmentConnectionSignal>.makeStream()
        connections = SegmentConnections(
            plan: planOfKept(maySplit ? segmentCount : .one), maySplit: maySplit, signals: continuation)
        defer {
            connections = nil
            control.noteSegments(receivedElsewhere: nil)
        }
        if let plan = connections?.plan { control.noteSegments(receivedElsewhere: plan.writtenByteCount) }
        startFirst(into: part, in: directory)
        for await signal in signals {
            if case .ended(let connection, let result) = signal {
                if let round = await onEnd(of: connection, result) { return round }
                if connections?.live.isEmpty == true, let end = try onRest() { return end }
            }
            await fill(into: part, in: directory)
        }
        throw TransferError(.internalError, "the connections ended without a result")
    }

    /// Kept bytes with gaps need a plan from the beginning.
    private func planOfKept(_ count: SegmentCount) -> SegmentPlan? {
        guard choice(of: 0).mode != .anew, !transfer.resumeData.hasOnlyPrefix,
            let total = transfer.resumeData.totalLength
        else { return nil }
        return SegmentPlan(
            total: total, kept: transfer.resumeData.segments, count: count, smallest: settings.smallestSegment)
    }

    // MARK: Handing out the work

    private func startFirst(into part: PartialFile, in directory: DirectoryHandle) {
        guard case .fetch(let segment)? = connections?.plan?.next(for: 0, idle: 1) else {
            return start(0, nil, into: part, in: directory)
        }
        start(0, segment, into: part, in: directory)
    }

    /// Starts connections as long as there is work and no stop was requested.
    private func fill(into part: PartialFile, in directory: DirectoryHandle) async {
        connections?.noteProgress()
        await retireSurplus()
        while let connections, connections.verdict == nil, !control.isStopRequested, var plan = connections.plan,
            connections.live.isEmpty || connections.isOpen && connections.live.count < plan.wantedConnections
        {
            let connection = connections.freeNumber
            let step = plan.next(for: connection, idle: max(1, plan.wantedConnections - connections.live.count))
            self.connections?.plan = plan
            switch step {
            case .fetch(let segment):
                start(connection, segment, into: part, in: directory)
            case .split(let other, let offset, let parts):
                let isAgreed = await setEnd(of: other, offset)
                self.connections?.plan?.onSplit(other, at: offset, parts: parts, isAgreed: isAgreed)
                if isAgreed { self.connections?.hasSplit = true }
            case nil:
                return
            }
        }
        await widen()
    }

    /// Stops connections that did not increase the speed. The rest of their segments goes to other connections.
    private func retireSurplus() async {
        guard let connections, connections.verdict == nil, let plan = connections.plan else { return }
        for connection in plan.surplus where !connections.retiring.contains(connection) {
            guard let handle = connections.handle(of: connection) else { continue }
            self.connections?.retiring.insert(connection)
            await services.engine.stop(handle.id)
        }
    }

    /// Gives segments that will get no connection of their own to the connections before them, whose responses contain
    /// these bytes anyway.
    private func widen() async {
        while let connections, connections.isOpen, connections.verdict == nil, let plan = connections.plan,
            connections.live.count >= plan.wantedConnections,
            let (connection, end) = plan.widening()
        {
            let isAgreed = await setEnd(of: connection, end)
            self.connections?.plan?.onExtend(connection, to: end, isAgreed: isAgreed)
        }
    }

    private func setEnd(of connection: Int, _ offset: Int64) async -> Bool {
        guard let handle = connections?.handle(of: connection) else { return false }
        return await services.engine.setEnd(handle.id, offset)
    }

    private func start(
        _ connection: Int, _ segment: Segment?, into part: PartialFile, in directory: DirectoryHandle
    ) {
        guard let connections else { return }
        var segment = segment
        if connections.isOneStream { segment?.end = nil }
        if connections.isOpen { chooseSource(for: connection) }
        self.connections?.live[connection] = .some(nil)
        self.connections?.began[connection] = Clocks.monotonic()
        self.connections?.stake.setAttempts(connections.live.count + 1)
        let (isFirst, signals) = (!connections.isOpen, connections.signals)
        Task { [segment] in
            do {
                let outcome = try await attempt(connection, for: segment, isFirst: isFirst, into: part) {
                    event, handle in
                    try await onEvent(event, of: connection, handle, for: segment, into: part, in: directory)
                }
                signals.yield(.ended(connection, .success(outcome)))
            } catch {
                signals.yield(.ended(connection, .failure(error)))
            }
        }
    }

    // MARK: What connections meet with

    private func onEvent(
        _ event: AttemptEvent, of connection: Int, _ handle: AttemptHandle, for segment: Segment?,
        into part: PartialFile,
        in directory: DirectoryHandle
    ) async throws {
        connections?.live[connection] = handle
        switch event {
        case .head(let head, let verdict, let keeping):
            if connections?.verdict != nil { throw SegmentConnectionLoss.unwanted }
            if let segment { try Self.requirePart(verdict, of: segment) }
            guard connections?.isOpen == true else {
                times.answered = services.clock()
                try await onHead(head, verdict, keeping, of: handle, into: part, in: directory)
                return open(connection, verdict, isPart: head.status == 206, described)
            }
            if case .restart(_, let reason) = verdict { throw SegmentConnectionLoss.otherVersion(reason) }
            if case .write(let body) = verdict {
                try await takePart(connection, at: body.offset)
                if head.status == 206 { connections?.plan?.onAnswer(connection) }
            }
            connections?.signals.yield(.looked)
        case .checkpointDue(let offset):
            try await checkpoint(part, because: connection, handle, isAt: offset)
        case .redirected, .judged, .informational, .response, .finished:
            break
        }
    }

    /// Throws unless the response brings the segment, of the known version.
    private static func requirePart(_ verdict: HeadVerdict, of segment: Segment) throws(SegmentConnectionLoss) {
        switch verdict {
        case .restart(_, let reason): throw .otherVersion(reason)
        case .write(let body) where segment.end != nil && body.skip > maxSkipped: throw .rangeIgnored
        case .write, .complete, .startOver, .retryPlainRange, .notModified, .fail: break
        }
    }

    /// Handles the first accepted head: further connections may start if the body can be split.
    private func open(_ connection: Int, _ verdict: HeadVerdict, isPart: Bool, _ described: ResumeData) {
        let body: BodyPlan
        switch verdict {
        case .write(let plan), .restart(let plan, _): body = plan
        case .complete, .startOver, .retryPlainRange, .notModified, .fail: return
        }
        if connections?.plan == nil {
            let count = connections?.maySplit == true ? segmentCount : .one
            guard count != .one, ResumeRules.isSplittable(described), let total = body.total, body.skip == 0 else {
                return
            }
            let kept = body.offset > 0 ? [Segment(start: 0, committed: body.offset)] : []
            connections?.plan = SegmentPlan(
                total: total, kept: kept, count: count, smallest: settings.smallestSegment)
            connections?.plan?.begin(connection)
            control.noteSegments(receivedElsewhere: 0)
        }
        if isPart { connections?.plan?.onAnswer(connection) }
        connections?.isOpen = true
        connections?.signals.yield(.looked)
    }

    /// Commits a checkpoint for all connections. One sync makes the bytes of all of them durable.
    private func checkpoint(
        _ part: PartialFile, because connection: Int, _ handle: AttemptHandle, isAt offset: Int64
    ) async throws {
        await checkpointing.enter()
        defer { checkpointing.leave() }
        let stake = connections?.stake
        if let durable = connections?.plan?.committed(of: connection), durable >= offset {
            stake?.release()
            return
        }
        let mark = stake?.mark() ?? 0
        let marks = connections?.noteProgress() ?? []
        guard let plan = connections?.plan else {
            try await checkpoint(part, at: [Segment(start: 0, committed: offset)], keeping: described)
            stake?.settle(mark)
            return await services.engine.committed(handle.id, offset: offset)
        }
        let written = plan.writtenSegments
        try await checkpoint(part, at: written, keeping: described)
        connections?.plan?.onDurable(written)
        stake?.settle(mark)
        for (id, mark) in marks { await services.engine.committed(id, offset: mark) }
        if connections?.plan?.measure(Clocks.monotonic()) == true { connections?.signals.yield(.looked) }
    }

    // MARK: How connections end

    /// Handles the end of a connection and its effect on the others. Returns the round's end if there was only one
    /// stream.
    private func onEnd(of connection: Int, _ result: Result<AttemptOutcome, any Error>) async -> Round? {
        let brought = connections?.handle(of: connection)?.progress.snapshot.received ?? 0
        noteSpeed(of: connection)
        connections?.noteProgress()
        connections?.live.removeValue(forKey: connection)
        connections?.stake.setAttempts(connections?.live.count ?? 0)
        let wasRetiring = connections?.retiring.remove(connection) != nil
        guard connections?.plan != nil else { return await onOnlyEnd(result) }
        switch result {
        case .success(let outcome) where outcome.result == .stopped && wasRetiring:
            connections?.plan?.onEnd(connection, at: outcome.offset)
        case .success(let outcome):
            connections?.plan?.onEnd(connection, at: outcome.offset)
            await judge(outcome, of: connection, brought: brought)
        case .failure(let loss as SegmentConnectionLoss):
            connections?.plan?.onEnd(connection, at: 0)
            onLoss(loss, of: connection)
        case .failure(let error):
            connections?.plan?.onEnd(connection, at: 0)
            await end(.failure(error))
        }
        if course.maxRates != BandwidthLimits() { await shareRates() }
        return nil
    }

    /// Handles the end of the only connection, when there is no plan.
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

    private func judge(_ outcome: AttemptOutcome, of connection: Int, brought: Int64) async {
        switch outcome.result {
        case .complete, .restartWithHTTP1:
            break
        case .stopped, .notModified:
            await end(.success(.stopped))
        case .startOver(let reason):
            onLoss(.otherVersion(reason), of: connection)
        case .failed(let error) where error.reason.isOurs:
            await end(.success(outcome.result))
        case .failed(let error):
            // A mirror's failure concerns only that mirror while other sources may take over.
            if connections?.isOpen == true, choice(of: connection).mode.isForeign, isOfSourceAlone(connection, error) {
                return
            }
            if connections?.live.isEmpty == true { return await onLastFailure(error, of: connection, brought: brought) }
            if isOfSourceAlone(connection, error) { return }
            if brought < Self.worthwhile { limitConnections() }
        }
    }

    /// The failure of the last connection ends the round, unless it may be due to the number of connections.
    private func onLastFailure(_ error: TransferError, of connection: Int, brought: Int64) async {
        if connections?.hasSplit == true, brought == 0 {
            // The server may still have counted connections that other connections had just closed, so one more attempt
            // is made alone.
            if connections?.hasTriedAlone == false {
                connections?.hasTriedAlone = true
                connections?.plan?.limit(to: 1)
                return
            }
            // The server serves the whole body and refuses every range.
            if connections?.plan?.isProven == false, error.httpStatus != nil {
                choices[0] = choice(of: connection)
                connections?.verdict = .success(.startOver(.rangeIgnored))
                return
            }
        }
        choices[0] = choice(of: connection)
        await end(.success(.failed(error)))
    }

    private func onLoss(_ loss: SegmentConnectionLoss, of connection: Int) {
        // This loss does not affect the other connections, nor those of the source that the bytes are from.
        if connections?.isOpen == true, choice(of: connection).mode.isForeign {
            if let reason = loss.reason { refuse(of: connection, because: reason) }
            return
        }
        guard connections?.live.isEmpty == true else { return limitConnections() }
        choices[0] = choice(of: connection)
        switch loss {
        case .rangeIgnored:
            connections?.plan?.collapse()
            connections?.isOneStream = true
            // No bytes are written at the start of the body, so a response from the start could not be compared with
            // the known version.
            if connections?.plan?.writtenPrefix == 0 { connections?.verdict = .success(.startOver(.rangeIgnored)) }
            control.noteSegments(receivedElsewhere: connections?.plan?.writtenByteCount)
        case .otherVersion(let reason):
            connections?.verdict = .success(.startOver(reason))
        case .unwanted:
            break
        }
    }

    private func limitConnections() {
        let count = connections?.live.count ?? 1
        connections?.plan?.limit(to: count)
    }

    /// Ends the round: every live connection is stopped.
    private func end(_ verdict: Result<AttemptOutcome.Result, any Error>) async {
        if connections?.verdict == nil { connections?.verdict = verdict }
        for attempt in control.attempts { await services.engine.stop(attempt.id) }
    }

    /// Returns how the round ended, if it has; no connection is live.
    private func onRest() throws -> Round? {
        let written = connections?.plan?.writtenSegments ?? []
        if let verdict = connections?.verdict { return Round(try verdict.get(), written: written) }
        if connections?.plan?.isWritten == true { return Round(.complete, written: written) }
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

extension SegmentConnectionLoss {
    /// Nil if the source did not cause the loss.
    fileprivate var reason: RestartReason? {
        switch self {
        case .rangeIgnored: .rangeIgnored
        case .otherVersion(let reason): reason
        case .unwanted: nil
        }
    }
}
