import XferCore
import XferCurl
import XferFiles
import XferModel
import XferSystem

/// One round of a download in segments: several attempts fetch parts of the body at the same time, into one partial
/// file.
///
/// The first connection requests all missing bytes. If its response shows that ranges of this version can be requested,
/// it leaves the rear to further connections. Each response is compared with the known version before a byte of it is
/// written. While another connection is live, a failure costs a connection and not an attempt: the round ends with the
/// last connection.
///
/// Invariant: `run` alone assigns segments, one signal after the other, so that nothing else is decided while it waits
/// for a connection's answer. Confined to the actor of the transfer, which every method that suspends gets as its
/// isolation.
final class SegmentedDownload {
    /// A connection's report to `run`.
    private enum Signal: Sendable {
        /// The plan may have changed, so that other connections may get work.
        case changed
        /// A connection has been without work for a while.
        case idle
        /// The connections are to be measured.
        case measurementDue
        case ended(Int, Result<AttemptOutcome, any Error>)
    }

    /// The number of bytes before its segment that a connection reads and discards rather than make another request.
    private static let maxSkipped: Int64 = 64 << 10

    /// The time between two measurements while the number of connections may change. It was chosen by simulation: later
    /// answers to a line that has become full cost more.
    private static let measurementInterval = Duration.milliseconds(250)

    private(set) var connections = SegmentConnections(plan: nil, maySplit: false)
    /// One checkpoint at a time covers all connections.
    let checkpointing = AsyncLock()
    /// Bytes of all connections that are written and not durable yet.
    private let unsynced = SharedUnsyncedBytes()
    /// True if an `idle` signal is under way.
    private var isWatchingIdle = false
    /// True if a `measurementDue` signal is under way.
    private var isWatchingGrowth = false
    private let part: PartialFile
    private let directory: DirectoryHandle
    private let signals: AsyncStream<Signal>
    private let signal: AsyncStream<Signal>.Continuation

    init(of part: PartialFile, in directory: DirectoryHandle) {
        self.part = part
        self.directory = directory
        (signals, signal) = AsyncStream.makeStream()
    }

    /// Fetches the missing bytes over as many connections as the members request and the server allows.
    func run(on transfer: isolated SharedTransfer, maySplit: Bool) async throws -> SharedTransfer.Round {
        let plan = planOfKept(transfer, maySplit ? transfer.segmentCount : .one)
        connections = SegmentConnections(plan: plan, maySplit: maySplit)
        defer { transfer.control.setReceivedElsewhere(nil) }
        if let plan { transfer.control.setReceivedElsewhere(plan.writtenByteCount) }
        startFirst(on: transfer)
        for await signal in signals {
            if case .ended(let connection, let result) = signal {
                if let round = await onEnd(of: connection, result, on: transfer) { return round }
                if connections.live.isEmpty,
                    let end = try connections.roundEnd(isStopRequested: transfer.control.isStopRequested)
                {
                    return end
                }
            }
            if case .idle = signal { await takeOver(on: transfer) }
            if case .measurementDue = signal {
                isWatchingGrowth = false
                measure()
            }
            await fill(on: transfer)
            watchIdle()
            watchGrowth()
        }
        throw TransferError(.internalError, "the connections ended without a result")
    }

    /// Returns a plan for kept bytes with gaps, which need one from the beginning.
    private func planOfKept(_ transfer: isolated SharedTransfer, _ count: SegmentCount) -> SegmentPlan? {
        let resumeData = transfer.kept.transfer.resumeData
        guard transfer.sources[0].mode != .fromStart, !resumeData.hasOnlyPrefix, let total = resumeData.totalLength
        else {
            return nil
        }
        return SegmentPlan(
            total: total, kept: resumeData.segments, count: count, smallest: transfer.settings.smallestSegment)
    }

    // MARK: Assigning the work

    private func startFirst(on transfer: isolated SharedTransfer) {
        guard case .fetch(let segment)? = connections.plan?.next(for: 0, idle: 1) else {
            return start(0, nil, on: transfer)
        }
        start(0, segment, on: transfer)
    }

    /// Starts connections as long as there is work and no stop was requested.
    private func fill(on transfer: isolated SharedTransfer) async {
        connections.recordProgress()
        // The rest of the segments of surplus connections goes to others.
        for handle in connections.retireSurplus() { await transfer.services.engine.stop(handle.id) }
        while !transfer.control.isStopRequested, let (connection, step) = connections.nextStep() {
            switch step {
            case .fetch(let segment):
                start(connection, segment, on: transfer)
            case .split(let other, let offset, let parts):
                let isAgreed = await setEnd(of: other, offset, on: transfer)
                connections.onSplit(other, at: offset, parts: parts, isAgreed: isAgreed)
            }
        }
        // The responses of these connections contain the bytes behind their segments anyway.
        while let (connection, end) = connections.widening {
            let isAgreed = await setEnd(of: connection, end, on: transfer)
            connections.plan?.onExtend(connection, to: end, isAgreed: isAgreed)
        }
    }

