import Logging
import NIOConcurrencyHelpers
import XferCore
import XferCurl
import XferFiles
import XferModel
import XferStore

/// The HTTP cache (RFC 9111, private): finds kept responses for a request, keeps new ones, and invalidates responses
/// that a request may have made stale. `CachePolicy`, `Storability` and `Validation` decide; this type reads the
/// database and moves files.
///
/// A response is a row and a file. The file is durable before the row is committed, and the row is deleted before the
/// file: a crash leaves a file without a row, which the next start removes. A failure to keep a response does not fail
/// the task. Class of origin: SDImageCache, with NSURLCache's rules.
final class ResponseCache: Sendable {
    let store: TaskStore
    let directory: CacheDirectory
    /// Threads for copying and reading, which take long for large contents.
    let pool: BlockingPool
    /// The claims of all writers, for copies of responses.
    private let space: NIOLockedValueBox<SpaceLedger>
    let digest: KeyedDigest
    let userAgent: String
    let clock: WallClock
    let ages: RetentionAges
    let logger: Logger
    let limits: NIOLockedValueBox<CacheLimits>
    let inUse = EntriesInUse()
    /// The stored bytes; approximate while they change.
    let estimate = NIOLockedValueBox<Int64>(0)
    /// Allows one trim at a time.
    let isTrimming = NIOLockedValueBox(false)

    init(
        store: TaskStore, directory: CacheDirectory, pool: BlockingPool, space: NIOLockedValueBox<SpaceLedger>,
        digest: @escaping KeyedDigest, userAgent: String, limits: CacheLimits, clock: @escaping WallClock,
        ages: RetentionAges, logger: Logger
    ) {
        self.store = store
        self.directory = directory
        self.pool = pool
        self.space = space
        self.digest = digest
        self.userAgent = userAgent
        self.limits = NIOLockedValueBox(limits)
        self.clock = clock
        self.ages = ages
        self.logger = logger
    }

    // MARK: Finding

    /// Decides by the task's cache policy how kept responses are used for its request.
    ///
    /// Entries from servers that the policies in force do not trust are skipped but not removed: they may be trusted
    /// again.
    /// - Throws: `rejectedByPolicy` if the request's host is not allowed, `policyMissing`, `StoreError`.
    func decide(
        for specification: TaskSpecification, heldTo trust: RunTrust
    ) async throws -> CacheDecision<CacheLease> {
        let request = specification.request
        let policy = request.caching.policy
        guard policy.usesCache else { return .fetch }
        _ = try trust.admit(request.url, through: nil)
        var kept = try await candidates(for: specification)
        while true {
            let decision = policy.decide(
                among: kept, response: \.response, requestFields: request.headers, at: clock())
            switch decision {
            case .fetch: return .fetch
            case .miss: return .miss
            case .use(let entry), .validate(let entry, _):
                let lease = CacheLease(entry, among: inUse)
                if let refusal = try await refusal(of: entry, by: trust) {
                    logger.debug(
                        "cached response not used: its server is no longer trusted",
                        metadata: ["entry": "\(entry.id)", "reason": "\(refusal)"])
                    kept.removeAll { $0.id == entry.id }
                    continue
                }
                if case .validate(_, let conditions) = decision { return .validate(lease, conditions: conditions) }
                return .use(lease)
            }
        }
    }

    /// Entries under the request's key that match its header fields and suit this kind of task.
    private func candidates(for specification: TaskSpecification) async throws -> [CacheEntry] {
        let request = specification.request
        guard Storability.refusal(of: request, sent: request.headers) == nil,
            let key = CacheKey(specification, digest: digest)
        else { return [] }
        let now = clock()
        let maxAge = limits.withLockedValue(\.maxAge)
        return try await store.read { try $0.cache.entries(key: key.bytes) }.filter { entry in
            let response = entry.response
            // The content is kept as received, and the content coding would not be undone.
            if specification.kind == .data, response.head.contentEncoding != nil { return false }
            return entry.lastUsedAt.advanced(by: .seconds(maxAge)) >= now
                && Variant.matches(
                    response.variant, sent: sentFields(of: request, at: response.finalURL), digest: digest)
        }
    }

    private func refusal(of entry: CacheEntry, by trust: RunTrust) async throws -> String? {
        let response = entry.response
        do throws(TransferError) {
            _ = try trust.admit(response.finalURL, through: nil)
        } catch {
            return error.message
        }
        return try await pool.run { () throws(TransferError) in
            try trust.refusal(of: response.sources, from: [response.url, response.finalURL])
        }
    }

