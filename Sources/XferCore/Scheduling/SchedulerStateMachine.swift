public import XferModel

/// Decides what may start now: limits, priorities, rotation among hosts.
///
/// Holds the running transfers only; the queue itself stays where `QueueIndex` keeps it, so that a million queued
/// tasks cost no memory. Class of origin: SDWebImageDownloader's operation queue.
public struct SchedulerStateMachine: Sendable {
    public var limits: SchedulerLimits
    /// Reasons why nothing starts at all, each set and cleared by its owner.
    public var holds: Set<Hold> = []

    /// Hosts of the transfers whose bodies are on the way.
    private var hostByTask: [TaskID: String] = [:]
    private var activeByHost: [String: Int] = [:]
    /// Bodies that have ended and are being verified or published.
    private var publishing: Set<TaskID> = []

    /// Why starts are held back.
    public enum Hold: Hashable, Sendable {
        /// `queue.pause`.
        case pausedByOperator
        /// The database cannot be written.
        case degraded
        /// The daemon is going down.
        case shuttingDown
    }

    public init(limits: SchedulerLimits) { self.limits = limits }

    /// Transfers that hold a slot.
    public var activeCount: Int { hostByTask.count }
    /// Transfers that run, the publishing ones included.
    public var runningCount: Int { hostByTask.count + publishing.count }

    public func isRunning(_ task: TaskID) -> Bool { hostByTask[task] != nil || publishing.contains(task) }

    /// The next task to start, or nil when nothing may. The caller starts it and says so with `onStart`.
    ///
    /// At most as many hosts are blocked as transfers are active, so looking at one more host than that finds one that
    /// is not, if there is any. A task that was paused and resumed is queued again while its run still winds down:
    /// its host is passed over until that run has ended, or two runs would write one partial file.
    public func next(in queue: borrowing some QueueIndex & ~Copyable) throws -> TaskID? {
        guard holds.isEmpty, activeCount < limits.maxActive, publishing.count < limits.maxPublishing else { return nil }
        let blocked = activeByHost.count { $0.value >= limits.maxActivePerHost }
        for priority in Priority.allCases.sorted(by: >) {
            if let task = try next(in: queue, priority: priority, blocked: blocked) { return task }
        }
        return nil
    }

    private func next(
        in queue: borrowing some QueueIndex & ~Copyable, priority: Priority, blocked: Int
    ) throws -> TaskID? {
        var passedOver: Set<String> = []
        while true {
            let limit = blocked + passedOver.count + 1
            let hosts = try queue.nextHosts(priority: priority, limit: limit)
            guard let host = hosts.first(where: { !isBlocked($0) && !passedOver.contains($0) }) else { return nil }
            guard let task = try queue.head(priority: priority, host: host, order: limits.order) else {
                passedOver.insert(host)
                continue
            }
            guard isRunning(task) else { return task }
            passedOver.insert(host)
        }
    }

    public func isBlocked(_ host: String) -> Bool { activeByHost[host, default: 0] >= limits.maxActivePerHost }

    /// A task was started: it holds a slot from now on.
    public mutating func onStart(_ task: TaskID, host: String) {
        precondition(!isRunning(task), "task \(task) is running already")
        hostByTask[task] = host
        activeByHost[host, default: 0] += 1
    }

    /// A body has ended: its slot is free, the task is still running.
    public mutating func onBodyEnd(_ task: TaskID) {
        guard releaseSlot(of: task) else { return }
        publishing.insert(task)
    }

    /// A run has ended, whatever came of it.
    public mutating func onEnd(_ task: TaskID) {
        releaseSlot(of: task)
        publishing.remove(task)
    }

    @discardableResult
    private mutating func releaseSlot(of task: TaskID) -> Bool {
        guard let host = hostByTask.removeValue(forKey: task) else { return false }
        let left = activeByHost[host, default: 1] - 1
        activeByHost[host] = left > 0 ? left : nil
        return true
    }
}

/// The limits the scheduler keeps; all at least 1.
public struct SchedulerLimits: Hashable, Sendable {
    /// Transfers whose bodies are on the way at once.
    public var maxActive: Int
    public var maxActivePerHost: Int
    public var order: QueueOrder
    /// Finished bodies being verified and published at once.
    public var maxPublishing: Int

    public init(maxActive: Int = 6, maxActivePerHost: Int = 4, order: QueueOrder = .fifo, maxPublishing: Int = 1024) {
        self.maxActive = maxActive
        self.maxActivePerHost = maxActivePerHost
        self.order = order
        self.maxPublishing = maxPublishing
    }
}

/// Where queued tasks are kept, in order; every operation costs O(log n).
public protocol QueueIndex: ~Copyable {
    /// Hosts with queued tasks that are not cooling down, the one served longest ago first.
    borrowing func nextHosts(priority: Priority, limit: Int) throws -> [String]
    /// The host's task whose turn it is.
    borrowing func head(priority: Priority, host: String, order: QueueOrder) throws -> TaskID?
}
