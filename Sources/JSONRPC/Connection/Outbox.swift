import NIOCore

/// Waiting output of a connection: notifications, and the answers of finished requests.
///
/// Output that arrives during a write is sent by the next write.
struct Outbox {
    private let limit: Int
    private var waiting = ByteBuffer()
    private var waitingNotifications = 0
    /// The number of bytes of answers among the waiting output.
    private var waitingAnswerBytes = 0
    private var finished: [UInt64] = []
    /// The write under way.
    private var writing = (bytes: 0, notifications: 0, answerBytes: 0)
    private var isDrainScheduled = false
    private var isClosed = false

    /// - Parameter limit: the highest number of bytes that may wait when a notification is added;
    ///   answers are not refused.
    init(limit: Int) { self.limit = limit }

    /// The content of one write, and the requests that have finished since the last one.
    struct Burst {
        var bytes: ByteBuffer?
        var finished: [UInt64]
    }

    var backlog: RPCBacklog {
        RPCBacklog(
            bytes: waiting.readableBytes + writing.bytes, notifications: waitingNotifications + writing.notifications)
    }

    /// The number of bytes of answers that wait or are being written. Notifications are not included, because `limit`
    /// bounds them.
    var answerBytes: Int { waitingAnswerBytes + writing.answerBytes }

    var isWritable: Bool { !isClosed && backlog.bytes <= limit / 2 }

    /// False while answers of more than half of `limit` wait. Notifications do not count: a client that reads none of
    /// them while it writes a long request would otherwise wait for the server, and the server for the client.
    var takesRequests: Bool { !isClosed && answerBytes <= limit / 2 }

    var isEmpty: Bool { backlog.bytes == 0 && finished.isEmpty }

    /// Appends an answer's line; returns true when a drain has to be scheduled for it.
    mutating func append(answer line: [UInt8]?, ofRequest token: UInt64?) -> Bool {
        guard !isClosed else { return false }
        if let line {
            waiting.writeBytes(line)
            waitingAnswerBytes += line.count
        }
        if let token { finished.append(token) }
        return schedulesDrain()
    }

    /// Appends a notification, unless more than `limit` bytes would wait. If no output waits, it is always accepted.
    mutating func append(notification line: [UInt8]) -> (outcome: RPCNotification, schedulesDrain: Bool) {
        if isClosed { return (.unavailable, false) }
        let bytes = backlog.bytes
        guard bytes == 0 || bytes + line.count <= limit else { return (.full, false) }
        waiting.writeBytes(line)
        waitingNotifications += 1
        return (.accepted, schedulesDrain())
    }

    /// Removes and returns the gathered output. If it has bytes, a write begins, which `writeEnded` ends.
    mutating func drain() -> Burst {
        isDrainScheduled = false
        defer { finished.removeAll(keepingCapacity: true) }
        guard writing.bytes == 0, waiting.readableBytes > 0 else { return Burst(bytes: nil, finished: finished) }
        writing = (waiting.readableBytes, waitingNotifications, waitingAnswerBytes)
        defer {
            waiting = ByteBuffer()
            waitingNotifications = 0
            waitingAnswerBytes = 0
        }
        return Burst(bytes: waiting, finished: finished)
    }

    mutating func writeEnded() { writing = (0, 0, 0) }

    mutating func close() {
        isClosed = true
        waiting = ByteBuffer()
        waitingNotifications = 0
        waitingAnswerBytes = 0
        writing = (0, 0, 0)
        finished = []
    }

    /// Returns true if a drain has to be scheduled. During a write only a finished request needs one, because the end
    /// of the write drains the rest.
    private mutating func schedulesDrain() -> Bool {
        guard !isDrainScheduled, writing.bytes == 0 || !finished.isEmpty else { return false }
        isDrainScheduled = true
        return true
    }
}
