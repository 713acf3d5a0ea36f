import NIOConcurrencyHelpers

/// The bytes in memory of all connections of one user, on all endpoints. Notifications and streams do not count, so a subscriber that
/// does not read may still send requests.
final class UserBytes: Sendable {
    /// Answers that wait to be read.
    let output: WaitingBytes
    /// Messages that are incomplete, or have not been carried out.
    let input: WaitingBytes
    /// Messages among these whose calls wait for events, with what they take when they are parsed.
    let waiting: WaitingBytes

    init(_ limits: RPCLimits) {
        output = WaitingBytes(
            limit: limits.waitingBytesPerUser, reason: "too_much_unread",
            what: "of answers are unread on this user's connections: read them, or close some")
        input = WaitingBytes(
            limit: max(limits.waitingBytesPerUser / 2, limits.messageBytes), reason: "too_much_input",
            what: "of this user's messages are incomplete or not carried out yet: send fewer long ones at a time")
        waiting = WaitingBytes(
            limit: limits.messageBytes / 2, reason: "too_much_input",
            what: "of this user's messages have calls that wait for events: make fewer such calls, or shorter ones")
    }
}

/// The bytes in memory of each user who has connections, on whatever endpoint.
final class UserByteTable: Sendable {
    /// A user's privileged clients count by themselves: their messages have no limit, and must not take the room of the
    /// user's other clients.
    private struct User: Hashable {
        let id: UInt32
        let isPrivileged: Bool
    }

    private struct Entry {
        weak var bytes: UserBytes?
    }

    private let limits: RPCLimits
    private let entries = NIOLockedValueBox<[User: Entry]>([:])

    init(_ limits: RPCLimits) { self.limits = limits }

    /// The count of a user's connections. It exists as long as one of them.
    func bytes(of user: UInt32, isPrivileged: Bool) -> UserBytes {
        let user = User(id: user, isPrivileged: isPrivileged)
        return entries.withLockedValue { entries in
            if let known = entries[user]?.bytes { return known }
            entries = entries.filter { $0.value.bytes != nil }
            let new = UserBytes(limits)
            entries[user] = Entry(bytes: new)
            return new
        }
    }
}

/// A number of bytes with a limit.
final class WaitingBytes: Sendable {
    private let limit: Int
    private let reason: String
    private let what: String
    private let waiting = NIOLockedValueBox(0)

    fileprivate init(limit: Int, reason: String, what: String) {
        self.limit = limit
        self.reason = reason
        self.what = what
    }

    /// True if more than `limit` bytes wait.
    var isBeyondLimit: Bool { waiting.withLockedValue { $0 > limit } }

    /// Adds to the waiting bytes, or subtracts with a negative number.
    func add(_ bytes: Int) {
        if bytes != 0 { waiting.withLockedValue { $0 += bytes } }
    }

    /// True if so many bytes more are not beyond the limit.
    func hasRoom(for bytes: Int) -> Bool { waiting.withLockedValue { $0 + bytes <= limit } }

    /// Adds bytes if they are not beyond the limit, or none wait. Returns false if not.
    func claim(_ bytes: Int) -> Bool {
        waiting.withLockedValue { waiting in
            guard waiting == 0 || waiting + bytes <= limit else { return false }
            waiting += bytes
            return true
        }
    }

    var refusal: RPCError { .beyondLimit("more than \(limit) bytes \(what)", reason: reason, limit: limit) }
}

/// The part of a user's input that belongs to one message, which grows while it is received.
struct MessageBytes {
    private let input: WaitingBytes
    private(set) var count = 0

    init(of connection: RPCConnection) { input = connection.bytes.input }

    /// Counts the message with this many bytes from now on.
    mutating func set(_ count: Int) {
        input.add(count - self.count)
        self.count = count
    }

    /// The reason why the message is not received further; nil if it is. Short messages are, whatever else waits.
    var refusal: RPCError? { count > Dispatcher.shortMessage && input.isBeyondLimit ? input.refusal : nil }
}
