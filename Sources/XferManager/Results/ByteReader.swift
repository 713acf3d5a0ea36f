import XferCurl
import XferFiles
public import XferModel
import XferStore

/// A range of a task's bytes.
public struct BytePage: Hashable, Sendable {
    public var bytes: [UInt8]
    /// The offset of the first byte.
    public var offset: Int64
    /// The number of bytes that can be read now.
    public var length: Int64
    /// True if no bytes will follow these.
    public var isLast: Bool
    public var state: TaskState
    /// The identity of the source's version: pages of different versions belong to different files. Nil for a stored
    /// response without a known attempt.
    public var version: String?
    /// The name that the file has, or gets when it is published; nil if none is known.
    public var fileName: String?
}

/// `task.read`: reads bytes while they arrive and afterwards.
public struct ByteReader: ManagerPart, Sendable {
    let context: ManagerContext
    let scheduler: RunScheduler

    /// Returns up to `length` bytes of a task from `offset` on, as far as they are reliable: a download's committed
    /// bytes, the staged file, the published file, or the stored response. The result is empty at the end of these
    /// bytes and beyond.
    ///
    /// - Throws: `ManagerError`: `notFound`; `noBytes` or `noResult` if there is nothing to read, or no longer.
    public func read(
        _ id: TaskID, offset: Int64, length: Int, for principal: Principal
    ) async throws -> BytePage {
        let wanted = min(length, Self.largestResultPage)
        for _ in 0..<Self.maxReadings {
            let source = try await byteSource(of: id, for: principal)
            guard source.task.specification.kind == .download else {
                return try await response(of: source.task, offset: offset, length: wanted, for: principal)
            }
            let bytes: [UInt8]
            do {
                bytes = try await read(source, offset: offset, length: wanted)
            } catch FileError.missing(let path) {
                // The file may just have got its final name.
                guard try await byteSource(of: id, for: principal).isSame(as: source) else { continue }
                guard source.task.state == .running else {
                    throw ManagerError.noBytes(id, source.task.state, reason: "\(path) is gone")
                }
                // The completion is not committed yet.
                bytes = []
            }
            // The bytes read are valid only if they were not dropped meanwhile. Dropping is committed before a byte is
            // overwritten.
            guard
                try await byteSource(of: id, for: principal).isWhole(
                    source, upTo: offset.addingSaturated(Int64(bytes.count)))
            else {
                continue
            }
            let hasEnded = source.task.state.isTerminal || source.task.state == .staged
            return BytePage(
                bytes: bytes, offset: offset, length: source.length,
                isLast: hasEnded && offset.addingSaturated(Int64(bytes.count)) >= source.length,
                state: source.task.state,
                version: source.version, fileName: source.finalName)
        }
        // The bytes change faster than they can be read, so none are returned.
        let source = try await byteSource(of: id, for: principal)
        return BytePage(
            bytes: [], offset: offset, length: source.length, isLast: false, state: source.task.state,
            version: source.version, fileName: source.finalName)
    }

    private static var maxReadings: Int { 8 }

    private func response(
        of task: TransferTask, offset: Int64, length: Int, for principal: Principal
    ) async throws -> BytePage {
        guard task.state.isTerminal else {
            let arriving = await scheduler.answer(to: task.id, at: offset, upTo: length)
            return BytePage(
                bytes: arriving?.bytes ?? [], offset: offset, length: arriving?.received ?? 0, isLast: false,
                state: task.state, version: arriving.map { Self.version(of: $0.beganAt) })
        }
        let page = try await result(of: task.id, offset: offset, length: length, for: principal)
        return BytePage(
            bytes: page.bytes, offset: page.offset, length: page.length, isLast: page.isLast, state: task.state,
            version: task.outcome.lastAttempt.map { Self.version(of: $0.beganAt) })
    }

    /// Each attempt has an answer of its own.
    private static func version(of attempt: Timestamp) -> String { String(attempt.rawValue) }

    // MARK: Byte sources

    /// The place of a task's bytes, according to one read of the database.
    private struct ByteSource: Sendable {
        let task: TransferTask
        var transfer: Transfer?
        /// The file's name; nil for a published file.
        var name: String?
        var published: PublishedFile?
        /// The name that the file has, or gets when it is published; nil if none is known.
        var finalName: String?
        var length: Int64 = 0
        var version = ""

        func isSame(as other: ByteSource) -> Bool {
            task.state == other.task.state && name == other.name && version == other.version
        }

        /// True if the bytes of `earlier` are still valid up to `end`.
        func isWhole(_ earlier: ByteSource, upTo end: Int64) -> Bool {
            version == earlier.version && length >= min(end, earlier.length)
        }
    }

