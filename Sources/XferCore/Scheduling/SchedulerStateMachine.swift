public import XferModel

/// Decides what may start now: limits, priorities, rotation among hosts.
///
/// Holds the running transfers and their tasks only; the queue itself stays where `QueueIndex` keeps it, so that a million
/// queued tasks cost no memory. Limits count transfers: tasks that share one take one slot. Class of origin: SDWebImageDownloader's operation queue.
public struct SchedulerStateMachine: Sendable {
    public var limits: SchedulerLimits
    /// Reasons why nothing starts at all, each set and cleared by its owner.
    public var holds: Set<Hold> = []

    /// Hosts of the transfers whose bodies are on the way: these hold the slots.
    private var hostByTransfer: [TransferID: String] = [:]
    private var activeByHost: [String: Int] = [:]
    /// Running tasks.
    private var transferByTask: [TaskID: TransferID] = [:]
    /// Running tasks whose bodies are on the way.
    private var fetching: [TransferID: Set<TaskID>] = [:]
    /// Running tasks whose bodies have ended and are being verified or published.
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
    public var activeCount: Int { hostByTransfer.count }
    /// Tasks that run, the publishing ones included.
    public var runningCount: Int { transferByTask.count }

    public func isRunning(_ task: TaskID) -> Bool { transferByTask[task] != nil }

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

    /// A task was started on this transfer, which holds a slot from now on, if it did not already.
    public mutating func onStart(_ task: TaskID, of transfer: TransferID, host: String) {
        precondition(!isRunning(task), "task \(task) is running already")
        transferByTask[task] = transfer
        fetching[transfer, default: []].insert(task)
        guard hostByTransfer[transfer] == nil else { return }
        hostByTransfer[transfer] = host
        activeByHost[host, default: 0] += 1
    }

    /// A body has ended: its slot is free, its tasks are still running.
    public mutating func onBodyEnd(_ transfer: TransferID) {
        publishing.formUnion(fetching.removeValue(forKey: transfer) ?? [])
        releaseSlot(of: transfer)
    }

    /// A run has ended, whatever came of it.
    public mutating func onEnd(_ task: TaskID) {
        guard let transfer = transferByTask.removeValue(forKey: task) else { return }
        publishing.remove(task)
        fetching[transfer]?.remove(task)
        guard fetching[transfer]?.isEmpty ?? true else { return }
        fetching[transfer] = nil
        releaseSlot(of: transfer)
    }

    private mutating func releaseSlot(of transfer: TransferID) {
        guard let host = hostByTransfer.removeValue(forKey: transfer) else { return }
        let left = activeByHost[host, default: 1] - 1
        activeByHost[host] = left > 0 ? left : nil
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
