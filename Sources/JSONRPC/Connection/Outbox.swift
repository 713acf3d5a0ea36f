import NIOCore

/// What waits for a client to take it: notifications, and the answers of requests that have finished.
///
/// Everything that gathers while a write is under way forms the next one.
struct Outbox {
    private let limit: Int
    private var waiting = ByteBuffer()
    private var waitingNotifications = 0
    /// Of what waits.
    private var waitingAnswerBytes = 0
    private var finished: [UInt64] = []
    /// The write under way.
    private var writing = (bytes: 0, notifications: 0, answerBytes: 0)
    private var isDrainScheduled = false
    private var isClosed = false

    /// Refuses notifications once `limit` bytes wait.
    init(limit: Int) { self.limit = limit }

    /// What a write is made of, and the requests that have come to their end since the last one.
    struct Burst {
        var bytes: ByteBuffer?
        var finished: [UInt64]
    }

    var backlog: RPCBacklog {
        RPCBacklog(
            bytes: waiting.readableBytes + writing.bytes, notifications: waitingNotifications + writing.notifications)
    }

    /// Bytes of answers, each of which a request has asked for; notifications have the bound of their streams.
    var answerBytes: Int { waitingAnswerBytes + writing.answerBytes }

    var isWritable: Bool { !isClosed && backlog.bytes <= limit / 2 }
    var isEmpty: Bool { backlog.bytes == 0 && finished.isEmpty }

    /// Takes a line; true when a drain has to be scheduled for it.
    mutating func append(answer line: [UInt8]?, ofRequest token: UInt64?) -> Bool {
        guard !isClosed else { return false }
        if let line {
            waiting.writeBytes(line)
            waitingAnswerBytes += line.count
        }
        if let token { finished.append(token) }
        return schedulesDrain()
    }

    /// Takes a notification, unless too much waits already; a first one is always taken.
    mutating func append(notification line: [UInt8]) -> (outcome: RPCNotification, schedulesDrain: Bool) {
        if isClosed { return (.unavailable, false) }
        let bytes = backlog.bytes
        guard bytes == 0 || bytes + line.count <= limit else { return (.full, false) }
        waiting.writeBytes(line)
        waitingNotifications += 1
        return (.accepted, schedulesDrain())
    }

    /// Hands out what has gathered. With bytes in it a write begins, to be ended by `writeEnded`.
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

    /// While a write is under way its end drains; only a finished request cannot wait for that.
    private mutating func schedulesDrain() -> Bool {
        guard !isDrainScheduled, writing.bytes == 0 || !finished.isEmpty else { return false }
        isDrainScheduled = true
        return true
    }
}
