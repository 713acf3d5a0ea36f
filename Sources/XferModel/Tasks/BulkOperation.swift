/// Identifies a background operation. Never reused within a database.
public struct OperationID: RawRepresentable, Hashable, Comparable, Sendable, Codable, CustomStringConvertible {
    public let rawValue: Int64

    public init(rawValue: Int64) { self.rawValue = rawValue }
    public init(_ rawValue: Int64) { self.rawValue = rawValue }

    public static func < (left: OperationID, right: OperationID) -> Bool { left.rawValue < right.rawValue }
    public var description: String { String(rawValue) }
}

/// The verbs that operations can carry out.
public enum OperationVerb: String, Sendable, Codable, CaseIterable {
    case pause, resume, cancel, retry, remove, commit, update
}

/// The states of an operation.
public enum OperationState: String, Sendable, Codable, CaseIterable {
    /// The operation runs, or waits for an earlier operation of its owner.
    case running
    /// The operation has reached the last task.
    case completed
    /// The operation stopped at an error.
    case failed
    /// A caller has stopped it. It ends after the present step.
    case cancelled
}

/// A verb over all tasks that a filter selects, which the service carries out step by step. It survives restarts.
public struct BulkOperation: Hashable, Sendable {
    public var id: OperationID
    public var owner: Owner
    /// True if it may change other users' tasks.
    public var isOperator: Bool
    public var verb: OperationVerb
    /// True if `remove` deletes the published files, too.
    public var deletesFiles: Bool
    /// The caller's filter as JSON.
    public var filter: String
    /// The fields that `update` changes, as JSON.
    public var changes: String?
    /// The caller's rights, for `update`. Other verbs need no more than `isOperator`.
    public var rights: OperationRights?
    /// The newest task at the call. Later ones are not changed.
    public var last: TaskID
    /// The tasks up to this one are done.
    public var reached: TaskID
    public var counts: OperationCounts
    /// Tasks and files for which the verb failed; not more than `OperationReport.largest` of each.
    public var report: OperationReport
    public var state: OperationState
    /// The reason why it failed, in English; nil if it did not.
    public var error: String?
    public var createdAt: Timestamp
    /// The time at which its progress was last reported as an event; nil before the first report.
    public var reportedAt: Timestamp?
    public var endedAt: Timestamp?

    public init(
        id: OperationID = OperationID(0), owner: Owner, isOperator: Bool, verb: OperationVerb,
        deletesFiles: Bool = false, filter: String, changes: String? = nil, rights: OperationRights? = nil,
        last: TaskID, reached: TaskID = TaskID(0),
        counts: OperationCounts = OperationCounts(), report: OperationReport = OperationReport(),
        state: OperationState = .running, error: String? = nil, createdAt: Timestamp,
        reportedAt: Timestamp? = nil, endedAt: Timestamp? = nil
    ) {
        self.id = id
        self.owner = owner
        self.isOperator = isOperator
        self.verb = verb
        self.deletesFiles = deletesFiles
        self.filter = filter
        self.changes = changes
        self.rights = rights
        self.last = last
        self.reached = reached
        self.counts = counts
        self.report = report
        self.state = state
        self.error = error
        self.createdAt = createdAt
        self.reportedAt = reportedAt
        self.endedAt = endedAt
    }
}

/// The rights of an operation's caller, as they were at the call.
public struct OperationRights: Hashable, Sendable, Codable {
    public var mayNameLeases: Bool
    public var groups: [UInt32]
    public var roots: [String]
    public var maxPriority: Priority
    /// True if the tasks that it changes are confined to `confinement`; nil is the directory for downloads.
    public var isConfined: Bool
    public var confinement: String?

    public init(
        mayNameLeases: Bool, groups: [UInt32], roots: [String], maxPriority: Priority, isConfined: Bool,
        confinement: String? = nil
    ) {
        self.mayNameLeases = mayNameLeases
        self.groups = groups
        self.roots = roots
        self.maxPriority = maxPriority
        self.isConfined = isConfined
        self.confinement = confinement
    }
}

/// The numbers of tasks and files that an operation has handled.
public struct OperationCounts: Hashable, Sendable {
    public var changed: Int64 = 0
    public var unchanged: Int64 = 0
    /// The number of tasks for which the verb failed.
    public var refused: Int64 = 0
    public var filesDeleted: Int64 = 0
    public var filesKept: Int64 = 0

    public init() {}

    /// Adds the numbers of a step.
    public mutating func add(_ step: OperationCounts) {
        changed = changed.addingSaturated(step.changed)
        unchanged = unchanged.addingSaturated(step.unchanged)
        refused = refused.addingSaturated(step.refused)
        filesDeleted = filesDeleted.addingSaturated(step.filesDeleted)
        filesKept = filesKept.addingSaturated(step.filesKept)
    }
}

/// The first tasks and files for which an operation failed, with the reasons.
public struct OperationReport: Hashable, Sendable, Codable {
    /// A task for which the verb failed.
    public struct Refusal: Hashable, Sendable, Codable {
        public var id: Int64
        public var reason: String
        public var message: String

        public init(id: TaskID, reason: String, message: String) {
            (self.id, self.reason, self.message) = (id.rawValue, reason, message)
        }
    }

    /// A file that was not deleted.
    public struct KeptFile: Hashable, Sendable, Codable {
        public var id: Int64
        public var path: String
        public var reason: String

        public init(id: TaskID, path: String, reason: String) {
            (self.id, self.path, self.reason) = (id.rawValue, path, reason)
        }
    }

    public var refusals: [Refusal] = []
    public var kept: [KeptFile] = []

    /// The highest number of entries of each list.
    public static let largest = 100

    public init() {}

    public var isEmpty: Bool { refusals.isEmpty && kept.isEmpty }

    /// Appends the entries of a step as far as there is room.
    public mutating func add(_ step: OperationReport) {
        refusals += step.refusals.prefix(max(0, Self.largest - refusals.count))
        kept += step.kept.prefix(max(0, Self.largest - kept.count))
    }
}
