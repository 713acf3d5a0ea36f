/// The state of a task. Durable; `TaskStateMachine` has the legal transitions.
public enum TaskState: String, Sendable, Codable, CaseIterable {
    /// The task may start when the scheduler picks it.
    case queued
    /// Cannot start now; the task's `wait` contains the reason and, if known, the end.
    case waiting
    /// Has a live attempt, or is being verified or published; `TaskPhase` is the step.
    case running
    /// The user has paused the task.
    case paused
    /// The file is complete and verified, but not published: the task waits for a commit or a cancel.
    case staged
    case completed
    case failed
    case cancelled

    /// A run has ended: exactly one terminal event was emitted for it.
    public var isTerminal: Bool {
        switch self {
        case .completed, .failed, .cancelled: true
        case .queued, .waiting, .running, .paused, .staged: false
        }
    }
}

/// The present step of a running task. Not durable.
public enum TaskPhase: String, Sendable, Codable, CaseIterable {
    case connecting, transferring, verifying, processing, publishing
}

/// The reason why a waiting task cannot start now. Clients always see it: "stuck" is not a state.
public enum WaitReason: String, Sendable, Codable, CaseIterable {
    /// The task waits for its next attempt after a temporary failure.
    case retry
    /// The attempt failed while the network was down, or the task must not use a metered network.
    case network
    /// `not_before` or a daily window.
    case schedule
    /// The remaining bytes and the reserve do not fit on the file system.
    case insufficientSpace = "insufficient_space"
    /// The destination directory is missing or is another one now (an unmounted disk).
    case destinationUnavailable = "destination_unavailable"
    /// A signed URL expired after bytes were received.
    case sourceExpired = "source_expired"
    /// Another task has to complete first.
    case dependency
    /// The lease under which the task runs has ended; see `TaskSchedule.lease`.
    case lease
    /// The host answered 429, or 503 with `Retry-After` to several URLs (RFC 6585 §4, RFC 9110 §10.2.3).
    case hostCooldown = "host_cooldown"
    /// The database cannot be written, or a trust policy in it cannot be read.
    case storage
    /// The process, or the system, has no file descriptor left.
    case outOfDescriptors = "out_of_descriptors"
    /// The daemon crashed twice while the task was in flight, without progress in between: a user has to resume it.
    case suspect

    // Shown of queued tasks, which nothing but their turn keeps from starting. These are never stored.

    /// The queue is paused.
    case queuePaused = "queue_paused"
    /// The task's group is paused.
    case groupPaused = "group_paused"
    /// The host's limit on active transfers is reached.
    case hostFull = "host_full"
    /// The group's limit on active transfers is reached.
    case groupFull = "group_full"
    /// The profile's limit on active transfers is reached.
    case profileFull = "profile_full"
    /// The limit on all active transfers, or on files that are being published, is reached.
    case queueFull = "queue_full"
    /// The task was paused and resumed, and its previous run is still stopping.
    case runEnding = "run_ending"
    /// In a fleet: no available node serves the task's place.
    case noNode = "no_node"
    /// In a fleet: the only node that can continue the task is down.
    case nodeDown = "node_down"
}

extension WaitReason {
    /// True if the task waits for one of its own conditions: the calendar, other tasks or its lease.
    public var isStartCondition: Bool { self == .schedule || self == .dependency || self == .lease }

    /// True if the wait is about answers of the task's source, so that another source ends it.
    public var isAboutSource: Bool { self == .retry || self == .sourceExpired || self == .hostCooldown }

    /// True if the wait is for something that this machine lacks. The failure has the same name then.
    public var isForResource: Bool { isAboutDirectory || self == .outOfDescriptors }

    /// True if the wait is about the task's directory or its disk, so that another directory ends it.
    public var isAboutDirectory: Bool { self == .insufficientSpace || self == .destinationUnavailable }
}

/// A waiting task's reason and, if known, when it ends.
public struct Wait: Hashable, Sendable, Codable {
    public var reason: WaitReason
    public var until: Timestamp?
    /// The URL whose answer causes the wait, with its secrets masked; nil if the task's own failure does. Shown, never
    /// stored with the task.
    public var url: String?
    /// The number of transfers that the host of `hostFull` may have at once now. Shown, never stored with the task.
    public var limit: Int?
    /// True if the task waited for the same resource before, without progress in between; else nil. Stored with the
    /// event only: webhooks do not send it again.
    public var isRepeated: Bool?

    public init(_ reason: WaitReason, until: Timestamp? = nil, url: String? = nil, limit: Int? = nil) {
        self.reason = reason
        self.until = until
        self.url = url
        self.limit = limit
    }
}

/// Strict order of starting; only tasks of one priority are guaranteed not to starve.
public enum Priority: Int, Sendable, Codable, CaseIterable, Comparable {
    case low = 0
    case normal = 1
    case high = 2

    public static func < (left: Priority, right: Priority) -> Bool { left.rawValue < right.rawValue }
}

/// The task's use of bytes.
public enum TaskKind: String, Sendable, Codable, CaseIterable {
    /// The body of the response is written to a file.
    case download
    /// Content is sent to the server; the response is kept as for `data`.
    case upload
    /// The service stores the body of the response, for `task.result`.
    case data
}

/// The order of a host's queued tasks.
public enum QueueOrder: String, Sendable, Codable, CaseIterable {
    /// First in, first out.
    case fifo
    /// Last in, first out.
    case lifo
}

/// The new place of a task that `move` puts among its host's queued tasks; "before" means that it starts earlier.
public enum MovePosition: Hashable, Sendable {
    /// Starts next; its host is served next, too.
    case top
    case bottom
    case before(TaskID)
    case after(TaskID)
}
