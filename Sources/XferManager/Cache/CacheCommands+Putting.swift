import NIOConcurrencyHelpers
import XferCore
import XferFiles
public import XferModel
public import XferProtocol

/// `cache.put`: content that a client has already.
extension CacheCommands {
    /// Stores content as the response to a plain GET of a URL, and returns its entry. When this returns, the entry
    /// survives a power failure. It replaces the response that is cached under the same key.
    ///
    /// The content decides what the caller's tasks get. A confined caller could thereby change files of tasks that are
    /// not confined, so it is refused.
    /// - Throws: `ManagerError`; `FileError` if the cache directory cannot be used.
    public func put(_ params: CachePut.Params, for principal: Principal) async throws -> CacheEntry {
        guard !isShuttingDown else { throw ManagerError.shuttingDown }
        guard !principal.isConfined else {
            throw ManagerError.permissionDenied(
                path: nil,
                reason: "it decides what other tasks of this user get, which needs a token with the scope operate"
            )
        }
        try await requireStateRoom(for: principal)
        let admission = admission(for: principal)
        let specification = try await admission.plainGet(params.url, cacheKey: params.cacheKey?.rule)
        let content = try await content(of: params, admission)
        let largest = services.cache.limits.withLockedValue(\.largestContent)
        guard content.length <= largest else {
            throw ManagerError.limitExceeded(
                reason:
                    "bytes are not cached, which is half of cache.max_bytes; the content has \(content.length)",
                limit: Int(clamping: largest))
        }
        guard let key = CacheKey(specification, digest: context.digest) else { throw ManagerError.noCacheKey }
        do {
            let (incoming, found) = try await copy(content, under: key, digestedLike: params.checksum, for: principal)
            if let checksum = params.checksum, let found, found != checksum {
                throw ManagerError.invalidField(
                    path: "checksum", reason: "the content has \(found.description), expected \(checksum.description)",
                    expected: "the digest of the content")
            }
            let response = response(to: specification.request, with: incoming, params)
            let entry = try await translatingStoreErrors {
                try await services.cache.put(incoming, as: response, under: key, for: principal.owner)
            }
            guard let entry else { throw ManagerError.noCacheKey }
            return entry
        } catch let error as FileError {
            if let refusal = ManagerError(copyingToCache: error) { throw refusal }
            throw error
        }
    }

    private func content(of params: CachePut.Params, _ admission: TaskAdmission) async throws -> BodyPart.Content {
        if let base64 = params.base64 { return .inline(InlineBytes(base64.bytes)) }
        let file = FileReference(path: params.file ?? "", field: "file")
        return .file(try await admission.content.admit(file, path: ""))
    }

    /// A copy of the content that is not durable yet. `found` is its digest by the requested algorithm.
    private typealias Copy = (incoming: CacheDirectory.Incoming, found: Checksum?)

    /// Copies the content to the cache directory. It runs on the threads of the content's path, and ends early at a
    /// shutdown.
    ///
    /// - Parameter checksum: determines the algorithm of the copy's digest.
    private func copy(
        _ content: BodyPart.Content, under key: CacheKey, digestedLike checksum: Checksum?, for principal: Principal
    ) async throws -> Copy {
        let cache = services.cache.directory
        let path = if case .file(let source) = content { source.path } else { cache.directory.path }
        return try await services.paths.pool(of: principal, forPath: path).run {
            [context, rights = services.rights, space = services.space] () throws(FileError) -> Copy in
            let isCancelled = { context.isShuttingDown.withLockedValue(\.self) }
            let incoming = try space.claiming(content.length, in: cache.directory) {
                (onProgress) throws(FileError) -> CacheDirectory.Incoming in
                switch content {
                case .inline(let data): return try cache.add(data.bytes, key: key.bytes)
                case .file(let source):
                    let file = try SendableFile(source, by: rights.sources(of: principal))
                    let incoming = try cache.add(
                        from: file.descriptor, length: source.length, key: key.bytes, isCancelled: isCancelled,
                        onProgress: onProgress)
                    try file.checkUnchanged()
                    return incoming
                }
            }
            guard let checksum else { return (incoming, nil) }
            if checksum.algorithm == .sha256 {
                return (incoming, Checksum(algorithm: .sha256, bytes: incoming.digest))
            }
            let found = try FileDigest.compute(
                descriptor: incoming.file.descriptor, algorithm: checksum.algorithm, length: incoming.length,
                isCancelled: isCancelled)
            return (incoming, found)
        }
    }

    /// The content as a response that the server sends now.
    private func response(
        to request: TransferRequest, with incoming: CacheDirectory.Incoming, _ params: CachePut.Params
    ) -> StoredResponse {
        var fields = [HeaderField(name: "Cache-Control", value: "max-age=\(params.maxAge)")]
        if let type = params.contentType { fields.append(HeaderField(name: "Content-Type", value: type)) }
        let now = clock()
        return StoredResponse(
            url: request.url, finalURL: request.url, fields: fields, requestTime: now, responseTime: now,
            length: incoming.length, digest: incoming.digest)
    }
}

extension ResponseCache {
    /// Makes copied content durable, and then usable. Returns nil if the digests of its URL cannot be computed.
    ///
    /// - Throws: `FileError`, `StoreError`; then the content is removed.
    func put(
        _ incoming: CacheDirectory.Incoming, as response: StoredResponse, under key: CacheKey, for owner: Owner
    ) async throws -> CacheEntry? {
        try await pool.run { () throws(FileError) in try incoming.keep() }
        return try await insert(response, incoming, key: key, owner: owner)
    }
}

extension ManagerError {
    fileprivate static let noCacheKey = ManagerError.storageUnavailable(
        reason: "the digest of the URL cannot be computed")

    /// The refusal of content that cannot be copied to the cache; nil for faults of the service itself.
    fileprivate init?(copyingToCache error: FileError) {
        switch error {
        case .cancelled: self = .shuttingDown
        case .digestUnavailable:
            self = .invalidField(
                path: "checksum", reason: error.description, expected: "a digest of another algorithm")
        case .sourceChanged(_, let problem):
            self = .invalidField(
                path: "file", reason: "it changed while it was copied: \(problem)",
                expected: "a file that does not change")
        case .lengthMismatch:
            self = .invalidField(
                path: "file", reason: "it was cut while it was copied", expected: "a file that does not change")
        default:
            switch error.transferError.reason {
            case .outOfDescriptors: self = .outOfDescriptors
            case .insufficientSpace: self = .storageUnavailable(reason: error.description)
            default: return nil
            }
        }
    }
}
