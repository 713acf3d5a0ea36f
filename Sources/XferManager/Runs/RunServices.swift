import Logging
import NIOConcurrencyHelpers
import XferCore
import XferCurl
import XferFiles
import XferModel
import XferStore
import XferSystem

/// The services that all runs share. It is a class, because steps that wait keep their parameters in memory.
final class RunServices: Sendable {
    let store: TaskStore
    let engine: TransferEngine
    let pool: BlockingPool
    let paths: PathPools
    /// The threads for work of minutes on the service's own files, so that checkpoints never wait for it.
    let digests: BlockingPool
    let publishing: PublishingStage
    let directories: OpenDirectories
    /// Finds and makes the directories of new tasks.
    let admitted: DirectoryAdmission
    let rights: OwnerRights
    let incomplete = IncompleteDirectories()
    let spool: SpoolDirectory
    let spoolClaims = SpoolClaims()
    let reader: ResponseReader
    let space: NIOLockedValueBox<SpaceLedger>
    let policies: NIOLockedValueBox<PolicyRegistry>
    /// The rules for which URLs may be loaded.
    let admission: NIOLockedValueBox<AdmissionRules>
    /// Resolves an attempt's credentials and proxy.
    let access: AccessResolver
    let cookies: CookieJars
    let cache: ResponseCache
    let hooks: HookRunner
    let renewal: CredentialRenewal
    let leases = TaskLeases()
    /// The tasks that a round publishes on a disk that does not answer. Their runs wait for the round's end.
    let unansweredPublishes = NIOLockedValueBox<Set<TaskID>>([])
    /// The proof that answers over the present network are the servers'.
    let networkProof = NIOLockedValueBox(NetworkProof())
    let clock: WallClock
    /// Decides whether something is old enough to be deleted.
    let ages: RetentionAges
    let logger: Logger

    init(
        store: TaskStore, engine: TransferEngine, paths: PathPools, publishing: PublishingStage,
        directories: OpenDirectories, admitted: DirectoryAdmission, rights: OwnerRights,
        spool: SpoolDirectory, reader: @escaping ResponseReader, space: NIOLockedValueBox<SpaceLedger>,
        policies: NIOLockedValueBox<PolicyRegistry>, admission: NIOLockedValueBox<AdmissionRules>,
        access: AccessResolver, cookies: CookieJars, cache: ResponseCache, hooks: HookRunner,
        clock: @escaping WallClock, ages: RetentionAges, logger: Logger
    ) {
        self.store = store
        self.engine = engine
        pool = paths.service
        self.paths = paths
        digests = paths.digests
        self.publishing = publishing
        self.directories = directories
        self.admitted = admitted
        self.rights = rights
        self.spool = spool
        self.reader = reader
        self.space = space
        self.policies = policies
        self.admission = admission
        self.access = access
        self.cookies = cookies
        self.cache = cache
        self.hooks = hooks
        renewal = CredentialRenewal(access: access, hooks: hooks, logger: logger)
        self.clock = clock
        self.ages = ages
        self.logger = logger
    }

    /// The threads that open this owner's paths.
    func pool(of owner: Owner, forPath path: String) -> BlockingPool {
        rights.isOperator(owner) ? paths.pool(forPath: path) : paths.pool(ofGuest: owner.rawValue)
    }

    /// The threads for work in an open directory that also opens the owner's path.
    func pool(of owner: Owner, in directory: DirectoryHandle) -> BlockingPool {
        rights.isOperator(owner) ? paths.pool(in: directory) : paths.pool(ofGuest: owner.rawValue)
    }

    /// The threads for files of an open directory.
    func pool(in directory: DirectoryHandle) -> BlockingPool { paths.pool(in: directory) }
}

extension RunServices {
    /// Claims bytes of the file system for a transfer, or throws `insufficientSpace` if they are known not to fit.
    func claim(
        _ remaining: Int64, by id: TransferID, in directory: DirectoryHandle, for purpose: String,
        holding present: @escaping @Sendable () throws(FileError) -> Int64 = { () throws(FileError) -> Int64 in 0 }
    ) async throws {
        let isSure = space.withLockedValue { ledger in
            let isSure = ledger.surelyFits(
                remaining: remaining, for: id, on: directory.fileSystemID, at: Clocks.monotonic())
            if isSure { ledger.set(remaining: remaining, for: id, on: directory.fileSystemID) }
            return isSure
        }
        if isSure { return }
        // In this order: bytes that are written between the two are counted as room twice, and never as missing.
        let (measured, own) = try await paths.run(in: directory) { _ in (try directory.freeSpace(), try present()) }
        let free = measured.addingSaturated(own)
        let shortfall = space.withLockedValue { ledger in
            ledger.record(free: measured, on: directory.fileSystemID, at: Clocks.monotonic())
            let shortfall = ledger.shortfall(remaining: remaining, for: id, on: directory.fileSystemID, free: free)
            if shortfall == 0 { ledger.set(remaining: remaining, for: id, on: directory.fileSystemID) }
            return shortfall
        }
        guard shortfall == 0 else {
            let reserve = space.withLockedValue(\.reserve)
            let size = try? await paths.run(in: directory) { _ in try directory.size() }
            var error = TransferError(
                .insufficientSpace,
                "\(directory.path) lacks \(ByteText.size(shortfall)) for \(purpose): \(ByteText.size(remaining)) are "
                    + "needed, \(ByteText.size(free)) are free, and \(ByteText.size(reserve)) stay free "
                    + "(download.reserve)"
                    + Self.hint(remaining, reserve: reserve, size: size))
            error.space = MissingSpace(in: directory.path, needed: remaining)
            throw error
        }
    }

