import Logging
import XferCore
import XferCurl
import XferFiles
import XferModel
import XferStore

/// Attempts: how a run gets its bytes.
extension TransferRun {
    enum Fetched {
        case complete(length: Int64)
        /// `on_conflict: update` and the published file is current.
        case notModified
        case ended(RunEnd)
    }

    /// A server that makes the run start over more often than this within one run is treated as failing.
    private static var mostRestarts: Int { 3 }

    /// Makes attempts until the body is whole, or until something ends the run.
    func fetch(into part: PartialFile, in directory: DirectoryHandle) async throws -> Fetched {
        if committed > 0, committed == transfer.resumeData.totalLength { return .complete(length: committed) }
        for _ in 0...Self.mostRestarts {
            guard !control.isStopRequested else { return .ended(.stopped) }
            let (attemptOutcome, early) = try await attempt(into: part, in: directory)
            if attemptOutcome.result != .notModified { described = attemptOutcome.resumeData }
            switch attemptOutcome.result {
            case .complete:
                return .complete(length: attemptOutcome.offset)
            case .notModified:
                return .notModified
            case .stopped, .failed, .restartWithHTTP1:
                try await checkpoint(part, at: attemptOutcome.offset, keeping: described, isLast: true)
                if let early { return .ended(try early.get()) }
                if case .failed(let error) = attemptOutcome.result { return .ended(.failed(error)) }
                if attemptOutcome.result == .stopped { return .ended(.stopped) }
            case .startOver(let reason):
                try await dropKeptBytes(sourceChange: reason.change)
                try await services.pool.run { try part.truncate(to: 0) }
            }
        }
        throw TransferError(
            .rangeMismatch, "the server's answers contradict each other: started over \(Self.mostRestarts) times")
    }

    /// One attempt and its events. `early` is set when the run ended it itself at the head.
    private func attempt(
        into part: PartialFile, in directory: DirectoryHandle
    ) async throws -> (AttemptOutcome, early: Result<RunEnd, any Error>?) {
        var kept = transfer.resumeData
        kept.segments = committed > 0 ? [Segment(start: 0, committed: committed)] : []
        let conditions = try await conditions(in: directory)
        var early: Result<RunEnd, any Error>?
        let ended = try await attempt(specification.request, into: .file(descriptor: part.descriptor)) { attempt in
            attempt.resumeData = kept
            attempt.allowsUnsafeResume = specification.resumesUnsafely
            attempt.digestIsKnown = specification.checksum != nil
            attempt.conditions = conditions
            attempt.checkpoints = settings.checkpoints
        } onEvent: { event, handle in
            switch event {
            case .head(let head, let verdict, let keeping):
                early = try await onHead(head, verdict, keeping, of: handle, into: part, in: directory)
                if early != nil { await services.engine.stop(handle.id) }
            case .checkpointDue(let offset):
                try await checkpoint(part, at: offset, keeping: described)
                await services.engine.committed(handle.id, offset: offset)
            case .redirected, .judged, .informational, .response, .finished:
                break
            }
        }
        return (ended, early)
    }

    /// Notes what the head says, gives up bytes of another version, and looks whether the run can end here.
    private func onHead(
        _ head: ResponseHead, _ verdict: HeadVerdict, _ keeping: ResumeData, of handle: AttemptHandle,
        into part: PartialFile, in directory: DirectoryHandle
    ) async throws -> Result<RunEnd, any Error>? {
        note(head, from: keeping.finalURL)
        switch verdict {
        case .restart(let body, let reason):
            try await dropKeptBytes(sourceChange: reason.change)
            try await services.pool.run { try part.truncate(to: 0) }
            report(head, total: body.total, isResumed: false)
            described = keeping
        case .write(let body):
            described = keeping
            report(head, total: body.total, isResumed: body.offset > 0)
        case .complete, .startOver, .retryPlainRange, .notModified, .fail:
            return nil
        }
        do {
            if let end = try await endAtHead(in: directory) { return .success(end) }
            try await makeRoom(in: directory)
        } catch {
            return .failure(error)
        }
        await services.engine.proceed(handle.id)
        return nil
    }

    private func note(_ head: ResponseHead, from url: HTTPURL?) {
        outcome.httpStatus = head.status
        outcome.finalURL = url
        outcome.etag = head.etag
        outcome.contentEncoding = head.contentEncoding
        outcome.responseHeaders = head.fields
        announcedDigest = head.announcedDigests.first
        lastModified = head.lastModified.flatMap(HTTPDate.parse)
        if specification.destination.name == nil {
            suggestedName = head.value("Content-Disposition").flatMap(FileName.fromContentDisposition)
        }
    }

    private func report(_ head: ResponseHead, total: Int64?, isResumed: Bool) {
        pendingEvents.append(
            .taskResponse(status: head.status, total: total, etag: head.etag, resumed: isResumed))
    }

    /// Validators of the published file, for `on_conflict: update`.
    private func conditions(in directory: DirectoryHandle) async throws -> [HeaderField] {
        guard specification.destination.onConflict == .update, committed == 0 else { return [] }
        let name = finalName
        guard let status = try await services.pool.run({ try directory.status(of: name) }), status.kind == .regular
        else { return [] }
        let path = directory.path(of: name)
        let published = try await services.store.read { try $0.lastCompleted(path: path) }
        if let published, published.received == status.length {
            let etag = published.outcome.etag
            let modified = published.outcome.responseHeaders.firstValue(named: "Last-Modified")
            let fields = [("If-None-Match", etag), ("If-Modified-Since", modified)]
            let known = fields.compactMap { name, value in value.map { HeaderField(name: name, value: $0) } }
            if !known.isEmpty { return known }
        }
        // A file this service knows nothing of: its time tells only if it is the server's.
        guard specification.destination.usesRemoteTime else { return [] }
        return [HeaderField(name: "If-Modified-Since", value: HTTPDate.text(status.modifiedAt))]
    }
}

extension RestartReason {
    /// For the event `task.source_changed`; nil when the source may well be the same.
    fileprivate var change: String? { isSourceChange ? description : nil }
}
