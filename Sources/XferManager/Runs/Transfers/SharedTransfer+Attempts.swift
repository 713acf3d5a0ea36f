import Logging
import XferCore
import XferCurl
import XferFiles
import XferModel
import XferStore

/// The attempts of a transfer to fetch its bytes.
extension SharedTransfer {
    /// The highest number of restarts in a row with one source; with more, the source counts as failing.
    private static var maxRestarts: Int { 3 }

    /// The end of a round of attempts. None of them is live any more.
    struct Round {
        let result: AttemptOutcome.Result
        /// The written segments, including the bytes kept before.
        let written: [Segment]
        /// The outcome of the only attempt; nil for a round with a `SegmentPlan`.
        let outcome: AttemptOutcome?

        init(_ result: AttemptOutcome.Result, written: [Segment], outcome: AttemptOutcome? = nil) {
            self.result = result
            self.written = written
            self.outcome = outcome
        }

        /// Creates the outcome of a round that was a single attempt.
        init(_ outcome: AttemptOutcome) {
            self.init(outcome.result, written: [Segment(start: 0, committed: outcome.offset)], outcome: outcome)
        }
    }

    /// Makes attempts until the body is whole or the run ends.
    func fetch(into part: PartialFile, in directory: DirectoryHandle) async throws -> Delivery {
        func whole(_ length: Int64) async throws -> Delivery {
            let facts = try await requireWhole(part, length)
            return .whole(
                WholeBody(
                    part: part, length: length, described: kept.described, facts: facts,
                    bindingDigest: kept.bindingDigest))
        }
        if kept.committed > 0, kept.committed == transfer.resumeData.totalLength {
            return try await whole(kept.committed)
        }
        beginWithSources()
        var restarts = 0
        response.refusal = nil
        response.isRangeRefused = false
        while true {
            guard !control.isStopRequested else { return .left }
            if response.refusal != nil {
                // The kept bytes stay until the whole begins to arrive: it may not come.
                sources[0].mode = .fromStart
            } else if let failure = chooseSource() {
                return .failed(failure)
            }
            // After a source made the transfer start over, only one attempt asks it.
            let maySplit = restarts == 0 && !response.isRangeRefused
            guard let round = try await requestFromSource(into: part, in: directory, maySplit: maySplit) else {
                continue
            }
            switch round.result {
            case .complete:
                return try await whole(round.written.byteCount)
            case .notModified:
                return .notModified(
                    Confirmation(
                        head: round.outcome?.head ?? ResponseHead(status: 304),
                        url: round.outcome?.finalURL ?? source(for: 0), times: response.times))
            case .stopped:
                return .left
            case .failed(let error) where requestsWhole(after: error):
                response.isRangeRefused = true
            case .failed(let error):
                response.isRangeRefused = false
                guard canContinue(after: error) else { return .failed(error) }
                response.refusal = nil
            case .startOver(let reason):
                if kept.committed > 0 {
                    response.refusal = reason
                } else {
                    try await dropKeptBytes(because: Discard(reason), truncating: part)
                }
                restarts += 1
            case .restartWithHTTP1:
                attemptState.usesHTTP1 = true
                restarts += 1
            }
            response.removeHead()
            guard restarts > Self.maxRestarts else { continue }
            let failure = TransferError(
                .rangeMismatch, "the server's answers contradict each other: started over \(Self.maxRestarts) times")
            guard canContinue(after: failure) else { throw failure }
            response.refusal = nil
            restarts = 0
        }
    }

    /// Makes a round of attempts that begins with the chosen source, and commits its result. Returns nil if the source
    /// could not continue another source's bytes; then nothing has changed.
    private func requestFromSource(
        into part: PartialFile, in directory: DirectoryHandle, maySplit: Bool
    ) async throws -> Round? {
        let before = kept.committed
        response.isAccepted = sources[0].mode == .own
        let round: Round
        do {
            round = try await makeRound(into: part, in: directory, maySplit: maySplit)
        } catch let refusal as SourceRefusal {
            refuse(of: 0, because: refusal.reason)
            return nil
        }
        if case .startOver(let reason) = round.result, sources[0].mode.isForeign, !response.isAccepted {
            refuse(of: 0, because: reason)
            return nil
        }
        guard response.isAccepted else { return round }
        switch round.result {
        case .stopped, .failed, .restartWithHTTP1:
            try await checkpoint(part, at: round.written, keeping: kept.described, isLast: true)
            if kept.committed > before { sources.hasGained = true }
        case .complete, .notModified, .startOver: break
        }
        return round
    }