    /// The header fields of a request at its last hop, without those that libcurl adds for credentials and cookies.
    private func sentFields(of request: TransferRequest, at url: HTTPURL) -> [HeaderField] {
        HopHeaders.fields(
            for: request, plan: ResumeRules.plan(kept: ResumeData()), hop: HopHeaders.Hop(url: url),
            userAgent: userAgent)
    }

    // MARK: Using

    /// Copies an entry's content to an empty file. Returns false if the content is damaged; then the entry is removed.
    ///
    /// - Throws: `FileError` if the target cannot be written; `cancelled`.
    func handOut(
        _ lease: CacheLease, to target: Int32, isCancelled: @escaping @Sendable () -> Bool
    ) async throws -> Bool {
        let (entry, directory) = (lease.entry, directory)
        return try await using(entry) {
            try await pool.run { () throws(FileError) in
                try directory.handOut(
                    entry.blob, length: entry.response.length, digest: entry.response.digest, to: target,
                    isCancelled: isCancelled)
            }
        } != nil
    }

    /// The content of a small entry; nil if it is damaged, as in `handOut`.
    func read(_ lease: CacheLease) async throws -> [UInt8]? {
        let (entry, directory) = (lease.entry, directory)
        return try await using(entry) {
            try await pool.run { () throws(FileError) in
                try directory.read(entry.blob, length: entry.response.length, digest: entry.response.digest)
            }
        }
    }

    private func using<Value>(_ entry: CacheEntry, _ body: () async throws -> Value) async throws -> Value? {
        do {
            let value = try await body()
            let now = clock()
            // If the time of use cannot be recorded, the entry only looks older than it is.
            _ = try? await store.write(.gathered) { try $0.cache.touch(entry.id, at: now) }
            return value
        } catch FileError.damagedBlob(let path, let problem) {
            logger.warning(
                "a damaged cached response was removed", metadata: ["file": "\(path)", "problem": "\(problem)"])
            forget(try await store.write { try $0.cache.remove([entry.id]) })
            return nil
        }
    }

    // MARK: Keeping

    /// A whole response as a run received it.
    struct Received: Sendable {
        var head: ResponseHead
        var finalURL: HTTPURL
        var requestTime: Timestamp
        var responseTime: Timestamp
        var length: Int64
        var sources: [SourceEvidence]
        /// True if the body was combined from several partial responses; see `Storability.combined`.
        var isCombined = false
    }

    enum Content: Sendable {
        /// The content's file, open for reading; it is not changed meanwhile.
        case file(descriptor: Int32)
        case bytes([UInt8])
    }

    /// Keeps a response if its task wants that and RFC 9111 allows it. Failures are logged.
    func keep(
        _ received: Received, of specification: TaskSpecification, _ content: Content,
        isCancelled: @escaping @Sendable () -> Bool
    ) async {
        guard specification.request.caching.stores,
            let head = Storability.combined(
                received.head, length: received.length, isCombined: received.isCombined)
        else { return }
        let request = specification.request
        let sent = sentFields(of: request, at: received.finalURL)
        if let refusal = refusal(of: received, head, to: request, sent: sent) {
            return logger.debug("a response was not cached", metadata: ["reason": "\(refusal)"])
        }
        guard let key = CacheKey(specification, digest: digest),
            let variant = Variant.selected(by: head, sent: sent, digest: digest),
            await !isKept(received, key: key)
        else { return }
        var response = StoredResponse(
            url: request.url, finalURL: received.finalURL, status: head.status,
            fields: Storability.keptFields(of: head.fields), variant: variant, requestTime: received.requestTime,
            responseTime: received.responseTime, length: received.length, sources: received.sources)
        do {
            let incoming = try await storeContent(content, length: received.length, key: key, isCancelled)
            response.digest = incoming.digest
            try await insert(response, incoming, key: key, owner: specification.owner)
        } catch FileError.cancelled {
            return
        } catch FileError.noRoom(let path, let missing) {
            logger.notice(
                "a response was not cached: its disk has no room for it",
                metadata: ["directory": "\(path)", "missing": "\(missing)"])
        } catch {
            logger.report("a response could not be cached", error)
        }
    }

    private func refusal(
        of received: Received, _ head: ResponseHead, to request: TransferRequest, sent: [HeaderField]
    ) -> String? {
        let largest = limits.withLockedValue(\.largestContent)
        guard received.length <= largest else {
            return "\(received.length) bytes are more than half of the cache's limit"
        }
        return Storability.refusal(of: request, sent: sent, answeredBy: head)
    }

    /// True if another task that shares the transfer has kept this response already.
    private func isKept(_ received: Received, key: CacheKey) async -> Bool {
        let kept = try? await store.read { try $0.cache.entries(key: key.bytes) }
        return kept?.contains { entry in
            entry.response.requestTime == received.requestTime && entry.response.responseTime == received.responseTime
                && entry.response.length == received.length
        } ?? false
    }

