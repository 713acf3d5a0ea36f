import Logging
import XferCore
import XferCurl
import XferFiles
import XferModel
import XferStore

/// Attempts: how a transfer gets its bytes.
extension SharedTransfer {
    /// A server that makes the transfer start over more often than this at one go is treated as failing.
    private static var maxRestarts: Int { 3 }

    /// How a round of attempts ended, none of which is live any more.
    struct Round {
        let result: AttemptOutcome.Result
        /// What is written, with what was kept.
        let written: [Segment]
        /// The last attempt's; nil when it was given up.
        let outcome: AttemptOutcome?

        init(_ result: AttemptOutcome.Result, written: [Segment], outcome: AttemptOutcome? = nil) {
            self.result = result
            self.written = written
            self.outcome = outcome
        }

        /// Of a single attempt.
        init(_ outcome: AttemptOutcome) {
            self.init(outcome.result, written: [Segment(start: 0, committed: outcome.offset)], outcome: outcome)
        }
    }

    /// Makes attempts until the body is whole, or until something ends it.
    func fetch(into part: PartialFile, in directory: DirectoryHandle) async throws -> Delivery {
        func whole(_ length: Int64) async throws -> Delivery {
            let facts = try await requireWhole(part, length)
            return .whole(
                WholeBody(
                    part: part, length: length, described: described, facts: facts, holdingDigest: holdingDigest))
        }
        if committed > 0, committed == transfer.resumeData.totalLength { return try await whole(committed) }
        beginWithSources()
        var restarts = 0
        while true {
            guard !control.isStopRequested else { return .left }
            if let failure = chooseSource() { return .failed(failure) }
            // A source that made it start over is not asked by several at once.
            guard let round = try await askSource(into: part, in: directory, maySplit: restarts == 0) else { continue }
            switch round.result {
            case .complete:
                return try await whole(round.written.reduce(0) { $0 + $1.committed - $1.start })
            case .notModified:
                return .notModified(
                    Confirmation(
                        head: round.outcome?.head ?? ResponseHead(status: 304),
                        url: round.outcome?.finalURL ?? source(for: 0), times: times))
            case .stopped:
                return .left
            case .failed(let error):
                guard goesOn(after: error) else { return .failed(error) }
            case .startOver(let reason):
                try await dropKeptBytes(sourceChange: reason.change)
                try await services.pool.run { try part.truncate(to: 0) }
                restarts += 1
            case .restartWithHTTP1:
                restarts += 1
            }
            head = nil
            guard restarts > Self.maxRestarts else { continue }
            let failure = TransferError(
                .rangeMismatch, "the server's answers contradict each other: started over \(Self.maxRestarts) times")
            guard goesOn(after: failure) else { throw failure }
            restarts = 0
        }
    }

    /// A round of attempts that begins with the chosen source, and what it leaves. Nil when that could not go on with what is
    /// kept of another one: then nothing has changed.
    private func askSource(
        into part: PartialFile, in directory: DirectoryHandle, maySplit: Bool
    ) async throws -> Round? {
        let before = committed
        isBodyTaken = choice(of: 0).way == .own
        let round: Round
        do {
            round = try await bring(into: part, in: directory, maySplit: maySplit)
        } catch let refusal as SourceRefusal {
            refuse(of: 0, because: refusal.reason)
            return nil
        }
        if case .startOver(let reason) = round.result, choice(of: 0).way.isForeign, !isBodyTaken {
            refuse(of: 0, because: reason)
            return nil
        }
        guard isBodyTaken else { return round }
        switch round.result {
        case .stopped, .failed, .restartWithHTTP1:
            try await checkpoint(part, at: round.written, keeping: described, isLast: true)
            if committed > before { hasGained = true }
        case .complete, .notModified, .startOver: break
        }
        return round
    }

    private func bring(
        into part: PartialFile, in directory: DirectoryHandle, maySplit: Bool
    ) async throws -> Round {
        if maySplit && segmentCount != .one || !transfer.resumeData.hasOnlyPrefix {
            return try await bringSegments(into: part, in: directory, maySplit: maySplit)
        }
        let outcome = try await attempt(into: part, in: directory)
        take(outcome)
        return Round(outcome)
    }

    /// What describes the bytes once the only attempt there was has ended.
    func take(_ outcome: AttemptOutcome) {
        guard outcome.result != .notModified, isBodyTaken else { return }
        described = describing(outcome.resumeData, by: choice(of: 0))
    }

    /// Where a lane's attempts ask. Always a URL the client gave: redirects are followed anew, so that each hop is admitted,
    /// judged and shown secrets as any other, and what was signed for one request is not used for another.
    func source(for lane: Int) -> HTTPURL { specification.sources[choice(of: lane).source] }

    /// The request all members have in common; which types each accepts it says itself when they differ.
    private func request(for lane: Int) -> TransferRequest {
        var request = MirrorRequest.request(specification.request, for: source(for: lane))
        let wanted = Set(members.values.map(\.run.specification.request.acceptedTypes))
        request.acceptedTypes = wanted.count == 1 ? wanted.first ?? [] : []
        // Streams of one connection share what it carries, and what is on its way on a stream that ends is sent in vain.
        if segmentCount != .one { request.httpVersion = .http1 }
        return request
    }

