public import StrictJSON

/// One client's connection, as the service sees it. Usable from any thread, also after it closed.
public final class RPCConnection: Sendable {
    /// Never used twice within a server's life.
    public let id: UInt64
    public let peer: PeerCredentials

    init(id: UInt64, peer: PeerCredentials) {
        self.id = id
        self.peer = peer
    }

    /// Whether notifications can be sent: on lines yes, over HTTP not.
    public var canNotify: Bool { fatalError("not yet") }
    public var isOpen: Bool { fatalError("not yet") }

    /// What was accepted by `notify` or answered and is not taken by the client's socket yet.
    public var backlog: RPCBacklog { fatalError("not yet") }
    /// False while more than half of `RPCLimits.waitingBytes` wait, and once the connection closed.
    public var isWritable: Bool { fatalError("not yet") }

    /// Returns true once the connection is writable, false once it closed or when the calling `Task` is cancelled.
    public func whenWritable() async -> Bool { fatalError("not yet") }

    /// Sends a notification behind everything sent before it.
    @discardableResult
    public func notify(_ method: String, params: JSONValue) -> RPCNotification { fatalError("not yet") }

    /// Sends a notification whose parameters are JSON text already: compact, without line breaks.
    @discardableResult
    public func notify(_ method: String, encodedParams: [UInt8]) -> RPCNotification { fatalError("not yet") }

    /// Calls `action` once, when the connection has closed; at once if it has already. Actions run on the event loop.
    public func onClose(_ action: @escaping @Sendable () -> Void) { fatalError("not yet") }

    /// Closes the connection without waiting for what has not been sent.
    public func close() { fatalError("not yet") }
}

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
}