    private func storeContent(
        _ content: Content, length: Int64, key: CacheKey, _ isCancelled: @escaping @Sendable () -> Bool
    ) async throws -> CacheDirectory.Incoming {
        return try await pool.run { [directory, space] () throws(FileError) in
            try space.claiming(length, in: directory.directory) {
                (onProgress) throws(FileError) -> CacheDirectory.Incoming in
                let incoming =
                    switch content {
                    case .file(let descriptor):
                        try directory.add(
                            from: descriptor, length: length, key: key.bytes, isCancelled: isCancelled,
                            onProgress: onProgress)
                    case .bytes(let bytes): try directory.add(bytes, key: key.bytes)
                    }
                try incoming.keep()
                return incoming
            }
        }
    }

    /// Commits the entry of durable content. Returns nil if the digests of its URLs cannot be computed.
    @discardableResult
    func insert(
        _ response: StoredResponse, _ incoming: CacheDirectory.Incoming, key: CacheKey, owner: Owner
    ) async throws -> CacheEntry? {
        guard let urlDigest = CoalesceKey.digest(of: response.url, digest),
            let finalURLDigest = CoalesceKey.digest(of: response.finalURL, digest)
        else { return nil }
        let now = clock()
        let blob = incoming.name
        let id: CacheEntryID
        do {
            let inserted = try await store.write { tx in
                try tx.cache.insert(
                    response, key: key.bytes, urlDigest: urlDigest, finalURLDigest: finalURLDigest, blob: blob,
                    owner: owner, at: now)
            }
            id = inserted.id
            forget(inserted.replaced)
        } catch {
            let directory = directory
            _ = try? await pool.run { () throws(FileError) in try directory.remove(blob) }
            throw error
        }
        // Until the row is committed, the caller's `incoming` protects the file from a sweep.
        withExtendedLifetime(incoming) {}
        let isTooMuch = estimate.withLockedValue { bytes in
            bytes = bytes.addingSaturated(response.length)
            return bytes > limits.withLockedValue(\.maxBytes)
        }
        if isTooMuch { startTrimming() }
        return CacheEntry(
            id: id, owner: owner, blob: blob, response: response, storedAt: now, lastUsedAt: now)
    }

    // MARK: Renewing and giving up

    /// Updates an entry by a `304`; nil if the `304` is about another response.
    func renew(
        _ lease: CacheLease, by received: Received, of request: TransferRequest
    ) async throws -> StoredResponse? {
        guard
            var renewed = Validation.renewed(
                lease.entry.response, by: received.head, from: received.finalURL, key: request.caching.key,
                requestTime: received.requestTime, responseTime: received.responseTime)
        else { return nil }
        // The servers that sent the content, and those that confirmed it.
        let senders = lease.entry.response.sources
        renewed.sources = senders + received.sources.filter { !senders.contains($0) }
        let now = clock()
        try await store.write(.gathered) { [renewed] tx in try tx.cache.renew(lease.entry.id, renewed, at: now) }
        return renewed
    }

    /// Invalidates responses after a request with an unsafe method (RFC 9111 §4.4).
    func invalidate(after head: ResponseHead, to request: TransferRequest, at finalURL: HTTPURL, owner: Owner) async {
        guard !request.method.isSafe else { return }
        let named = ["Location", "Content-Location"].compactMap { name in
            head.value(name).flatMap { try? CurlURL.resolve($0, against: finalURL) }
        }
        var urls = Invalidation.targets(of: request.method, url: finalURL, status: head.status, named: named)
        if !urls.isEmpty, !urls.contains(request.url) { urls.append(request.url) }
        let digests = urls.compactMap { CoalesceKey.digest(of: $0, digest) }
        guard !digests.isEmpty else { return }
        do {
            forget(
                try await store.write { tx in
                    try digests.flatMap { try tx.cache.remove(urlDigest: $0, of: owner) }
                })
        } catch {
            logger.report("cached responses could not be removed", error)
        }
    }

    /// Removes the files of deleted entries. A run that is reading one still gets all of it.
    func forget(_ blobs: [CachedBlob]) {
        guard !blobs.isEmpty else { return }
        estimate.withLockedValue { $0 = $0.subtractingSaturated(blobs.map(\.length).saturatedSum) }
        let (directory, logger) = (directory, logger)
        Task {
            do {
                try await pool.run { () throws(FileError) in for blob in blobs { try directory.remove(blob.name) } }
            } catch {
                logger.report("a cached response could not be deleted", error)
            }
        }
    }
}