    private func makeRound(
        into part: PartialFile, in directory: DirectoryHandle, maySplit: Bool
    ) async throws -> Round {
        if attemptState.begun == nil, maySplit && segmentCount != .one || !transfer.resumeData.hasOnlyPrefix {
            let segmented = SegmentedDownload(of: part, in: directory)
            self.segmented = segmented
            defer { self.segmented = nil }
            return try await segmented.run(on: self, maySplit: maySplit)
        }
        do {
            let outcome = try await attempt(into: part, in: directory)
            describe(after: outcome)
            return Round(outcome)
        } catch {
            await abandonReplacement()
            throw error
        }
    }

    /// Updates the description of the bytes after the only attempt has ended.
    func describe(after outcome: AttemptOutcome) {
        guard outcome.result != .notModified, response.isAccepted else { return }
        describe(kept.description(of: outcome.resumeData, by: sources[0]))
    }

    /// The highest number that a member, or a task that is about to join, requests.
    var segmentCount: SegmentCount {
        guard specification.kind == .download, specification.request.method == .get,
            specification.request.range?.suffixLength == nil
        else { return .one }
        return .highest(members.wantedSegments(default: settings.segments) + started.wantedSegments)
    }

    /// The URL that a connection's attempts request. It is always one of the client's: redirects are followed again, so
    /// that each hop passes admission and trust and gets only its own credentials, and a URL signed for one request is
    /// not reused.
    func source(for connection: Int) -> HTTPURL { specification.sources[sources[connection].source] }

    /// The request that all members share. It names accepted types only if all members accept the same; otherwise each
    /// member checks the type itself.
    private func request(for connection: Int) -> TransferRequest {
        var request = MirrorRequest.request(specification.request, for: source(for: connection))
        request.acceptedTypes = members.acceptedTypes
        // Bytes with a wrong digest may be a stale copy of a cache on the way (RFC 9111 §5.2.1.4).
        if sources.selector.isWary, request.headers.firstValue(named: "Cache-Control") == nil {
            request.headers.append(HeaderField(name: "Cache-Control", value: "no-cache"))
        }
        // HTTP/2 streams share the bandwidth of one connection, and bytes in flight on a cancelled stream are wasted.
        if segmentCount != .one || attemptState.usesHTTP1 { request.httpVersion = .http1 }
        return request
    }

    /// Makes one attempt for everything that is missing, and handles its events.
    private func attempt(into part: PartialFile, in directory: DirectoryHandle) async throws -> AttemptOutcome {
        try await attempt(0, for: nil, isFirst: true, into: part) { event, handle in
            switch event {
            case .head(let head, let verdict, let keeping):
                response.times.answered = services.clock()
                try await onHead(head, verdict, keeping, of: handle, into: part, in: directory)
            case .checkpointDue(let offset):
                if let replacement {
                    try await continueReplacement(replacement, at: offset, as: part)
                } else {
                    try await checkpoint(part, at: [Segment(start: 0, committed: offset)], keeping: kept.described)
                }
                await services.engine.committed(handle.id, offset: offset)
            case .redirected, .judged, .informational, .response, .finished:
                break
            }
        }
    }

