import Logging
import XferCore
import XferCurl
import XferFiles
import XferModel
import XferStore

/// Attempts: how a transfer gets its bytes.
extension SharedTransfer {
    /// A server that makes the transfer start over more often than this at one go is treated as failing.
    private static var mostRestarts: Int { 3 }

    /// Makes attempts until the body is whole, or until something ends it.
    func fetch(into part: PartialFile, in directory: DirectoryHandle) async throws -> Delivery {
        func whole(_ length: Int64) -> Delivery {
            .whole(WholeBody(part: part, length: length, described: described))
        }
        if committed > 0, committed == transfer.resumeData.totalLength { return whole(committed) }
        beginWithSources()
        var restarts = 0
        while true {
            guard !control.isStopRequested else { return .left }
            if let failure = chooseSource() { return .failed(failure) }
            guard let outcome = try await askSource(into: part, in: directory) else { continue }
            switch outcome.result {
            case .complete:
                return whole(outcome.offset)
            case .notModified:
                return .notModified(
                    Confirmation(
                        head: outcome.head ?? ResponseHead(status: 304), url: outcome.finalURL, times: times))
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
            guard restarts > Self.mostRestarts else { continue }
            let failure = TransferError(
                .rangeMismatch, "the server's answers contradict each other: started over \(Self.mostRestarts) times")
            guard goesOn(after: failure) else { throw failure }
            restarts = 0
        }
    }

    /// One attempt at the chosen source, and what it leaves. Nil when that could not go on with what is kept of another one:
    /// then nothing has changed.
    private func askSource(into part: PartialFile, in directory: DirectoryHandle) async throws -> AttemptOutcome? {
        let before = committed
        isBodyTaken = choice(of: 0).way == .own
        let outcome: AttemptOutcome
        do {
            outcome = try await attempt(into: part, in: directory)
        } catch let refusal as SourceRefusal {
            refuse(because: refusal.reason)
            return nil
        }
        if case .startOver(let reason) = outcome.result, choice(of: 0).way.isForeign {
            refuse(because: reason)
            return nil
        }
        guard isBodyTaken else { return outcome }
        if outcome.result != .notModified { described = describing(outcome.resumeData) }
        switch outcome.result {
        case .stopped, .failed, .restartWithHTTP1:
            try await checkpoint(part, at: outcome.offset, keeping: described, isLast: true)
            if outcome.offset > before { hasGained = true }
        case .complete, .notModified, .startOver: break
        }
        return outcome
    }

    /// Where a lane's attempts ask. Always the original URL: redirects are followed anew, so that each hop is admitted, judged
    /// and shown secrets as any other, and what was signed for one request is not used for another.
    func source(for lane: Int) -> HTTPURL { specification.sources[choice(of: lane).source] }

    /// The request all members have in common; which types each accepts it says itself when they differ.
    private func request(for lane: Int) -> TransferRequest {
        var request = MirrorRequest.request(specification.request, for: source(for: lane))
        let wanted = Set(members.values.map(\.run.specification.request.acceptedTypes))
        request.acceptedTypes = wanted.count == 1 ? wanted.first ?? [] : []
        return request
    }

    /// One attempt and its events.
    private func attempt(into part: PartialFile, in directory: DirectoryHandle) async throws -> AttemptOutcome {
        let choice = choice(of: 0)
        let kept = kept(for: choice)
        // Who asks with others' conditions gets the whole: that is right for everybody.
        let wanted = Set(members.values.map(\.conditions))
        // What is known is of the first source.
        conditions = committed == 0 && wanted.count == 1 && choice.source == 0 ? wanted.first ?? [] : []
        times = ExchangeTimes(asked: services.clock(), answered: services.clock())
        let isDigestKnown = isDigestKnown
        return try await attempt(request(for: 0), into: .file(descriptor: part.descriptor)) { attempt in
            attempt.resumeData = kept
            attempt.allowsUnsafeResume = specification.resumesUnsafely || choice.way == .underDigest
            attempt.digestIsKnown = isDigestKnown
            attempt.conditions = conditions
            attempt.checkpoints = settings.checkpoints
        } onEvent: { event, handle in
            await passOnEvents()
            switch event {
            case .head(let head, let verdict, let keeping):
                times.answered = services.clock()
                try await onHead(head, verdict, keeping, of: handle, into: part, in: directory)
            case .checkpointDue(let offset):
                try await checkpoint(part, at: offset, keeping: described)
                await services.engine.committed(handle.id, offset: offset)
            case .redirected, .judged, .informational, .response, .finished:
                break
            }
        }
    }

    /// Tells what the head says, gives up bytes of another version, and goes on if anybody still wants the body.
    private func onHead(
        _ head: ResponseHead, _ verdict: HeadVerdict, _ keeping: ResumeData, of handle: AttemptHandle,
        into part: PartialFile, in directory: DirectoryHandle
    ) async throws {
        let body: BodyPlan
        switch verdict {
        case .restart(let plan, let reason):
            if choice(of: 0).way.isForeign { throw SourceRefusal(reason: reason) }
            try await dropKeptBytes(sourceChange: reason.change)
            try await services.pool.run { try part.truncate(to: 0) }
            book.begin(with: choice(of: 0).source)
            body = plan
        case .write(let plan):
            if choice(of: 0).way == .anew { try await makeWay(in: part) }
            book.onBody(of: choice(of: 0))
            body = plan
        case .complete, .startOver, .retryPlainRange, .notModified, .fail:
            for member in members.values { await member.run.note(head, from: keeping.finalURL) }
            return
        }
        isBodyTaken = true
        described = describing(keeping)
        try await commitSourceUse()
        headCount += 1
        let news = HeadNews(
            number: headCount, head: head, url: keeping.finalURL, total: body.total, isResumed: body.offset > 0,
            times: times)
        self.head = news
        await tell(news)
        guard isWanted else { return await stopIfUnwanted() }
        try await makeRoom(in: directory)
        await services.engine.proceed(handle.id)
    }

    /// Tells members who have not heard it yet; those who want nothing more leave.
    func tell(_ news: HeadNews) async {
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
