/// What became of a notification.
public enum RPCNotification: Hashable, Sendable {
    /// It will be sent, unless the connection closes first.
    case accepted
    /// Refused: `RPCLimits.waitingBytes` wait already. `whenWritable()` tells when to go on.
    case full
    /// Refused: longer than `RPCLimits.messageBytes`.
    case tooLarge
    /// Refused: the connection has closed, or speaks HTTP.
    case unavailable
}

/// What waits for a client to read it.
public struct RPCBacklog: Hashable, Sendable {
    public var bytes: Int
    public var notifications: Int

    public init(bytes: Int, notifications: Int) {
        self.bytes = bytes
        self.notifications = notifications
    }
}
