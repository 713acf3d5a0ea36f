/// The result of sending a notification.
public enum RPCNotification: Hashable, Sendable {
    /// The notification will be sent, unless the connection closes first.
    case accepted
    /// Refused: more than `RPCLimits.waitingBytes` would wait. `whenWritable()` returns when there is room again.
    case full
    /// Refused: longer than `RPCLimits.messageBytes`.
    case tooLarge
    /// Refused: the connection has closed, or speaks HTTP.
    case unavailable
}

/// Output that waits for a client to read it.
public struct RPCBacklog: Hashable, Sendable {
    public var bytes: Int
    public var notifications: Int

    public init(bytes: Int, notifications: Int) {
        self.bytes = bytes
        self.notifications = notifications
    }
}
