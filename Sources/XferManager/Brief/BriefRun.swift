import NIOConcurrencyHelpers
import XferCore
import XferCurl
import XferFiles
import XferModel
import XferSystem

/// A download whose start is not committed: its row says `queued`, and its body is collected in memory.
///
/// This is the one exception to "a start is committed before it is launched". Its invariants:
///
/// * The task has an uncommitted start (`UncommittedStarts`) from the transaction that picks it until its start or its
///   end is committed, so that nothing else changes its row.
/// * A crash forgets the run. The row is as it was, and the request may be repeated (`BriefRules`).
/// * Its file has no name until the intent to publish it is committed (`BriefPublisher`). A restart compares the name
///   with the intent, and never publishes twice.
/// * A round of publishing that does not answer is left (`RunScheduler.leaveRounds`): it can commit nothing more, and
///   the task's next run waits for its end.
/// * In any other case the exception ends: the start is committed, and an ordinary run continues with this attempt
///   (`RunScheduler.commitStarts`). It reads the attempt's events from the first one on.
struct BriefRun: Sendable {
    enum Stage: Sendable {
        /// The attempt runs.
        case fetching
        /// The start is being committed.
        case starting
        /// The body is whole and waits for its publication, or is being published.
        case publishing
    }

    let task: TransferTask
    let descriptors: Int
    let trust: RunTrust
    let startedAt: Timestamp
    let begunAt: MonotonicInstant
    /// The attempt; nil until the engine has answered.
    var handle: AttemptHandle?
    var stage = Stage.fetching

    /// Takes the place of a transfer's id where slots are counted. It names no row: ids of rows are positive.
    var place: TransferID { Self.place(of: task.id) }

    static func place(of task: TaskID) -> TransferID { TransferID(-task.rawValue) }
}

/// A task that a pass has picked for a brief run.
struct BriefStart: Sendable {
    let task: TransferTask
    let descriptors: Int
}

/// A task's `coalesceKey`, hashed as one piece: an array hashes byte by byte.
struct SharingKey: Hashable {
    let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    func hash(into hasher: inout Hasher) { bytes.withUnsafeBytes { hasher.combine(bytes: $0) } }
}

/// The brief runs of the scheduler.
///
/// A run is copied only when it ends or is taken over: its task has many references. So facts that are needed often are
/// in sets.
struct BriefRuns {
    private(set) var runs: [TaskID: BriefRun] = [:]
    /// Runs that are `publishing`.
    private(set) var publishing: Set<TaskID> = []
    /// The runs that a task with an equal key would join: those that are not `publishing`, by key.
    private(set) var joinable: [SharingKey: TaskID] = [:]
    /// Runs whose attempts need an ordinary run.
    var unusual: Set<TaskID> = []
    /// The number of brief runs of each owner.
    private(set) var publishingCounts: [Owner: Int] = [:]
    /// Bodies that wait for the next round of publishing, by directory: a directory does not wait for another one,
    /// whose disk may not answer.
    private(set) var ready: [Place: [BriefBody]] = [:]
    /// The pauses in which rounds wait for more bodies, by directory. A cancelled one ends at once.
    var gathering: [Place: Task<Void, Never>] = [:]
    /// The rounds in progress, by directory.
    var rounds: [Place: Round] = [:]
    /// Tasks whose files may have their names while the database cannot be written. Their starts stay uncommitted.
    var unsettled: Set<TaskID> = []
    /// The directory of the last round, so that the next one need not open it. Nil without runs: an open directory
    /// keeps its file system from being unmounted.
    var directory: DirectoryHandle?
    let reports = BriefReports()

    mutating func insert(_ run: BriefRun) {
        runs[run.task.id] = run
        if let key = run.task.coalesceKey { joinable[SharingKey(key)] = run.task.id }
    }

    mutating func setHandle(_ handle: AttemptHandle, of id: TaskID) { runs[id]?.handle = handle }

    mutating func enter(_ stage: BriefRun.Stage, _ id: TaskID) {
        guard runs[id] != nil else { return }
        let owner = runs[id]?.task.owner
        runs[id]?.stage = stage
        if stage == .publishing {
            leaveJoinable(id)
            if publishing.insert(id).inserted, let owner { publishingCounts[owner, default: 0] += 1 }
        } else {
            leavePublishing(id)
        }
    }

    mutating func remove(_ id: TaskID) -> BriefRun? {
        leaveJoinable(id)
        leavePublishing(id)
        unusual.remove(id)
        defer { if runs.isEmpty { directory = nil } }
        return runs.removeValue(forKey: id)
    }

    private mutating func leavePublishing(_ id: TaskID) {
        guard publishing.remove(id) != nil, let owner = runs[id]?.task.owner, let count = publishingCounts[owner] else {
            return
        }
        publishingCounts[owner] = count > 1 ? count - 1 : nil
    }

    private mutating func leaveJoinable(_ id: TaskID) {
        guard !publishing.contains(id), let key = runs[id]?.task.coalesceKey.map(SharingKey.init), joinable[key] == id
        else { return }
        joinable[key] = nil
    }

    /// The destination of one round's files. The rights of its owner open the directory.
    struct Place: Hashable {
        let owner: Owner
        let directory: String
        let identity: FileIdentity?
        let confinement: Confinement?

        init(_ task: TaskSpecification) {
            owner = task.owner
            directory = task.destination.directory
            identity = task.destination.directoryIdentity
            confinement = task.destination.confinement
        }
    }

    /// A round of publishing.
    struct Round {
        let begunAt: MonotonicInstant
        var tasks: [TaskID] = []
    }

    mutating func append(_ body: BriefBody) { ready[Place(body.task.specification), default: []].append(body) }

    /// Bodies for the next round of a place.
    mutating func removeRound(of place: Place) -> [BriefBody] {
        guard let bodies = ready.removeValue(forKey: place) else { return [] }
        let round = Array(bodies.prefix(BriefPublisher.largestRound))
        if bodies.count > round.count { ready[place] = Array(bodies.dropFirst(round.count)) }
        return round
    }

    /// Bodies that have to wait for a round which began before `limit`.
    mutating func removeReady(behindRoundsBefore limit: MonotonicInstant) -> [BriefBody] {
        let places = rounds.filter { $0.value.begunAt < limit }.keys
        return places.flatMap { ready.removeValue(forKey: $0) ?? [] }
    }

    /// The tasks that are published by rounds which began before `limit`.
    func tasks(ofRoundsBefore limit: MonotonicInstant) -> [TaskID] {
        rounds.values.filter { $0.begunAt < limit }.flatMap(\.tasks).filter { publishing.contains($0) }
    }

    mutating func removeAllReady() -> [BriefBody] {
        defer { ready = [:] }
        return ready.values.flatMap(\.self)
    }
}

/// Reports of the engine's loops on brief runs. They are gathered until the scheduler takes them, so that many cost one
/// switch to it.
final class BriefReports: Sendable {
    /// A task and the outcome of its attempt; nil when the attempt needs its caller before its end.
    typealias Report = (task: TaskID, outcome: AttemptOutcome?)

    private let reports = NIOLockedValueBox<[Report]>([])

    /// Adds a report. Returns true if it is the first one since `removeAll`: then the caller has to arrange that call.
    func add(_ report: Report) -> Bool {
        reports.withLockedValue { reports in
            reports.append(report)
            return reports.count == 1
        }
    }

    func removeAll() -> [Report] {
        reports.withLockedValue { reports in
            defer { reports = [] }
            return reports
        }
    }
}
