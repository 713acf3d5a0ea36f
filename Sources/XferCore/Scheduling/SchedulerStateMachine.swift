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
        /// Many tasks are put back into the queue, step by step: none starts before one that comes before it.
        case waking
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
    /// is not, if there is any. A task that was paused and resumed while its run is still stopping is queued and
    /// running at once: it is passed over until that run has ended.
    public func next(in queue: borrowing some QueueIndex & ~Copyable) throws -> TaskID? {
        guard holds.isEmpty, activeCount < limits.maxActive, publishing.count < limits.maxPublishing else { return nil }
        let blocked = activeByHost.count { $0.value >= limits.maxActivePerHost }
        for priority in Priority.allCases.sorted(by: >) {
            let hosts = try queue.nextHosts(priority: priority, limit: blocked + runningCount + 1)
            for host in hosts where !isBlocked(host) {
                if let task = try head(of: host, priority, in: queue) { return task }
            }
        }
        return nil
    }

    private func head(
        of host: String, _ priority: Priority, in queue: borrowing some QueueIndex & ~Copyable
    ) throws -> TaskID? {
        let first = try queue.heads(priority: priority, host: host, order: limits.order, limit: 1)
        guard first.contains(where: isRunning) else { return first.first }
        let heads = try queue.heads(priority: priority, host: host, order: limits.order, limit: runningCount + 1)
        return heads.first { !isRunning($0) }
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
    /// The host's tasks whose turn it is, the next one first.
    borrowing func heads(priority: Priority, host: String, order: QueueOrder, limit: Int) throws -> [TaskID]
}
