import Logging
import NIOConcurrencyHelpers
import XferCore
import XferFiles
import XferModel
import XferStore

/// A body that came whole, and what is committed with its end.
struct BriefBody: Sendable {
    let task: TransferTask
    let startedAt: Timestamp
    let bytes: [UInt8]
    let head: ResponseHead
    let finalURL: HTTPURL
    var trace: AttemptTrace?
    /// Names that other files or tasks took in earlier rounds.
    var taken: Set<String> = []

    /// The final name of the file, as `DownloadRun.finalName`.
    var name: String {
        task.specification.destination.name
            ?? FileName.suggested(
                disposition: head.value("Content-Disposition"), urls: task.specification.namingURLs(last: finalURL))
    }

    var lease: String? { task.specification.schedule.lease }

    /// The digest that the bytes must have.
    var digest: Checksum? { task.specification.checksum ?? task.specification.request.announcedDigest(of: head) }

    /// What the task's row says of the response.
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

/// Publishes the bodies of brief runs, many of one directory at a time: writes and syncs the files, commits their
/// intents, links their names, syncs the directory, commits the ends. Two commits for all of them.
struct BriefPublisher: Sendable {
    /// The highest number of files in one round.
    static let largestRound = 64
    /// The highest number of names that a file may lose to others, before an ordinary run publishes it.
    private static let mostNameRaces = 20

    /// What became of a round.
    struct Outcome: Sendable {
        /// Tasks whose end is committed.
        var completed: [TaskID] = []
        /// Bodies whose names were taken meanwhile: the next round gives them others.
        var again: [BriefBody] = []
        /// Tasks that an ordinary run has to continue, because something is wrong or unusual.
        var others: [TaskID] = []
        /// Tasks whose files have their names, while the name is not known to last, or the end could not be committed.
        /// Their intents are committed; see `RunScheduler.settleBriefIntents`.
        var unsettled: [TaskID] = []
        /// The directory of the files.
        var directory: DirectoryHandle?
    }

    /// A file that is to get a name.
    private struct File: Sendable {
        let body: BriefBody
        let file: UnnamedFile
        let intent: PublishIntent

        /// The body, for a round in which the name is known to be taken.
        var again: BriefBody {
            var body = body
            body.taken.insert(intent.finalName)
            return body
        }
    }

    let services: RunServices
    let settings: ManagerSettings
    let failedURLs: FailedURLList