    /// Takes the segment from a connection that is far slower than the others.
    private func takeOver(on transfer: isolated SharedTransfer) async {
        isWatchingIdle = false
        measure()
        guard let slow = connections.retireLaggard() else { return }
        await transfer.services.engine.stop(slow.id)
    }

    /// Measures the other connections each second while a connection has no work.
    private func watchIdle() {
        guard connections.hasIdle, !isWatchingIdle else { return }
        isWatchingIdle = true
        Task { [signal] in
            try? await Task.sleep(for: .seconds(1), clock: .continuous)
            signal.yield(.idle)
        }
    }

    /// Measures the connections often while their number may still change.
    private func watchGrowth() {
        guard connections.isGrowing, !isWatchingGrowth else { return }
        isWatchingGrowth = true
        Task { [signal, interval = Self.measurementInterval] in
            try? await Task.sleep(for: interval, clock: .continuous)
            signal.yield(.measurementDue)
        }
    }

    private func measure() {
        connections.recordProgress()
        _ = connections.plan?.measure(Clocks.monotonic())
    }

    private func setEnd(of connection: Int, _ offset: Int64, on transfer: isolated SharedTransfer) async -> Bool {
        guard let handle = connections.handle(of: connection) else { return false }
        return await transfer.services.engine.setEnd(handle.id, offset)
    }

    private func start(_ connection: Int, _ segment: Segment?, on transfer: isolated SharedTransfer) {
        var segment = segment
        if connections.isOneStream { segment?.end = nil }
        let isFirst = !connections.isOpen
        if !isFirst { chooseSource(for: connection, on: transfer) }
        connections.onStart(connection, at: Clocks.monotonic())
        unsynced.setAttempts(connections.live.count)
        Task { [segment] in
            do {
                let outcome = try await transfer.attempt(
                    connection, for: segment, isFirst: isFirst, into: part, unsynced: unsynced
                ) { event, handle in
                    try await onEvent(event, of: connection, handle, for: segment, on: transfer)
                }
                signal.yield(.ended(connection, .success(outcome)))
            } catch {
                signal.yield(.ended(connection, .failure(error)))
            }
        }
    }

    // MARK: Sources

    /// Chooses the source of a connection that is not the first; see `MirrorSelector.another`.
    private func chooseSource(for connection: Int, on transfer: isolated SharedTransfer) {
        let described = MirrorSelector.Choice(source: transfer.sources.selector.use.described, mode: .own)
        guard transfer.sources.selector.hasMirrors else {
            return transfer.sources[connection] = MirrorSelector.Choice(source: 0, mode: .own)
        }
        let busy = connections.live(besides: connection)
        for other in busy { recordSpeed(of: other, on: transfer) }
        transfer.sources[connection] =
            transfer.sources.selector.another(
                besides: busy.map { transfer.sources[$0].source }, proof: transfer.proof(of: transfer.kept.described))
            ?? described
    }

    /// Records the speed of a connection's source over its attempt so far.
    private func recordSpeed(of connection: Int, on transfer: isolated SharedTransfer) {
        guard transfer.sources.selector.hasMirrors, let began = connections.began[connection],
            let handle = connections.handle(of: connection)
        else { return }
        transfer.sources.selector.onSpeed(
            of: transfer.sources[connection].source, bytes: handle.progress.snapshot.received,
            in: began.duration(to: Clocks.monotonic()))
    }

    // MARK: Events of the connections

    private func onEvent(
        _ event: AttemptEvent, of connection: Int, _ handle: AttemptHandle, for segment: Segment?,
        on transfer: isolated SharedTransfer
    ) async throws {
        switch event {
        case .head(let head, let verdict, let keeping):
            if connections.verdict != nil { throw SegmentConnectionLoss.unwanted }
            if let segment { try Self.requirePart(verdict, of: segment) }
            guard connections.isOpen else {
                transfer.response.times.answered = transfer.services.clock()
                try await transfer.onHead(head, verdict, keeping, of: handle, into: part, in: directory)
                return open(connection, verdict, handle, isPart: head.status == 206, on: transfer)
            }
            if case .restart(_, let reason) = verdict { throw SegmentConnectionLoss.otherVersion(reason) }
            if case .write(let body) = verdict {
                try await accept(body, of: connection, on: transfer)
                connections.onAccept(connection, of: handle)
                if head.status == 206 { connections.plan?.onAnswer(connection) }
            }
            signal.yield(.changed)
        case .checkpointDue(let offset):
            try await checkpoint(because: connection, handle, isAt: offset, on: transfer)
        case .redirected, .judged, .informational, .response, .finished:
            break
        }
    }

    /// Commits the source of a further connection's body, before a byte of it counts as written.
    private func accept(_ body: BodyPlan, of connection: Int, on transfer: isolated SharedTransfer) async throws {
        transfer.acceptBody(from: transfer.sources[connection], at: body.offset, isUnproven: body.isUnproven)
        guard transfer.sources.selector.use != transfer.transfer.sourceUse else { return }
        // A checkpoint that is under way may commit what was before.
        await checkpointing.enter()
        defer { checkpointing.leave() }
        try await transfer.commitSourceUse()
    }