    /// One attempt and its events, for everything that is missing.
    private func attempt(into part: PartialFile, in directory: DirectoryHandle) async throws -> AttemptOutcome {
        try await attempt(0, for: nil, isFirst: true, into: part) { event, handle in
            switch event {
            case .head(let head, let verdict, let keeping):
                times.answered = services.clock()
                try await onHead(head, verdict, keeping, of: handle, into: part, in: directory)
            case .checkpointDue(let offset):
                try await checkpoint(part, at: [Segment(start: 0, committed: offset)], keeping: described)
                await services.engine.committed(handle.id, offset: offset)
            case .redirected, .judged, .informational, .response, .finished:
                break
            }
        }
    }

    /// One attempt of a lane.
    ///
    /// - Parameters:
    ///   - segment: what is to be fetched; nil is all that is missing behind what is kept.
    ///   - isFirst: nobody else asks meanwhile. What others are to be asked for has been described by then.
    func attempt(
        _ lane: Int, for segment: Segment?, isFirst: Bool, into part: PartialFile,
        onEvent: (AttemptEvent, AttemptHandle) async throws -> Void
    ) async throws -> AttemptOutcome {
        let choice = choice(of: lane)
        var kept = kept(for: choice, isFirst ? transfer.resumeData : described)
        kept.segments = segment == nil && committed > 0 ? [Segment(start: 0, committed: committed)] : []
        if isFirst {
            // Who asks with others' conditions gets the whole: that is right for everybody.
            let wanted = Set(members.values.map(\.conditions))
            // What is known is of the first source.
            conditions = committed == 0 && wanted.count == 1 && choice.source == 0 ? wanted.first ?? [] : []
            times = ExchangeTimes(asked: services.clock(), answered: services.clock())
        }
        // Segments combine under a validator that each answer shows; a digest would tell too late.
        // But of several sources nothing else does.
        if isFirst {
            isJoinUnproven =
                segment == nil && committed > 0 && choice.way == .own && mayJoinUnproven
                && ResumeRules.isResumable(kept, allowsUnsafe: specification.resumesUnsafely) == false
        }
        let isUnderDigest = choice.way == .underDigest || isFirst && isJoinUnproven
        let isDigestKnown = isUnderDigest || segment == nil && isDigestKnown
        let isUnsafe = specification.resumesUnsafely && segment == nil && choice.way != .anew
        return try await attempt(
            request(for: lane), into: .file(descriptor: part.descriptor), countingFrom: segment?.committed ?? 0,
            tellsRedirects: isFirst
        ) { attempt in
            attempt.resumeData = kept
            attempt.segment = segment
            attempt.allowsUnsafeResume = isUnsafe || isUnderDigest
            attempt.digestIsKnown = isDigestKnown
            attempt.conditions = isFirst ? conditions : []
            attempt.checkpoints = settings.checkpoints
            attempt.stake = lanes?.stake
        } onEvent: { event, handle in
            await passOnEvents()
            try await onEvent(event, handle)
        }
    }

    /// Tells what the head says, gives up bytes of another version, and goes on if anybody still wants the body.
    func onHead(
        _ head: ResponseHead, _ verdict: HeadVerdict, _ keeping: ResumeData, of handle: AttemptHandle,
        into part: PartialFile, in directory: DirectoryHandle
    ) async throws {
        let choice = choice(of: 0)
        let body: BodyPlan
        var isHeld = false
        switch verdict {
        case .restart(let plan, let reason):
            isHeld = true
            if choice.way.isForeign { throw SourceRefusal(reason: reason) }
            try await dropKeptBytes(sourceChange: choice.way == .anew ? Self.makingWay : reason.change)
            try await services.pool.run { try part.truncate(to: 0) }
            book.begin(with: choice.source)
            body = plan
        case .write(let plan):
            book.onBody(of: choice, at: plan.offset, isUnproven: isJoinUnproven && plan.offset > 0)
            if book.use.unprovenFrom != nil { holdingDigest = holdingDigest ?? demandedDigest }
            body = plan
        case .complete, .startOver, .retryPlainRange, .notModified, .fail:
            for member in members.values { await member.run.note(head, from: keeping.finalURL) }
            return
        }
        isBodyTaken = true
        described = describing(keeping, by: choice)
        try await commitSourceUse()
        headCount += 1
        let news = ResponseUpdate(
            number: headCount, head: head, url: keeping.finalURL, total: body.total, isResumed: committed > 0,
            times: times)
        self.head = news
        await tell(news)
        guard isWanted else { return await stopIfUnwanted() }
        try await makeRoom(for: part, in: directory)
        if isHeld { await services.engine.proceed(handle.id) }
    }

    /// Tells members who have not heard it yet; those who want nothing more leave.
    func tell(_ news: ResponseUpdate) async {
        for id in audience {
            guard let member = members[id], member.toldHead != news.number else { continue }
            members[id]?.toldHead = news.number
            guard await !member.run.take(news) else { continue }
            members.removeValue(forKey: id)?.asking.resume(returning: .left)
        }
        await stopIfUnwanted()
    }

    /// What happened on the way is told of every member.
    func passOnEvents() async {
        let events = pendingEvents
        guard !events.isEmpty else { return }
        pendingEvents = []
        for member in [members, leaving].flatMap(\.values) { await member.run.add(events) }
    }
}

extension RestartReason {
    /// For the event `task.source_changed`; nil when the source may well be the same.
    fileprivate var change: String? { isSourceChange ? description : nil }
}
