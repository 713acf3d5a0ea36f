import NIOConcurrencyHelpers
import XferCore
import XferFiles
import XferModel
import XferStore

/// The use of cached responses: a download may use one without a request, or validate it with a request.
///
/// Bytes from the cache get a transfer of the task's own, because other tasks may be fetching different bytes into the
/// shared one.
extension DownloadRun {
    /// The cache's decision before a request.
    enum CacheAnswer {
        /// The task has ended with the kept response.
        case known(RunEnd)
        /// The whole body is requested.
        case whole
        /// The kept response is validated with these conditions.
        case about(CacheLease, [HeaderField])

        var conditions: [HeaderField] {
            if case .about(_, let conditions) = self { conditions } else { [] }
        }
    }

    /// Consults the cache; nil if the kept response was damaged and has been removed.
    func consult(in directory: DirectoryHandle) async throws -> CacheAnswer? {
        // Every byte is here already, or the server's 304 was not about the kept response.
        let bytes = transfer.resumeData.committedByteCount
        guard bytes == 0 || bytes != transfer.resumeData.totalLength, !isDistrustful,
            transfer.sourceUse.suspects.isEmpty, transfer.sourceUse.excluded.isEmpty,
            specification.request.caching.policy.usesCache
        else { return .whole }
        switch try await consultCache() {
        case .fetch, .miss:
            return .whole
        case .use(let lease):
            let response = lease.entry.response
            return try await finish(with: lease, as: response, reporting: [hit(response)], in: directory).map(
                CacheAnswer.known)
        case .validate(let lease, let conditions):
            if specification.request.caching.policy == .revalidate { try await reportCacheHit(lease.entry.response) }
            return .about(lease, conditions)
        }
    }

    /// Handles the server's 304. Returns nil if it is about another response, or the cached one is damaged.
    func confirm(_ answer: CacheAnswer, _ word: Confirmation, in directory: DirectoryHandle) async throws -> RunEnd? {
        isDistrustful = true
        guard case .about(let lease, _) = answer else { return nil }
        let received = ResponseCache.Received(
            head: word.head, finalURL: word.url, requestTime: word.times.requested, responseTime: word.times.answered,
            length: 0, sources: trust.sources)
        guard let renewed = try await services.cache.renew(lease, by: received, of: specification.request) else {
            return nil
        }
        let isShown = specification.request.caching.policy == .revalidate
        return try await finish(
            with: lease, as: renewed, reporting: (isShown ? [] : [hit(renewed)]) + [.taskNotModified], in: directory)
    }

    /// Judges and publishes a kept response as a new one; nil if it was damaged.
    private func finish(
        with lease: CacheLease, as response: StoredResponse, reporting events: [EventPayload],
        in directory: DirectoryHandle
    ) async throws -> RunEnd? {
        let now = services.clock()
        let head = response.head(usedAt: now)
        let request = specification.request
        received = nil
        record(head, from: response.finalURL)
        if let refusal = ResponseRules.refusal(
            of: head, from: response.finalURL, acceptedStatus: request.acceptedStatus,
            acceptedTypes: request.acceptedTypes, rejectsPages: request.rejectsPages, now: now)
        {
            throw refusal
        }
        if let end = try await endAtHead(in: directory) { return end }
        guard let copied = try await copy(of: lease, response, in: directory) else { return nil }
        pendingEvents += events
        adopt(copied)
        defer { copied.part.close() }
        control.setReceived(response.length, total: response.length)
        control.enter(.verifying)
        let end: RunEnd
        do {
            end = try await publish(copied.part, length: response.length, in: directory)
        } catch let error as TransferError where error.reason == .checksumMismatch {
            // The kept response may be stale: the next run asks the server for the whole.
            guard specification.request.caching.policy != .onlyIfCached, try await suspectSources(because: error) else {
                throw error
            }
            return .again
        }
        if case .stopped = end { try await keep(copied.part, length: response.length) }
        return end
    }

    /// Copies the kept bytes to a transfer of the task's own; nil if they were damaged.
    private func copy(
        of lease: CacheLease, _ response: StoredResponse, in directory: DirectoryHandle
    ) async throws -> OwnedCopy? {
        let (cache, control) = (services.cache, control)
        let described = ResumeData(
            validators: response.head.validators, totalLength: response.length,
            contentEncoding: response.head.contentEncoding, finalURL: response.finalURL)
        return try await ownedCopy(
            described: described, length: response.length, for: "a copy of a cached response",
            in: directory
        ) { part in
            try await cache.handOut(lease, to: part.descriptor, isCancelled: { control.isStopRequested })
        } onMove: { _, _ in
            response.sources
        }
    }

    /// Stores a verified response, and invalidates responses that the request made doubtful.
    func keepInCache(_ part: PartialFile, length: Int64) async {
        // A mirror's response must not be kept under the URL of the task.
        guard let received, transfer.sourceUse.senders == SourceUse().senders else { return }
        // Bytes that may be of two versions, or cut off, are for the task that allowed it, unless a strong digest has
        // proven them.
        let isProven = [specification.checksum, bindingDigest].contains { $0?.algorithm.isStrong == true }
        guard isProven || !specification.resumesUnsafely && transfer.sourceUse.unprovenFrom == nil else { return }
        let (control, url) = (control, received.url ?? specification.request.url)
        await services.cache.keep(
            ResponseCache.Received(
                head: received.head, finalURL: url, requestTime: received.times.requested,
                responseTime: received.times.answered, length: length, sources: trust.sources,
                isCombined: received.isResumed),
            of: specification, .file(descriptor: part.descriptor), isCancelled: { control.isStopRequested })
        await services.cache.invalidate(
            after: received.head, to: specification.request, at: url, owner: specification.owner)
    }
}
