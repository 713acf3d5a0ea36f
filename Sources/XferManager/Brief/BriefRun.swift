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
/// * The task is held (`HeldTasks`) from the transaction that picks it until its start or its end is committed, so that
///   nothing else changes its row.
/// * A crash forgets the run. The row is as it was, and the request may be repeated (`BriefRules`).
/// * Its file has no name until the intent to publish it is committed (`BriefPublisher`). A restart compares the name
///   with the intent, and never publishes twice.
/// * Whatever is not plain ends the exception: the start is committed, and an ordinary run continues with this attempt
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
/// A run is copied only when it ends or is taken over: its task has many references. So what is asked often is in sets.
struct BriefRuns {
    private(set) var runs: [TaskID: BriefRun] = [:]
    /// Runs that are `publishing`.
    private(set) var publishing: Set<TaskID> = []
    /// The runs that a task with an equal key would join: those that are not `publishing`, by key.
    private(set) var joinable: [SharingKey: TaskID] = [:]
    /// Runs whose attempts need an ordinary run.
    var unusual: Set<TaskID> = []
    /// Bodies that wait for the next round of publishing.
    var ready: [BriefBody] = []
    var isPublishing = false
    /// Tasks whose files may have their names while the database cannot be written. They stay held.
    var unsettled: Set<TaskID> = []
    /// The directory of the last round, so that the next one need not open it. Nil without runs: an open directory keeps
    /// its file system from being unmounted.
    var directory: DirectoryHandle?
    let reports = BriefReports()

    mutating func insert(_ run: BriefRun) {
        runs[run.task.id] = run
        if let key = run.task.coalesceKey { joinable[SharingKey(key)] = run.task.id }
    }

    mutating func setHandle(_ handle: AttemptHandle, of id: TaskID) { runs[id]?.handle = handle }

    mutating func enter(_ stage: BriefRun.Stage, _ id: TaskID) {
        guard runs[id] != nil else { return }
        runs[id]?.stage = stage
        if stage == .publishing {
            leaveJoinable(id)
            publishing.insert(id)
        } else {
            publishing.remove(id)
        }
    }

    mutating func remove(_ id: TaskID) -> BriefRun? {
        leaveJoinable(id)
        publishing.remove(id)
        unusual.remove(id)
        defer { if runs.isEmpty { directory = nil } }
        return runs.removeValue(forKey: id)
    }

    private mutating func leaveJoinable(_ id: TaskID) {
        guard !publishing.contains(id), let key = runs[id]?.task.coalesceKey.map(SharingKey.init), joinable[key] == id
        else { return }
        joinable[key] = nil
    }

    /// Bodies for the next round: all for one directory, and of one owner, whose rights open it.
    mutating func removeRound() -> [BriefBody] {
        guard let first = ready.first?.task.specification else { return [] }
        var round: [BriefBody] = []
        var others: [BriefBody] = []
        for body in ready {
            let (owner, destination) = (body.task.owner, body.task.specification.destination)
            let isAlike =
                round.count < BriefPublisher.largestRound && owner == first.owner
                && destination.directory == first.destination.directory
                && destination.directoryIdentity == first.destination.directoryIdentity
            if isAlike { round.append(body) } else { others.append(body) }
        }
        ready = others
        return round
    }
}

/// What the engine's loops report of brief runs. It gathers reports until the scheduler takes them, so that many cost
/// one switch to it.
final class BriefReports: Sendable {
    /// Nil when the attempt needs its caller before its end.
    typealias Report = (task: TaskID, outcome: AttemptOutcome?)

    private let reports = NIOLockedValueBox<[Report]>([])

    /// Adds a report. Returns whether it is the first one since `removeAll`: then the caller has to see to that call.
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
