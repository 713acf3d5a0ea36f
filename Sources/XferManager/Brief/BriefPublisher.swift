import Logging
import NIOConcurrencyHelpers
import XferCore
import XferFiles
import XferModel
import XferStore

/// A completely received body, and the facts that are committed with its end.
struct BriefBody: Sendable {
    let task: TransferTask
    let startedAt: Timestamp
    let arrivedAt: MonotonicInstant
    let bytes: [UInt8]
    let head: ResponseHead
    let finalURL: HTTPURL
    var trace: AttemptTrace?

    /// The final name of the file, as `DownloadRun.finalName`.
    var name: String {
        task.specification.destination.name
            ?? FileName.suggested(
                disposition: head.value("Content-Disposition"), urls: task.specification.namingURLs(last: finalURL))
    }

    var lease: String? { task.specification.schedule.lease }

    /// The digest that the bytes must have.
    var digest: Checksum? { task.specification.checksum ?? task.specification.request.announcedDigest(of: head) }

    /// The outcome in the task's row for this response.
    var outcome: TaskOutcome {
        var outcome = TaskOutcome()
        outcome.httpStatus = head.status
        outcome.finalURL = finalURL
        outcome.etag = head.etag
        outcome.contentEncoding = head.contentEncoding
        outcome.responseHeaders = head.fields
        outcome.lastAttempt = trace
        return outcome
    }
}

/// Publishes the bodies of brief runs, many of one directory at a time: writes and syncs the files, gives them their
/// names by a `PublishingRound`, and commits the ends. That takes two commits for all of them.
struct BriefPublisher: Sendable {
    /// The highest number of files in one round.
    static let largestRound = 64
    /// The highest number of names that a file may lose to others, before an ordinary run publishes it.
    private static let mostLostNames = 20

    /// The results of a round.
    struct Outcome: Sendable {
        /// Tasks whose end is committed.
        var completed: [TaskID] = []
        /// Tasks that an ordinary run has to continue, because something is wrong or unusual.
        var others: [TaskID] = []
        /// Tasks whose files have their names, but whose names may not be durable, or whose ends could not be
        /// committed. Their intents are committed; see `RunScheduler.settleBriefIntents`.
        var unsettled: [TaskID] = []
        /// The directory of the files.
        var directory: DirectoryHandle?
    }

    /// A file that has the name in its intent.
    private struct Published: Sendable {
        let body: BriefBody
        let intent: PublishIntent
    }

    let services: RunServices
    let settings: ManagerSettings
    let failedURLs: FailedURLList

    /// Publishes bodies of one directory.
    ///
    /// - Parameter bodies: bodies of one owner's tasks with one destination directory.
    func publish(_ bodies: [BriefBody]) async -> Outcome {
        var outcome = Outcome()
        guard let first = bodies.first else { return outcome }
        let written: [BriefBody]
        var round: PublishingRound
        let directory: DirectoryHandle
        do {
            directory = try await openDirectory(of: first.task.specification)
            outcome.directory = directory
            let place = BriefRun.place(of: first.task.id)
            let length = bodies.reduce(0) { $0 + Int64(clamping: $1.bytes.count) }
            try await services.claim(length, by: place, in: directory, for: "the rest of the file")
            defer { services.space.withLockedValue { $0.remove(place) } }
            // Nothing has a name yet: if the disk does not answer, ordinary runs wait for it, and say so.
            let found = try await result(within: PathPools.patience) { [self] in
                await services.pool(in: directory).run { [self] in write(bodies, in: directory) }
            }
            guard let found else { throw FileError.cancelled }
            (written, round) = found
        } catch {
            // An ordinary run finds out what is wrong, and reports it.
            outcome.others = bodies.map(\.task.id)
            return outcome
        }
        let ids = Set(written.map(\.task.id))
        outcome.others = bodies.map(\.task.id).filter { !ids.contains($0) }
        var published: [Published] = []
        var unnamed: [Int] = []
        await round.carryOut { [store = services.store] intended in
            await Self.commit(intended.map { (written[$0.file].task, $0.intent) }, in: directory.identity, to: store)
        } onEnd: { number, end in
            switch end {
            case .published(let intent): published.append(Published(body: written[number], intent: intent))
            case .uncertain: outcome.unsettled.append(written[number].task.id)
            case .skipped, .stopped, .failed: unnamed.append(number)
            }
        }
        outcome.others += unnamed.filter { !round.isIntended($0) }.map { written[$0].task.id }
        let withdrawn = unnamed.filter(round.isIntended).map { written[$0].task.id }
        await commitEnds(published, in: directory, without: withdrawn, &outcome)
        return outcome
    }

    /// Opens the destination, with the rights of its owner.
    ///
    /// - Throws: `FileError.cancelled` if a guest's path does not answer; else as `DestinationDirectory.open`.
    func openDirectory(of specification: TaskSpecification) async throws -> DirectoryHandle {
        let destination = specification.destination
        let location = PartialLocation(
            directory: destination.directory, identity: destination.directoryIdentity ?? .unknown)
        let (owner, confinement) = (specification.owner, destination.confinement)
        if settings.isOperator(owner) {
            return try await DestinationDirectory.open(location, for: owner, confinement, settings, services)
        }
        let opened = try await result(within: PathPools.patience) { [settings, services] in
            try await DestinationDirectory.open(location, for: owner, confinement, settings, services)
        }
        guard let opened else { throw FileError.cancelled }
        return opened
    }