    /// Makes one attempt of a connection.
    ///
    /// - Parameters:
    ///   - segment: the bytes to fetch; nil is all missing bytes after the kept ones.
    ///   - isFirst: true if no response has been accepted in this round. Later attempts rely on the `described` that
    ///     the first response has set.
    func attempt(
        _ connection: Int, for segment: Segment?, isFirst: Bool, into part: PartialFile,
        unsynced: SharedUnsyncedBytes? = nil,
        onEvent: (AttemptEvent, AttemptHandle) async throws -> Void
    ) async throws -> AttemptOutcome {
        let choice = sources[connection]
        let committed = kept.committed
        var resumeData = kept.resumeData(for: choice, isFirst: isFirst)
        resumeData.segments = segment == nil && committed > 0 ? [Segment(start: 0, committed: committed)] : []
        if isFirst {
            // The conditions are about the first source's response.
            response.conditions = committed == 0 && choice.source == 0 ? members.conditions : []
            response.times = ExchangeTimes(requested: services.clock(), answered: services.clock())
        }
        // Nodes behind one name may show different validators of the same bytes.
        let joinsUnderDigest = choice.mode == .own && mayJoinUnproven
        let isUnderDigest = choice.mode == .underDigest
        let endDigest = segment == nil ? endDigest : nil
        if joinsUnderDigest || isFirst { response.joinDigest = joinsUnderDigest ? demandedDigest : nil }
        // The client allows it for one source, not for the combination of several.
        let isUnsafe = specification.resumesUnsafely && choice.mode == .own
        let content =
            specification.request.bodySummary == nil
            ? nil : try await OpenedContent.open(for: taskID, specification, services)
        // The sources stay open as long as the attempt may read them.
        defer { withExtendedLifetime(content) {} }
        var outcome = try await attempt(
            request(for: connection), into: .file(descriptor: part.descriptor), countingFrom: segment?.committed ?? 0,
            tellsRedirects: isFirst
        ) { attempt in
            attempt.resumeData = resumeData
            attempt.content = content?.content
            attempt.segment = segment
            attempt.allowsUnsafeResume = isUnsafe || isUnderDigest
            attempt.joinsUnderDigest = joinsUnderDigest
            attempt.isRangeRefused = isFirst && response.isRangeRefused
            attempt.endDigest = endDigest
            attempt.conditions = isFirst ? response.conditions : []
            attempt.checkpoints = settings.checkpoints
            attempt.unsynced = unsynced
        } onEvent: { event, handle in
            await passOnEvents()
            try await onEvent(event, handle)
        }
        // A brief run's attempt had ended before its body was moved to the file.
        if let body = outcome.body {
            outcome.body = nil
            try await services.pool(in: part.directory).run { () throws(FileError) in try part.write(body) }
        }
        if isFirst { try await settleReplacement(after: outcome, as: part) }
        if let digest = outcome.unprovenEnd { try await acceptEnd(at: outcome.offset, provenBy: digest) }
        return outcome
    }

    /// Handles the first accepted head: discards bytes of another version, reports the head to the members, and
    /// continues if a task still wants the body.
    ///
    /// Not inlined, so that attempts keep no memory for it.
    @inline(never)
    func onHead(
        _ head: ResponseHead, _ verdict: HeadVerdict, _ keeping: ResumeData, of handle: AttemptHandle,
        into part: PartialFile, in directory: DirectoryHandle
    ) async throws {
        let choice = sources[0]
        let body: BodyPlan
        var isHeld = false
        switch verdict {
        case .restart(let plan, let reason):
            isHeld = true
            if choice.mode.isForeign { throw SourceRefusal(reason: reason) }
            let discard =
                choice.mode == .fromStart ? response.refusal.map { Discard($0) } ?? Self.takenOver : Discard(reason)
            let new = Replacement.Version(
                keeping: keeping, total: plan.total, choice: choice, discard: discard,
                sight: SuspectRules.sight(of: head, source: source(for: 0)))
            if try await beginReplacement(new, of: handle, in: directory) {
                await report(response.setHead(head, from: keeping.finalURL, total: plan.total, isResumed: false))
                guard isWanted else { return await stopIfUnwanted() }
                return await services.engine.proceed(handle.id)
            }
            try await dropKeptBytes(because: discard, truncating: part)
            response.refusal = nil
            sources.selector.begin(with: choice.source)
            body = plan
        case .write(let plan):
            acceptBody(from: choice, at: plan.offset, isUnproven: plan.isUnproven)
            body = plan
        case .complete, .startOver, .retryPlainRange, .proveCondition, .notModified, .suspect, .fail:
            if case .suspect(let doubt, _) = verdict {
                // Whether the mirror has another version is counted once the whole is requested from it.
                if choice.mode.isForeign { throw SourceRefusal(reason: .rangeIgnored) }
                try await kept.record(doubt)
            }
            if case .complete = verdict { return try await onKeptWhole(head, keeping) }
            for member in members.waiting.values { await member.run.record(head, from: keeping.finalURL) }
            return
        }
        response.isAccepted = true
        describe(kept.description(of: keeping, by: choice))
        try await commitSourceUse()
        await report(
            response.setHead(head, from: keeping.finalURL, total: body.total, isResumed: kept.committed > 0))
        guard isWanted else { return await stopIfUnwanted() }
        try await kept.makeRoom(for: part, in: directory)
        if isHeld { await services.engine.proceed(handle.id) }
    }

    /// Handles the head of a server that has no more than the kept bytes (416). If it does not state the version, only
    /// the digest can show that the bytes are complete.
    private func onKeptWhole(_ head: ResponseHead, _ keeping: ResumeData) async throws {
        guard !EntityTag.matchStrongly(keeping.validators.etag, head.etag),
            let digest = demandedDigest ?? response.joinDigest
        else { return }
        try await acceptEnd(at: kept.committed, provenBy: digest)
    }
}
