public import XferModel

/// The caller of an operation, and its rights.
public struct Principal: Hashable, Sendable {
    public var owner: Owner
    /// Operators see and change the tasks of all owners.
    public var isOperator: Bool
    /// True if its tasks may name a lease: an operator's, and those that an operator adds for another user, as the
    /// agent of a fleet does. A task under a lease waits until that is renewed, which guests cannot do.
    public var mayNameLeases: Bool
    /// The primary and supplementary groups. They count when it names files to be read.
    public var groups: [UInt32]
    /// Directories beneath which this caller's destinations must be; absolute.
    public var roots: [String]
    /// The highest number of unfinished tasks of this caller; nil is unlimited.
    public var maxTasks: Int?
    public var maxPriority: Priority
    /// The confinement of tasks that it adds or changes, if it calls over the network without the scope `operate`; else
    /// nil. See `Confinement`.
    public var confinement: CallerConfinement?

    public init(
        owner: Owner, isOperator: Bool, groups: [UInt32] = [], roots: [String], maxTasks: Int? = nil,
        maxPriority: Priority = .high
    ) {
        self.owner = owner
        self.isOperator = isOperator
        mayNameLeases = isOperator
        self.groups = groups
        self.roots = roots
        self.maxTasks = maxTasks
        self.maxPriority = maxPriority
    }

    /// The service itself.
    static let service = Principal(owner: Owner(uid: 0), isOperator: true, roots: [])

    var isConfined: Bool { confinement != nil }

    /// The directory of tasks that name none: the one for downloads, or a guest's first root if that lies beneath none
    /// of its roots.
    func defaultDirectory(_ downloads: String) -> String {
        let isAllowed = roots.contains { root in
            root == "/" || downloads == root || downloads.utf8.starts(with: "\(root)/".utf8)
        }
        guard !isOperator, !isAllowed, let first = roots.first else { return downloads }
        return first
    }

    /// The owner whose tasks are visible; nil is all owners.
    public var visibleOwner: Owner? { isOperator ? nil : owner }
}

/// The directory beneath which the tasks of a caller write.
public enum CallerConfinement: Hashable, Sendable {
    /// The directory `ManagerSettings.downloadDirectory`.
    case downloads
    /// An absolute path.
    case directory(String)
}

extension Principal {
    /// The rights that a background operation keeps.
    var operationRights: OperationRights {
        var rights = OperationRights(
            mayNameLeases: mayNameLeases, groups: groups, roots: roots, maxPriority: maxPriority,
            isConfined: isConfined)
        if case .directory(let directory) = confinement { rights.confinement = directory }
        return rights
    }

    /// The caller of an operation, with the rights of the call.
    init(of operation: BulkOperation) {
        let rights = operation.rights
        self.init(
            owner: operation.owner, isOperator: operation.isOperator, groups: rights?.groups ?? [],
            roots: rights?.roots ?? [], maxPriority: rights?.maxPriority ?? .high)
        guard let rights else { return }
        mayNameLeases = rights.mayNameLeases
        if rights.isConfined { confinement = rights.confinement.map { .directory($0) } ?? .downloads }
    }
}
