import Logging
import NIOConcurrencyHelpers
import XferCore
import XferCurl
import XferFiles
import XferModel
import XferStore

/// Runs a download task: opens its directory, gets the body from the transfer it subscribes to, takes the bytes as its
/// own, verifies and publishes them.
///
/// It does not know the other members of the transfer.
actor DownloadRun: TransferSubscriber {
    let context: RunContext
    var facts: RunState
    let shared: SharedTransfer
    /// The description of the bytes once they belong to the task.
    var described = ResumeData()
    /// The digest that proves the bytes to be of one version and whole, even if the task itself demands none; see
    /// `WholeBody`.
    var bindingDigest: Checksum?
    /// The digest announced in the last response's head.
    var announcedDigest: Checksum?
    var lastModified: String?
    /// The name that was chosen for the file which an earlier run recorded as ready.
    var readyName: String?
    /// The response whose body arrives or has arrived; nil if no request was made.
    var received: ResponseUpdate?
    /// True if the server's 304 about the kept response was unusable, so that the whole body is requested.
    var isDistrustful = false
    /// The result of a run that ended at the response head.
    private var early: Result<RunEnd, any Error>?
    private var isRefused = false
    private(set) var leavesTransfer = false
    private var ownDirectory: DirectoryHandle?
    /// The name of an existing file that has not the demanded digest, under `on_conflict: verify` or `skip`.
    private var verifiedName: String?
    /// True if `transfer` is still the shared one.
    var isOriginal = true
    /// The file's metadata when it was whole; nil where metadata cannot be relied on.
    var wholeFacts: FileFacts?

    init(_ context: RunContext, _ facts: RunState, _ shared: SharedTransfer) {
        self.context = context
        self.facts = facts
        self.shared = shared
    }

    /// True if the database has an intent to publish, so that the file may have its name: only the transfer shows that.
    var hasIntent = false

    /// True if a later attempt can continue. The bytes of a response refused by its head are useless to it.
    var isResumable: Bool { hasIntent || !isRefused && control.progress.received > 0 }
    /// The shared transfer releases its own claim.
    var claimant: TransferID? { nil }

    func run() async throws -> RunEnd {
        let end: Result<RunEnd, any Error>
        do {
            end = .success(try await runToEnd())
        } catch let error as FileError {
            end = .failure(await forgettingLost(error))
        } catch {
            end = .failure(error)
        }
        await shared.forget(taskID)
        services.space.withLockedValue { [taskID] in $0.remove(.copy(of: taskID)) }
        guard case .failure(let error) = end, let ownDirectory else { return try end.get() }
        throw services.located(error, in: ownDirectory, needed: 0)
    }

    private func runToEnd() async throws -> RunEnd {
        let directory = try await openDirectory()
        let ready = try await readyFile()
        if let end = try await finishPublishing(ready, in: directory) { return end }
        if let ready, let end = try await resume(with: ready, in: directory) { return end }
        try await requireNameable(in: directory)
        let isNameKnown = specification.destination.name != nil || specification.destination.onConflict == .continue
        if isNameKnown {
            if let end = try await endAtHead(in: directory) { return end }
        } else if let end = try await endWithDemandedFile(in: directory) {
            return end
        }

        while true {
            guard let answer = try await consult(in: directory) else { continue }
            if case .known(let end) = answer { return end }
            if let end = try await request(answer, in: directory) { return end }
        }
    }

    /// Gets the body, or a 304 about the known version; nil if the 304 was unusable.
    private func request(_ answer: CacheAnswer, in directory: DirectoryHandle) async throws -> RunEnd? {
        let comparedName = await finalName(in: directory)
        guard let own = try await conditions(in: directory) else { return .stopped }
        let adopted = own.isEmpty ? try await adoptedFile(in: directory) : nil
        switch try await body(in: directory, own.isEmpty ? answer.conditions : own, adopted) {
        case .left:
            return try early?.get() ?? .stopped
        case .failed(let error):
            // A later try would fetch the same bytes again up to the limit, or none.
            if (error as? TransferError)?.reason == .tooLarge { isRefused = true }
            // If another task's directory is missing or denied, this task continues in its own.
            leavesTransfer =
                Self.isAboutDirectory(error)
                && transfer.partial.directory != specification.destination.directory
                && !services.incomplete.contains(transfer.partial.directory)
            throw error
        case .answered:
            throw TransferError(.internalError, "a download got an answer")
        case .notModified(let word) where own.isEmpty:
            return try await confirm(answer, word, in: directory)
        case .notModified:
            outcome.notModified = true
            return try await already(published: comparedName, in: directory)
        case .whole(let body):
            return try await end(with: body, in: directory)
        }
    }

    /// Takes the bytes as the task's own and publishes them.
    ///
    /// Not inlined, so that runs that wait for their bytes keep no memory for it.
    @inline(never)
    private func end(with body: WholeBody, in directory: DirectoryHandle) async throws -> RunEnd {
        if try await owesNotification() { pendingEvents.append(.taskRefreshed) }
        control.setReceived(body.length, total: body.length)
        control.enter(.verifying)
        let copy = try await shared.handOut(body, to: self, in: directory)
        adopt(copy)
        defer { copy.part.close() }
        do {
            let end = try await publish(copy.part, length: body.length, in: directory)
            if case .stopped = end { try await keep(copy.part, length: body.length) }
            return end
        } catch let error as TransferError where error.reason == .checksumMismatch {
            guard try await suspectSources(because: error) else { throw error }
            return .again
        }
    }

    /// Throws if the whole is larger than the task allows, from any source; its bytes are useless to a later
    /// attempt.
    func requireAllowedSize(_ length: Int64) throws(TransferError) {
        guard let most = specification.request.maxSize, length > most else { return }
        isRefused = true
        throw ResumeRules.tooLarge(most, "it has \(length)", host: nil)
    }

    private static func isAboutDirectory(_ error: any Error) -> Bool {
        let reason = (error as? TransferError)?.reason ?? (error as? FileError)?.transferError.reason
        return reason == .destinationUnavailable || reason == .destinationDenied
    }

    private func openDirectory() async throws -> DirectoryHandle {
        let destination = specification.destination
        let identity = destination.directoryIdentity ?? .unknown
        let location =
            transfer.partial.directory == destination.directory
            ? transfer.partial : PartialLocation(directory: destination.directory, identity: identity)
        let directory = try await openDirectory(location)
        ownDirectory = directory
        return directory
    }

    /// Waits for the body. Progress is that of the shared transfer meanwhile.
    private func body(
        in directory: DirectoryHandle, _ conditions: [HeaderField], _ adopted: AdoptedFile?
    ) async throws -> SharedTransfer.Delivery {
        control.follow(shared.control)
        defer { control.follow(nil) }
        let delivery = await shared.body(for: self, in: directory, conditions, adopted)
        attemptState.requestWasSent = await shared.attemptState.requestWasSent
        return delivery
    }

    /// Makes the copy this task's own transfer.
    func adopt(_ copy: OwnedCopy) {
        transfer = copy.transfer
        described = copy.described
        isOriginal = copy.isOriginal
        wholeFacts = copy.facts
        bindingDigest = copy.bindingDigest
    }

    // MARK: Stopping and limits

    func stop() async {
        _ = control.requestStop()
        await shared.leave(taskID)
    }

    func setMaxRates(receive: Int64, send: Int64) async {
        attemptState.maxRates = BandwidthLimits(receive: receive, send: send)
        await shared.setMaxRates(attemptState.maxRates, of: taskID)
    }

    // MARK: Response heads from the transfer

    func record(_ head: ResponseHead, from url: HTTPURL?) {
        outcome.httpStatus = head.status
        outcome.finalURL = url
        outcome.etag = head.etag
        outcome.contentEncoding = head.contentEncoding
        outcome.responseHeaders = head.fields
        announcedDigest = specification.request.announcedDigest(of: head)
        lastModified = head.lastModified
    }

    /// Handles the head of a response whose body is arriving. Returns false if the task does not want the body.
    func apply(_ update: ResponseUpdate) async -> Bool {
        record(update.head, from: update.url)
        services.logIgnoredDigests(of: update.head, for: specification.request, taskID)
        received = update
        do {
            let url = update.url ?? specification.request.url
            let request = specification.request
            if let refusal = ResponseRules.typeFailure(
                update.head, from: url, acceptedTypes: request.acceptedTypes, rejectsPages: request.rejectsPages)
            {
                // Bytes that were kept before stay useful, whatever this answer is.
                isRefused = !update.isResumed
                throw refusal
            }
            pendingEvents.append(
                .taskResponse(
                    status: update.head.status, total: update.total, etag: update.head.etag, resumed: update.isResumed))
            if let directory = ownDirectory {
                if let end = try await endAtHead(in: directory) {
                    early = .success(end)
                    return false
                }
                try await claimPlace(for: update.total, in: directory)
            }
            commitEventsSoon()
            return true
        } catch {
            early = .failure(error)
        }
        return false
    }

    /// Claims room for the file where it will lie, if its bytes arrive on another file system: otherwise they would all
    /// be fetched before their copy is found not to fit.
    ///
    /// - Throws: `insufficient_space`.
    private func claimPlace(for total: Int64?, in directory: DirectoryHandle) async throws {
        guard let total, let arrival = await shared.fileSystem, arrival != directory.fileSystemID else { return }
        try await services.claim(total, by: .copy(of: taskID), in: directory, for: "the file")
    }

    // MARK: Existing files

    /// Applies `skip`, `fail`, `verify` and `continue` as soon as the name is known: before the first byte, or at the
    /// head.
    func endAtHead(in directory: DirectoryHandle) async throws -> RunEnd? {
        let policy = specification.destination.onConflict
        guard [.verify, .continue, .skip, .fail].contains(policy) else { return nil }
        let name = await finalName(in: directory)
        if policy.compares { return try await verified(name, in: directory) }
        let choice = try await services.paths.run(in: directory) { _ in
            try Publisher(directory: directory).chooseName(for: name, policy: policy)
        }
        return choice == .skip ? try await skipped(name, in: directory) : nil
    }

    /// Ends under `skip` and `verify` before any request, if the file beneath the URL's own name has the demanded
    /// digest: its bytes are the wanted ones, whatever name the response would give. Nil if the head has to decide.
    private func endWithDemandedFile(in directory: DirectoryHandle) async throws -> RunEnd? {
        guard [.skip, .verify].contains(specification.destination.onConflict) else { return nil }
        do {
            return try await verified(await finalName(in: directory), in: directory)
        } catch let error as FileError {
            switch error {
            // The response may give a name whose file can be read.
            case .notPermitted, .undecidable, .system: return nil
            default: throw error
            }
        }
    }

    /// Ends with the existing file, if it has the digest that is demanded.
    func skipped(_ name: String, in directory: DirectoryHandle) async throws -> RunEnd {
        do {
            let control = control
            try await existing(name, in: directory).requireDemandedDigest { control.isStopRequested }
        } catch FileError.cancelled {
            return .stopped
        }
        outcome.skipped = true
        return try await already(published: name, in: directory)
    }

    /// Ends with the existing file, if it has the digest that is demanded; nil if it has another one, is missing, or
    /// none is demanded.
    private func verified(_ name: String, in directory: DirectoryHandle) async throws -> RunEnd? {
        // Reading a large file again for the head, and for the conditions, would take as long as the download.
        guard name != verifiedName else { return nil }
        do {
            let control = control
            let isRight = try await existing(name, in: directory).hasDemandedDigest { control.isStopRequested }
            guard isRight else {
                if specification.checksum != nil { verifiedName = name }
                return nil
            }
        } catch FileError.cancelled {
            return .stopped
        }
        outcome.skipped = true
        return try await already(published: name, in: directory)
    }

    private func existing(_ name: String, in directory: DirectoryHandle) -> ExistingFile {
        ExistingFile(name: name, directory: directory, specification: specification, services: services)
    }

    private func already(published name: String, in directory: DirectoryHandle) async throws -> RunEnd {
        outcome.finalPath = directory.path(of: name)
        let status = try await services.paths.run(in: directory) { _ in try directory.status(of: name) }
        return .completed(size: status?.length ?? 0)
    }

    /// Validators of the published file, for `on_conflict: update`, `verify` and `continue`. Empty if it does not have
    /// the demanded digest: then it is replaced, however old the server's version is. Nil if the run is to stop.
    private func conditions(in directory: DirectoryHandle) async throws -> [HeaderField]? {
        guard specification.destination.onConflict.compares else { return [] }
        let name = await finalName(in: directory)
        guard name != verifiedName else { return [] }
        let found = try await services.paths.run(in: directory) { _ in
            (status: try directory.status(of: name), facts: try directory.facts(of: name))
        }
        guard let status = found.status, let facts = found.facts else { return [] }
        do {
            let control = control
            if try await existing(name, in: directory).isSpoiled(isCancelled: { control.isStopRequested }) { return [] }
        } catch FileError.cancelled {
            return nil
        }
        let path = directory.path(of: name)
        let published = try await services.store.read { reader -> TransferTask? in
            // If the file was replaced since, the task's validators do not describe it.
            guard let task = try reader.tasks.lastCompleted(path: path), task.received == facts.length,
                try reader.publishedFiles.last(path: path)?.file.isStill(facts) ?? true
            else { return nil }
            return task
        }
        if let published {
            let etag = published.outcome.etag
            let modified = published.outcome.responseHeaders.firstValue(named: "Last-Modified")
            let fields = [("If-None-Match", etag), ("If-Modified-Since", modified)]
            let known = fields.compactMap { name, value in value.map { HeaderField(name: name, value: $0) } }
            if !known.isEmpty { return known }
        }
        // This service does not know the file. Its time is usable only if it is the server's, and says nothing about an
        // unfinished file.
        guard specification.destination.usesRemoteTime, specification.destination.onConflict != .continue else {
            return []
        }
        return [HeaderField(name: "If-Modified-Since", value: HTTPDate.format(status.modifiedAt))]
    }
}