    // MARK: Files

    /// Writes the files, makes them durable and chooses their names. Returns the bodies that have a file. Blocks.
    private func write(_ bodies: [BriefBody], in directory: DirectoryHandle) -> ([BriefBody], PublishingRound) {
        // A body whose file cannot be made is left to an ordinary run, which finds out what is wrong.
        let written = bodies.compactMap { body in
            (try? create(body, in: directory)).map { (body: body, file: $0) }
        }
        let place = bodies.first.map { PublishingPlace(directory, of: $0.task.specification, settings, services) }
        let files = written.compactMap { body, file -> (body: BriefBody, file: PublishingFile)? in
            guard let place, (try? file.sync()) != nil else { return nil }
            let destination = body.task.specification.destination
            let file = PublishingFile(
                content: .unnamed(file), name: destination.name ?? directory.fitted(body.name),
                // An ordinary run replaces a file.
                policy: destination.onConflict == .overwrite ? .fail : destination.onConflict, digest: body.digest,
                place: place,
                isLeaseInForce: { [leases = services.leases, lease = body.lease] in leases.isInForce(lease) })
            return (body, file)
        }
        var round = PublishingRound(
            files.map(\.file), in: directory, on: services.pool(in: directory), mostLostNames: Self.mostLostNames)
        round.performOnDisk()
        return (files.map(\.body), round)
    }

    /// Creates an unnamed file with the body; nil if the body does not match the demands, or the file system has no
    /// unnamed files.
    private func create(_ body: BriefBody, in directory: DirectoryHandle) throws(FileError) -> UnnamedFile? {
        guard services.leases.isInForce(body.lease) else { return nil }
        if let digest = body.digest {
            guard try FileDigest.compute(body.bytes, algorithm: digest.algorithm) == digest else { return nil }
        }
        let destination = body.task.specification.destination
        let modified = destination.usesRemoteTime ? body.head.lastModified.flatMap(HTTPDate.parse) : nil
        return try UnnamedFile.create(
            in: directory, body.bytes, mode: destination.mode?.bits ?? settings.fileMode,
            yieldsToDirectory: destination.mode == nil, modifiedAt: modified)
    }

    // MARK: Commits

    /// Commits intents in one transaction; see `PublishingRound.Commit`.
    private static func commit(
        _ intents: [(task: TransferTask, intent: PublishIntent)], in directory: FileIdentity, to store: TaskStore
    ) async -> [Result<Bool, any Error>] {
        do {
            return try await store.write { tx in
                let results = try intents.map { task, intent -> Result<Bool, any Error> in
                    guard try tx.isQueued(task) else { return .failure(Overtaken()) }
                    let holder = try tx.reservations.holder(ofName: intent.finalName, in: directory)
                    return .success(holder == nil || holder == task.id)
                }
                let accepted = zip(intents, results).filter { (try? $1.get()) == true }.map(\.0)
                try tx.briefIntents.insert(accepted.map { ($0.task.id, $0.intent) })
                return results
            }
        } catch {
            return intents.map { _ in .failure(error) }
        }
    }

    /// Commits the ends of published files, and that others have no name.
    private func commitEnds(
        _ ends: [Published], in directory: DirectoryHandle, without unnamed: [TaskID], _ outcome: inout Outcome
    ) async {
        guard !ends.isEmpty || !unnamed.isEmpty else { return }
        let now = services.clock()
        let completions = ends.map { (body: $0.body, path: directory.path(of: $0.intent.finalName)) }
        do {
            try await services.store.write { [failedURLs] tx in
                try tx.asStarter { try tx.recordBriefEnds(completions, failedURLs, at: now) }
                if !unnamed.isEmpty { try tx.briefIntents.remove(of: unnamed) }
            }
            outcome.completed = ends.map(\.body.task.id)
            outcome.others += unnamed
        } catch {
            if error is Overtaken {
                await withdraw(ends, from: directory)
            } else {
                services.logger.report("ends of downloads could not be recorded", error)
            }
            // The intents of all are still there, or belong to transfers: then the next runs decide.
            outcome.unsettled += ends.map(\.body.task.id) + unnamed
        }
    }

    /// Takes the names away from files that no intent knows any more: the round was left because the disk did not
    /// answer, and their tasks have ended since.
    private func withdraw(_ ends: [Published], from directory: DirectoryHandle) async {
        do {
            let unwanted = try await services.store.read { reader in
                let kept = Set(try reader.briefIntents.all().map(\.task))
                return try ends.filter { end in
                    let id = end.body.task.id
                    guard !kept.contains(id) else { return false }
                    let task = try reader.tasks.find(id)
                    // Its transfer may still be there: it is deleted some time after its files.
                    if task?.state == .cancelled { return true }
                    let transfer = try task?.transferID.flatMap { try reader.transfers.find($0) }
                    return transfer?.publishIntent?.finalName != end.intent.finalName
                }
            }
            guard !unwanted.isEmpty else { return }
            try await services.pool(in: directory).run { () throws(FileError) in
                for end in unwanted { try Publisher(directory: directory).removeName(end.intent) }
                try directory.sync()
            }
        } catch {
            services.logger.report("files of tasks that have ended could not be removed", error)
        }
    }
}
