public import XferModel

/// On whose behalf something is done and what they may do.
public struct Principal: Hashable, Sendable {
    public var owner: Owner
    /// Operators see and touch everybody's tasks.
    public var isOperator: Bool
    /// Its group and its supplementary ones; they count where it names files to be read.
    public var groups: [UInt32]
    /// Directories below which this caller's destinations have to lie; absolute.
    public var roots: [String]
    /// Unfinished tasks this caller may have; nil is unlimited.
    public var maxTasks: Int?
    public var maxPriority: Priority

    public init(
        owner: Owner, isOperator: Bool, groups: [UInt32] = [], roots: [String], maxTasks: Int? = nil,
        maxPriority: Priority = .high
    ) {
        self.owner = owner
        self.isOperator = isOperator
        self.groups = groups
        self.roots = roots
        self.maxTasks = maxTasks
        self.maxPriority = maxPriority
    }

    /// The service itself.
    static let service = Principal(owner: Owner(uid: 0), isOperator: true, roots: [])

    /// Whose tasks are visible: nil is everybody's.
    public var visibleOwner: Owner? { isOperator ? nil : owner }
}