    /// Throws unless the response contains the segment, of the known version.
    private static func requirePart(_ verdict: HeadVerdict, of segment: Segment) throws(SegmentConnectionLoss) {
        switch verdict {
        case .restart(_, let reason): throw .otherVersion(reason)
        case .write(let body) where segment.end != nil && body.skip > maxSkipped: throw .rangeIgnored
        case .write, .complete, .startOver, .retryPlainRange, .proveCondition, .notModified, .suspect, .fail: break
        }
    }

    /// Handles the first accepted head: further connections may start if the body can be split.
    private func open(
        _ connection: Int, _ verdict: HeadVerdict, _ handle: AttemptHandle, isPart: Bool,
        on transfer: isolated SharedTransfer
    ) {
        let body: BodyPlan
        switch verdict {
        case .write(let plan), .restart(let plan, _): body = plan
        case .complete, .startOver, .retryPlainRange, .proveCondition, .notModified, .suspect, .fail: return
        }
        connections.onAccept(connection, of: handle)
        let hasPlanned = connections.open(
            connection, body, count: transfer.segmentCount, smallest: transfer.settings.smallestSegment,
            isSplittable: ResumeRules.isSplittable(transfer.kept.described), isPart: isPart)
        if hasPlanned { transfer.control.setReceivedElsewhere(0) }
        if connections.isOpen { signal.yield(.changed) }
    }

    /// Commits a checkpoint for all connections. One sync makes the bytes of all of them durable.
    ///
    /// The offsets are read before the sync and committed after it. Meanwhile connections write further bytes, but only
    /// one checkpoint is made at a time, so the committed offsets never go back.
    private func checkpoint(
        because connection: Int, _ handle: AttemptHandle, isAt offset: Int64, on transfer: isolated SharedTransfer
    ) async throws {
        await checkpointing.enter()
        defer { checkpointing.leave() }
        let engine = transfer.services.engine
        if let durable = connections.plan?.committed(of: connection), durable >= offset { return unsynced.release() }
        let mark = unsynced.mark()
        let marks = connections.recordProgress()
        guard let plan = connections.plan else {
            let written = [Segment(start: 0, committed: offset)]
            try await transfer.checkpoint(part, at: written, keeping: transfer.kept.described)
            unsynced.settle(mark)
            return await engine.committed(handle.id, offset: offset)
        }
        let written = plan.writtenSegments
        try await transfer.checkpoint(part, at: written, keeping: transfer.kept.described)
        connections.plan?.onDurable(written)
        unsynced.settle(mark)
        for (id, mark) in marks { await engine.committed(id, offset: mark) }
        if connections.plan?.measure(Clocks.monotonic()) == true { signal.yield(.changed) }
    }

    // MARK: Ends of the connections

    /// Handles the end of a connection and its effect on the others. Returns the round's end if there was only one
    /// stream.
    private func onEnd(
        of connection: Int, _ result: Result<AttemptOutcome, any Error>, on transfer: isolated SharedTransfer
    ) async -> SharedTransfer.Round? {
        let received = connections.handle(of: connection)?.progress.snapshot.received ?? 0
        recordSpeed(of: connection, on: transfer)
        connections.recordSpeed(of: connection, received: received, at: Clocks.monotonic())
        connections.recordProgress()
        let wasRetiring = connections.remove(connection)
        unsynced.setAttempts(connections.live.count)
        guard connections.plan != nil else { return await onOnlyEnd(result, on: transfer) }
        let source = SegmentConnections.Source(
            isForeign: transfer.sources[connection].mode.isForeign,
            isAlone: transfer.sources.isAlone(connection, among: connections.live.keys))
        let consequence =
            switch result {
            case .success(let outcome):
                connections.onEnd(
                    of: connection, outcome.result, at: outcome.offset, received: received, wasRetiring: wasRetiring,
                    from: source)
            case .failure(let error):
                connections.onEnd(of: connection, error, from: source)
            }
        await perform(consequence, of: connection, on: transfer)
        return nil
    }

    /// Handles the end of the only connection, when there is no plan.
    private func onOnlyEnd(
        _ result: Result<AttemptOutcome, any Error>, on transfer: isolated SharedTransfer
    ) async -> SharedTransfer.Round? {
        switch result {
        case .success(let outcome):
            transfer.describe(after: outcome)
            return SharedTransfer.Round(outcome)
        case .failure(let error):
            await perform(connections.end(.failure(error)), of: 0, on: transfer)
            return nil
        }
    }

    private func perform(
        _ consequence: SegmentConnections.Consequence, of connection: Int, on transfer: isolated SharedTransfer
    ) async {
        if consequence.isDecisive { transfer.sources[0] = transfer.sources[connection] }
        switch consequence.effect {
        case .none:
            break
        case .stopAll:
            for attempt in transfer.control.attempts { await transfer.services.engine.stop(attempt.id) }
        case .setAside(let error):
            transfer.setAside(connection, error)
        case .refuse(let reason):
            transfer.refuse(of: connection, because: reason)
        case .recount:
            transfer.control.setReceivedElsewhere(connections.plan?.writtenByteCount)
        }
    }
}