    /// - Parameter bodies: of one owner's tasks with one destination directory.
    func publish(_ bodies: [BriefBody]) async -> Outcome {
        var outcome = Outcome()
        guard let first = bodies.first else { return outcome }
        let written: (files: [File], others: [TaskID])
        do {
            let directory = try await openDirectory(of: first.task.specification)
            outcome.directory = directory
            let place = BriefRun.place(of: first.task.id)
            let length = bodies.reduce(0) { $0 + Int64(clamping: $1.bytes.count) }
            try await services.claim(length, by: place, in: directory, for: "the remaining \(length) and the reserve")
            defer { services.space.withLockedValue { $0.remove(place) } }
            // Nothing has a name yet: if the disk does not answer, ordinary runs wait for it, and say so.
            let found = try await result(within: PathPools.patience) { [self] in
                await services.pool(in: directory).run { [self] in write(bodies, in: directory) }
            }
            guard let found else { throw FileError.cancelled }
            written = found
        } catch {
            // An ordinary run finds out what is wrong, and reports it.
            outcome.others = bodies.map(\.task.id)
            return outcome
        }
        outcome.others = written.others
        let intended = await commitIntents(written.files, &outcome)
        guard !intended.isEmpty else { return outcome }
        await commitEnds(await giveNames(to: intended), &outcome)
        let again = outcome.again
        outcome.again = again.filter { $0.taken.count < Self.mostNameRaces }
        outcome.others += again.filter { $0.taken.count >= Self.mostNameRaces }.map(\.task.id)
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

    /// Writes the files, makes them durable and chooses their names. Blocks.
    private func write(_ bodies: [BriefBody], in directory: DirectoryHandle) -> (files: [File], others: [TaskID]) {
        var files: [(body: BriefBody, file: UnnamedFile)] = []
        var others: [TaskID] = []
        for body in bodies {
            do {
                guard services.leases.isInForce(body.lease), try hasItsDigest(body),
                    let file = try create(body, in: directory)
                else {
                    others.append(body.task.id)
                    continue
                }
                files.append((body, file))
            } catch {
                others.append(body.task.id)
            }
        }
        let publisher = Publisher(directory: directory)
        var names: Set<String> = []
        var ready: [File] = []
        for (body, file) in files {
            do throws(FileError) {
                try file.sync()
                let destination = body.task.specification.destination
                let policy = destination.onConflict == .overwrite ? ConflictPolicy.fail : destination.onConflict
                let wanted = destination.name ?? directory.fitted(body.name)
                let choice = try publisher.chooseName(for: wanted, policy: policy) { name in
                    body.taken.contains(name) || names.contains(name)
                }
                guard case .publish(let name, _) = choice else { continue }
                names.insert(name)
                let intent = PublishIntent(finalName: name, part: try file.facts(), digest: body.digest)
                ready.append(File(body: body, file: file, intent: intent))
            } catch {
                others.append(body.task.id)
            }
        }
        return (ready, others)
    }

    private func hasItsDigest(_ body: BriefBody) throws(FileError) -> Bool {
        guard let digest = body.digest else { return true }
        return try FileDigest.compute(body.bytes, algorithm: digest.algorithm) == digest
    }

    private func create(_ body: BriefBody, in directory: DirectoryHandle) throws(FileError) -> UnnamedFile? {
        let destination = body.task.specification.destination
        let modified = destination.usesRemoteTime ? body.head.lastModified.flatMap(HTTPDate.parse) : nil
        return try UnnamedFile.create(
            in: directory, body.bytes, mode: destination.mode?.bits ?? settings.fileMode,
            yieldsToDirectory: destination.mode == nil, modifiedAt: modified)
    }

    // MARK: Intents

    /// Commits the intents. Returns the files that may be linked.
    private func commitIntents(_ files: [File], _ outcome: inout Outcome) async -> [File] {
        guard !files.isEmpty else { return [] }
        let wanted = files.map { (task: $0.body.task.id, asked: $0.body.task, intent: $0.intent) }
        let directory = files[0].file.directory.identity
        do {
            let refused = try await services.store.write { tx in
                var refused: Set<TaskID> = []
                for file in wanted {
                    guard try tx.isQueued(file.asked) else { throw Overtaken() }
                    if let holder = try tx.holder(ofName: file.intent.finalName, in: directory), holder != file.task {
                        refused.insert(file.task)
                    }
                }
                try tx.insertBriefIntents(wanted.filter { !refused.contains($0.task) }.map { ($0.task, $0.intent) })
                return refused
            }
            for file in files where refused.contains(file.body.task.id) { outcome.again.append(file.again) }
            return files.filter { !refused.contains($0.body.task.id) }
        } catch {
            outcome.others += files.map(\.body.task.id)
            return []
        }
    }

    // MARK: Names

    private enum LinkResult: Sendable {
        /// The name leads to the file, and will after a power cut.
        case published
        /// The file has the name, but its directory could not be synced, or the name could not be taken away.
        case uncertain
        case nameTaken
        case failed
    }

    private typealias Linked = [(file: File, result: LinkResult)]

    /// Gives the files their names while the path leads to their directory. If it does not any more afterwards, takes
    /// the names away again.
    private func giveNames(to files: [File]) async -> Linked {
        guard let first = files.first else { return [] }
        let (directory, owner) = (first.file.directory, first.body.task.owner)
        let reopen = DestinationDirectory.reopening(
            directory, for: first.body.task.specification, settings, services)
        let isInPlace: @Sendable () -> Bool = {
            (try? DirectoryPath.requireLeading(to: directory, for: first.intent.finalName, reopen)) != nil
        }
        let failed: Linked = files.map { ($0, .failed) }
        if settings.isOperator(owner) {
            return await services.pool(in: directory).run { [self] in
                guard isInPlace() else { return failed }
                let linked = link(files)
                return isInPlace() ? linked : withdraw(linked)
            }
        }
        guard await isSoon(isInPlace, owner, directory) else { return failed }
        let linked = await services.pool(in: directory).run { [self] in link(files) }
        if await isSoon(isInPlace, owner, directory) { return linked }
        return await services.pool(in: directory).run { [self] in withdraw(linked) }
    }

    /// False also if the check takes too long.
    private func isSoon(
        _ check: @escaping @Sendable () -> Bool, _ owner: Owner, _ directory: DirectoryHandle
    ) async -> Bool {
        (try? await result(within: PathPools.patience) { [pool = services.pool(of: owner, in: directory)] in
            await pool.run(check)
        }) ?? false
    }

    /// Takes away the names that were given. Blocks.
    private func withdraw(_ linked: Linked) -> Linked {
        guard let directory = linked.first?.file.file.directory else { return [] }
        let publisher = Publisher(directory: directory)
        let withdrawn = linked.map { file, result -> (file: File, result: LinkResult) in
            guard result == .published || result == .uncertain else { return (file, result) }
            let isGone = (try? publisher.removeName(file.intent)) != nil
            return (file, isGone ? .failed : .uncertain)
        }
        guard (try? directory.sync()) != nil else {
            return withdrawn.map { ($0.file, $0.result == .failed ? .uncertain : $0.result) }
        }
        return withdrawn
    }

    /// Gives the files their names and makes the names durable. Blocks.
    private func link(_ files: [File]) -> Linked {
        guard let directory = files.first?.file.directory else { return [] }
        let linked = files.map { file -> (file: File, result: LinkResult) in
            // The commit of the intents may have taken long, and another daemon may have the task now.
            guard services.leases.isInForce(file.body.lease) else { return (file, .failed) }
            do throws(FileError) {
                return (file, try file.file.link(as: file.intent.finalName) == .published ? .published : .nameTaken)
            } catch {
                return (file, .failed)
            }
        }
        do throws(FileError) {
            try directory.sync(named: linked.filter { $0.result == .published }.map(\.file.file))
        } catch {
            return linked.map { ($0.file, $0.result == .published ? .uncertain : $0.result) }
        }
        return linked
    }

    // MARK: Ends

    private func commitEnds(_ linked: [(file: File, result: LinkResult)], _ outcome: inout Outcome) async {
        var ends: [(body: BriefBody, path: String)] = []
        var without: [TaskID] = []
        for (file, result) in linked {
            let id = file.body.task.id
            switch result {
            case .published: ends.append((file.body, file.file.directory.path(of: file.intent.finalName)))
            case .uncertain: outcome.unsettled.append(id)
            case .nameTaken:
                outcome.again.append(file.again)
                without.append(id)
            case .failed:
                outcome.others.append(id)
                without.append(id)
            }
        }
        let now = services.clock()
        do {
            try await services.store.write { [ends, without, failedURLs] tx in
                try tx.asStarter { try tx.recordBriefEnds(ends, failedURLs, at: now) }
                if !without.isEmpty { try tx.removeBriefIntents(of: without) }
            }
            outcome.completed = ends.map(\.body.task.id)
        } catch {
            services.logger.report("ends of downloads could not be recorded", error)
            // The intents of all are still there.
            outcome.unsettled = linked.map(\.file.body.task.id)
            outcome.again.removeAll { without.contains($0.task.id) }
            outcome.others.removeAll { without.contains($0) }
        }
    }
}