    /// The hint for bytes that never fit, whatever is deleted.
    static func hint(_ remaining: Int64, reserve: Int64, size: Int64?) -> String {
        guard let size, remaining.addingSaturated(reserve) > size else { return "" }
        let whole = "; the whole file system has \(ByteText.size(size))"
        return remaining > size ? whole : "\(whole): lower download.reserve"
    }

    /// The failure with the file system that is full, if it is about space and does not say which one.
    ///
    /// - Parameter needed: the bytes that are still to be written there; 0 if that is not known.
    func located(_ error: any Error, in directory: DirectoryHandle, needed: Int64) -> any Error {
        let known = (error as? TransferError) ?? (error as? FileError)?.transferError
        guard var failure = known, failure.reason == .insufficientSpace, failure.space == nil else { return error }
        failure.space = MissingSpace(in: directory.path, needed: max(needed, Self.leastRoom))
        failure.space?.usesReserve = needed <= 0
        return failure
    }

    /// The room from which on a download whose length is not known is worth another request.
    private static let leastRoom: Int64 = 1 << 20

    /// The tasks, by their places in the list, for which there is room: each leaves less for those after it. A
    /// directory that cannot be measured counts as having room, so that the run reports what is wrong with it.
    func withRoom(_ waiting: [(owner: Owner, space: MissingSpace)]) async -> [Int] {
        var rooms: [String: SpaceLedger.Room] = [:]
        var measured: Set<String> = []
        for (owner, space) in waiting {
            guard let path = space.directory, measured.insert(path).inserted else { continue }
            rooms[path] = await room(at: path, for: owner)
        }
        let requests = waiting.map { entry -> SpaceLedger.Request? in
            guard let path = entry.space.directory, let room = rooms[path] else { return nil }
            return SpaceLedger.Request(needed: entry.space.needed, usesReserve: entry.space.usesReserve, room: room)
        }
        return space.withLockedValue { $0.admitted(requests) }
    }

    private func room(at path: String, for owner: Owner) async -> SpaceLedger.Room? {
        let measure: @Sendable () -> SpaceLedger.Room? = { SpaceLedger.Room(at: path) }
        guard rights.isOperator(owner) else { return await pool(of: owner, forPath: path).run { measure() } }
        return try? await paths.open(path) { measure() }
    }
}

/// Removes files from the spool directory when no row refers to them any more.
extension RunServices {
    /// Deletes files that no row refers to any more. A file that cannot be deleted is left to a later sweep.
    func removeSpoolFiles(_ names: [String]) {
        guard !names.isEmpty else { return }
        let (spool, pool) = (spool, pool)
        Task {
            do {
                try await pool.run { () throws(FileError) in for name in names { try spool.remove(name) } }
            } catch {
                logger.report("spooled bytes could not be deleted", error)
            }
        }
    }

    /// Deletes the files without a row that a crash left in the spool directory.
    func sweepSpool() {
        Task { [spool, store, pool, logger] in
            do {
                for name in try await pool.run({ () throws(FileError) in try spool.settledNames() }) {
                    guard try await !store.read({ try $0.spool.isWanted(spoolFile: name) }) else { continue }
                    try await pool.run { () throws(FileError) in try spool.remove(name) }
                }
            } catch {
                logger.report("the spool directory could not be swept", error)
            }
        }
    }
}

extension RunServices {
    /// Throws unless the policies in force trust the servers that sent the bytes.
    func requireTrusted(_ task: TransferTask, _ transfer: Transfer, authoritiesFile: String?) async throws {
        let trust = RunTrust(
            policies: policies, admission: admission, taskPolicy: task.specification.policy,
            authoritiesFile: authoritiesFile, kept: transfer.sources, clock: clock)
        let urls = [task.specification.request.url] + (transfer.resumeData.finalURL.map { [$0] } ?? [])
        let refusal = try await pool.run { () throws(TransferError) in try trust.refusalOfKept(from: urls) }
        if let refusal { throw TransferError(.rejectedByPolicy, "\(refusal)") }
    }
}