    private func byteSource(of id: TaskID, for principal: Principal) async throws -> ByteSource {
        try await store.read { reader in
            guard let task = try reader.visibleTask(id, to: principal) else { throw ManagerError.notFound(id) }
            var source = ByteSource(task: task)
            switch task.state {
            case .cancelled:
                if task.specification.kind == .download {
                    throw ManagerError.noBytes(id, task.state, reason: "its bytes are deleted")
                }
            case .completed:
                guard task.specification.kind == .download else { break }
                guard let published = try reader.publishedFiles.find(of: id) else {
                    throw ManagerError.noBytes(id, task.state, reason: "it published no file of its own")
                }
                source.published = published
                source.finalName = task.outcome.finalPath?.split(separator: "/").last.map(String.init)
                source.length = published.length
                source.version = published.version
            case .staged:
                guard let transferID = task.transferID, let ready = try reader.readyFiles.find(of: id),
                    let facts = ready.facts
                else { throw ManagerError.noBytes(id, task.state, reason: "its file is no longer known") }
                source.transfer = try reader.transfers.find(transferID)
                source.name = ready.name
                source.finalName = ready.finalName
                source.length = facts.length
                source.version = try reader.transfers.byteVersion(of: transferID) + (ready.isProcessed ? "p" : "")
            case .queued, .waiting, .running, .paused, .failed:
                guard let transferID = task.transferID, let transfer = try reader.transfers.find(transferID) else {
                    break
                }
                source.transfer = transfer
                source.name = transfer.partialName
                source.finalName = task.specification.destination.name
                // Bytes that only a digest can verify are not reliable before it has been checked.
                source.length = min(transfer.resumeData.committedPrefix, transfer.sourceUse.unprovenFrom ?? .max)
                source.version = try reader.transfers.byteVersion(of: transferID)
            }
            return source
        }
    }

    private func read(_ source: ByteSource, offset: Int64, length: Int) async throws -> [UInt8] {
        let count = min(length, Int(clamping: max(0, source.length.subtractingSaturated(offset))))
        guard count > 0 else { return [] }
        let (id, state) = (source.task.id, source.task.state)
        do {
            // A run stops itself when its policies change.
            if let transfer = source.transfer, state != .running {
                try await services.requireTrusted(
                    source.task, transfer,
                    authoritiesFile: settings.authoritiesFile(of: source.task.specification.request))
            }
            if let transfer = source.transfer, let name = source.name {
                let directory = try await DestinationDirectory.open(
                    transfer, for: source.task.specification, settings, services, .reading)
                let (mark, isPart) = (transfer.resumeData.part?.mark, name == transfer.partialName)
                return try await services.pool(in: directory).run {
                    let file = try ReadableFile(in: directory, named: name)
                    // If a part was replaced, the file under its name may be one that the caller may not read.
                    if isPart, let mark, mark.isCertain, try !mark.isSame(as: file.facts().mark) {
                        throw FileError.missing(path: directory.path(of: name))
                    }
                    return try file.read(at: offset, upTo: count)
                }
            }
            guard let published = source.published, let path = source.task.outcome.finalPath else { return [] }
            return try await read(published, at: path, of: source.task, offset: offset, count: count)
        } catch let error as TransferError {
            throw ManagerError.noBytes(id, state, reason: error.message)
        } catch let error as FileError {
            if case .missing = error { throw error }
            throw ManagerError.noBytes(id, state, reason: error.description)
        }
    }

    private func read(
        _ published: PublishedFile, at path: String, of task: TransferTask, offset: Int64, count: Int
    ) async throws -> [UInt8] {
        let place = path.split(separator: "/", omittingEmptySubsequences: false)
        let (parent, name) = (place.dropLast().joined(separator: "/"), String(place.last ?? ""))
        let owner = task.owner
        return try await services.pool(of: owner, forPath: path).run { [rights = services.rights] in
            let directory = try rights.roots(of: owner).open(
                directory: parent.isEmpty ? "/" : parent, for: .reading)
            let file = try ReadableFile(in: directory, named: name)
            let facts = try file.facts()
            guard published.isStill(facts), directory.isPlausibleDevice(of: facts, published) else {
                throw TransferError(
                    .fileMoveFailed, "\(path) is no longer the file that it published: it was replaced or changed")
            }
            return try file.read(at: offset, upTo: count)
        }
    }

    // MARK: Digests

    /// Records the digest that a client has computed of a task's published file, unless one is known. The file has to
    /// be the published one still, unchanged.
    ///
    /// - Returns: the digest that is known now.
    public func recordDigest(
        _ digest: Checksum, of id: TaskID, for principal: Principal
    ) async throws -> Checksum {
        let source = try await publishedSource(of: id, for: principal)
        do {
            // Shows that the file is still the published one; an empty file has no other content.
            _ = try await read(source, offset: 0, length: 1)
        } catch let error as FileError {
            throw ManagerError.noBytes(id, source.task.state, reason: error.description)
        }
        let version = source.version
        return try await translatingStoreErrors {
            try await store.write { tx in
                guard try tx.publishedFiles.find(of: id)?.version == version,
                    let known = try tx.publishedFiles.recordDigest(digest, of: id)
                else { throw ManagerError.notFound(id) }
                return known
            }
        }
    }

    private func publishedSource(of id: TaskID, for principal: Principal) async throws -> ByteSource {
        let source: ByteSource
        do {
            source = try await byteSource(of: id, for: principal)
        } catch ManagerError.noBytes(let id, let state, let reason) {
            throw ManagerError.invalidState(id, state, reason: reason)
        }
        guard source.published != nil else {
            throw ManagerError.invalidState(id, source.task.state, reason: "it has published no file")
        }
        return source
    }
}

extension ResumeData {
    /// The length of the durable bytes from the beginning without a gap.
    fileprivate var committedPrefix: Int64 {
        var end: Int64 = 0
        for segment in segments.sorted(by: { $0.start < $1.start }) {
            guard segment.start <= end else { break }
            end = max(end, segment.committed)
            if let segmentEnd = segment.end, segment.committed < segmentEnd { break }
        }
        return end
    }
}
