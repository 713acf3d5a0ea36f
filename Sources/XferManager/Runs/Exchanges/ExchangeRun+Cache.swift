import NIOConcurrencyHelpers
import XferCore
import XferCurl
import XferFiles
import XferModel
import XferStore

/// The use of cached responses: a `data` task may use one without a request, or validate it with a request.
extension ExchangeRun {
    /// A kept response in the form of a new one.
    struct CachedAnswer {
        var answer: AttemptOutcome
        var spill: SpoolFile
    }

    /// Reads and checks the kept response; nil if it was damaged and has been removed.
    func answer(from lease: CacheLease, as response: StoredResponse) async throws -> CachedAnswer? {
        let (pool, spool, control) = (services.pool, services.spool, control)
        let spill = try await pool.run { () throws(FileError) in try spool.makeFile() }
        let length = response.length
        var body: [UInt8]?
        if length <= settings.largestInlineResult {
            body = try await services.cache.read(lease)
            if body == nil { return nil }
        } else {
            guard length <= settings.largestResult else {
                throw TransferError(.lengthMismatch, "the kept response has \(length) bytes, more than may be stored")
            }
            try await services.claim(length, by: transfer.id, in: spool.directory, for: "a response of \(length)")
            defer { services.space.withLockedValue { $0.remove(transfer.id) } }
            let isWhole = try await services.cache.handOut(
                lease, to: spill.descriptor, isCancelled: { control.isStopRequested })
            guard isWhole else { return nil }
        }
        return CachedAnswer(
            answer: AttemptOutcome(
                result: .complete, offset: length, total: length, finalURL: response.finalURL,
                head: response.head(usedAt: services.clock()), body: body, spilledLength: body == nil ? length : nil,
                resumeData: ResumeData()),
            spill: spill)
    }

    /// Ends with a kept response; nil if it was damaged.
    func finish(with lease: CacheLease, as response: StoredResponse) async throws -> RunEnd? {
        guard let cached = try await answer(from: lease, as: response) else { return nil }
        control.setReceived(response.length, total: response.length)
        return try await judge(cached.answer, spill: cached.spill)
    }

    /// Makes a cached response available to `task.result` before the request. Returns false if it was damaged.
    func show(_ lease: CacheLease) async throws -> Bool {
        let response = lease.entry.response
        guard let cached = try await answer(from: lease, as: response) else { return false }
        // The parsed object is judged only for the task's final response.
        _ = try await keep(cached.answer, spill: cached.spill, parsing: specification.response.parsers)
        let shown = keptResponse
        keptResponse = nil
        try await reportCacheHit(response, shown)
        return true
    }

    /// Caches a response that the task accepts, unless its content coding was removed: then it differs from the
    /// received one.
    func keepInCache(_ ended: AttemptOutcome, _ times: ExchangeTimes, spill: SpoolFile) async {
        // A mirror's validators say nothing about the URL under which the response would be kept.
        guard specification.kind == .data, specification.request.caching.stores, specification.mirrors.isEmpty,
            let head = ended.head,
            head.contentEncoding == nil
        else { return }
        let control = control
        let length = ended.spilledLength ?? Int64(clamping: ended.body?.count ?? 0)
        await services.cache.keep(
            ResponseCache.Received(
                head: head, finalURL: ended.finalURL, requestTime: times.requested, responseTime: times.answered,
                length: length, sources: trust.sources),
            of: specification,
            ended.spilledLength == nil ? .bytes(ended.body ?? []) : .file(descriptor: spill.descriptor),
            isCancelled: { control.isStopRequested })
    }
}

/// The time of a request, and the time at which its response head arrived (RFC 9111 §4.2.3).
struct ExchangeTimes: Sendable {
    var requested: Timestamp
    var answered: Timestamp
}
