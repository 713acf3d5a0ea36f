import NIOConcurrencyHelpers
import NIOCore
public import StrictJSON

/// A client's connection, as the service uses it. It may be used from any thread, even after the connection has closed.
public final class RPCConnection: Sendable {
    /// The connection's id; unique among all connections of the server, including closed ones.
    public let id: UInt64
    public let peer: PeerCredentials
    /// The client on the network, or nil for a process that connected to a Unix socket.
    public let remote: RPCRemote?

    /// Receives the notifications of a connection that `acting` made; nil on others.
    private let sink: (@Sendable ([UInt8]) -> RPCNotification)?
    /// The connection on which this one acts: its client reads the answers.
    private let parent: RPCConnection?
    /// Called with each client for which a route acts on this connection.
    private let onActing: (@Sendable (HTTPClient) -> Void)?
    private let limits: RPCLimits
    private let channel: any Channel
    /// Counts bytes; shared by all connections of the user.
    let bytes: UserBytes
    fileprivate let state: NIOLockedValueBox<State>

    fileprivate struct State {
        var outbox: Outbox
        var isOpen = true
        /// Makes the event loop write the outbox. It is nil unless the connection uses the line protocol.
        var scheduleDrain: (@Sendable () -> Void)?
        var closeActions: [@Sendable () -> Void] = []
        /// The number of messages that have begun and have not been carried out yet.
        var messages = 0
        var endActions: [@Sendable () -> Void] = []
        var waiters: [UInt64: CheckedContinuation<Bool, Never>] = [:]
        var nextWaiter: UInt64 = 0
    }

    init(
        id: UInt64, peer: PeerCredentials, remote: RPCRemote? = nil, channel: any Channel, limits: RPCLimits,
        bytes: UserBytes, sink: (@Sendable ([UInt8]) -> RPCNotification)? = nil, parent: RPCConnection? = nil,
        onActing: (@Sendable (HTTPClient) -> Void)? = nil
    ) {
        self.onActing = onActing
        self.id = id
        self.sink = sink
        self.parent = parent
        self.peer = peer
        self.remote = remote
        self.channel = channel
        self.limits = limits
        self.bytes = bytes
        state = NIOLockedValueBox(State(outbox: Outbox(limit: limits.waitingBytes)))
    }

    /// True if notifications can be sent: the connection is open and uses the line protocol, not HTTP.
    public var canNotify: Bool { state.withLockedValue { $0.isOpen && ($0.scheduleDrain != nil || sink != nil) } }

    public var isOpen: Bool { state.withLockedValue { $0.isOpen } }

    /// Notifications and answers that the client's socket has not taken yet.
    public var backlog: RPCBacklog { state.withLockedValue { $0.outbox.backlog } }

    /// False while more than half of `RPCLimits.waitingBytes` wait, and after the connection has closed.
    public var isWritable: Bool {
        state.withLockedValue { $0.outbox.isWritable } && parent?.isWritable ?? true
    }

    /// Sends a notification after all earlier notifications and answers.
    @discardableResult
    public func notify(_ method: String, params: JSONValue) -> RPCNotification {
        var text: [UInt8] = []
        params.write(to: &text)
        return notify(method, encodedParams: text)
    }

    /// Sends a notification. `encodedParams` is compact JSON text without line breaks.
    @discardableResult
    public func notify(_ method: String, encodedParams: [UInt8]) -> RPCNotification {
        var line = RPCAnswer.notification(method, params: encodedParams)
        guard line.count <= limits.messageBytes else { return .tooLarge }
        line.append(UInt8(ascii: "\n"))
        if let sink { return isOpen ? sink(line) : .unavailable }
        let (outcome, drain) = state.withLockedValue { state -> (RPCNotification, (@Sendable () -> Void)?) in
            guard let scheduleDrain = state.scheduleDrain else { return (.unavailable, nil) }
            let (outcome, schedulesDrain) = state.outbox.append(notification: line)
            return (outcome, schedulesDrain ? scheduleDrain : nil)
        }
        drain?()
        return outcome
    }

    /// Calls `action` once: on the event loop when the connection closes, or at once on the calling thread if the
    /// connection has closed already.
    public func onClose(_ action: @escaping @Sendable () -> Void) {
        let isOpen = state.withLockedValue { state in
            if state.isOpen { state.closeActions.append(action) }
            return state.isOpen
        }
        if !isOpen { action() }
    }

    /// Calls `action` once: when the connection has closed and the messages that it had begun have been carried out,
    /// since some are even without a client. It is called at once if that has happened already.
    public func onEnd(_ action: @escaping @Sendable () -> Void) {
        let hasEnded = state.withLockedValue { state in
            if !state.hasEnded { state.endActions.append(action) }
            return state.hasEnded
        }
        if hasEnded { action() }
    }

    /// Closes the connection without sending the output that waits.
    public func close() { channel.close(promise: nil) }
}

// MARK: - Clients that a route admits itself

extension RPCConnection {
    /// Ids above those of `RPCServer` and `GatedRequests`.
    private static let lastActingID = NIOLockedValueBox<UInt64>(1 << 56)

    /// A connection for a client that a route has recognised, for example by a token in the request's body. It closes
    /// with this one, and the bytes of answers count for the user of this one.
    ///
    /// - Parameter sink: takes the lines of notifications, each with its line feed, from any thread; it must bound what
    ///   waits. Without it the connection takes no notifications.
    public func acting(
        for client: HTTPClient, sink: (@Sendable ([UInt8]) -> RPCNotification)? = nil
    ) -> RPCConnection {
        let id = Self.lastActingID.withLockedValue { last in
            last += 1
            return last
        }
        let other = RPCConnection(
            id: id, peer: client.user, remote: client.remote, channel: channel, limits: limits, bytes: bytes,
            sink: sink, parent: self)
        onClose { other.didClose() }
        other.beginMessage()
        onEnd { other.endMessage() }
        onActing?(client)
        return other
    }
}

// MARK: - Waiting for a slow reader

extension RPCConnection {
    /// Waits until the connection is writable and returns true. Returns false when the connection has closed or the
    /// calling `Task` is cancelled.
    public func whenWritable() async -> Bool {
        // A connection that acts on another one has no output of its own.
        if let parent { return await parent.whenWritable() && isOpen }
        let waiter = state.withLockedValue { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer = state.withLockedValue { state -> Bool? in
                    if !state.isOpen || Task.isCancelled { return false }
                    if state.outbox.isWritable { return true }
                    state.waiters[waiter] = continuation
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            state.withLockedValue { $0.waiters.removeValue(forKey: waiter) }?.resume(returning: false)
        }
    }
}

// MARK: - Calls by the channel handlers

extension RPCConnection {
    /// Switches the connection to the line protocol. `scheduleDrain` makes the event loop call `drain`.
    func useLineProtocol(scheduleDrain: @escaping @Sendable () -> Void) {
        state.withLockedValue { if $0.isOpen { $0.scheduleDrain = scheduleDrain } }
    }

    /// Counts a message of so many bytes that begins; call `endMessage` when it has been carried out.
    func beginMessage(bytes count: Int = 0) {
        bytes.input.add(count)
        state.withLockedValue { $0.messages += 1 }
    }

    /// Records that a message has been carried out. Call it before its answer is sent, so that a client that has all
    /// its answers has no message left.
    func endMessage(bytes count: Int = 0) {
        bytes.input.add(-count)
        let actions = state.withLockedValue { state in
            state.messages -= 1
            return state.removeEndActions()
        }
        for action in actions { action() }
    }

    /// Sends an answer, if there is one, and records that the request `token` has finished.
    func finish(request token: UInt64?, answer: [UInt8]?) {
        var line = answer
        line?.append(UInt8(ascii: "\n"))
        let drain = counting { state in
            state.outbox.append(answer: line, ofRequest: token) ? state.scheduleDrain : nil
        }
        drain?()
    }

    /// Changes the state and updates the user's count of waiting answer bytes.
    private func counting<Result>(_ change: (inout State) -> Result) -> Result {
        let (result, bytes) = state.withLockedValue { state in
            let before = state.outbox.answerBytes
            let result = change(&state)
            return (result, state.outbox.answerBytes - before)
        }
        self.bytes.output.add(bytes)
        return result
    }

    /// True if further requests may be read and begun.
    var takesRequests: Bool { state.withLockedValue { $0.outbox.takesRequests } }

    func drain() -> Outbox.Burst { state.withLockedValue { $0.outbox.drain() } }

    /// Records that the socket has accepted the last burst.
    func writeEnded() {
        let waiters = counting { state in
            state.outbox.writeEnded()
            return state.outbox.isWritable ? state.removeWaiters() : []
        }
        for waiter in waiters { waiter.resume(returning: true) }
    }

    var isDrained: Bool { state.withLockedValue { $0.outbox.isEmpty } }

    /// Records that the channel has closed, resumes the callers of `whenWritable`, and runs the close actions.
    func didClose() {
        let (actions, waiters) = counting { state in
            defer { state.closeActions = [] }
            state.isOpen = false
            state.outbox.close()
            state.scheduleDrain = nil
            return (state.closeActions + state.removeEndActions(), state.removeWaiters())
        }
        for waiter in waiters { waiter.resume(returning: false) }
        for action in actions { action() }
    }
}

extension RPCConnection.State {
    fileprivate var hasEnded: Bool { !isOpen && messages == 0 }

    /// The actions of `onEnd`, if the connection has ended.
    fileprivate mutating func removeEndActions() -> [@Sendable () -> Void] {
        guard hasEnded else { return [] }
        defer { endActions = [] }
        return endActions
    }

    fileprivate mutating func removeWaiters() -> [CheckedContinuation<Bool, Never>] {
        defer { waiters = [:] }
        return Array(waiters.values)
    }
}

/// The result of sending a notification.
public enum RPCNotification: Hashable, Sendable {
    /// The notification will be sent, unless the connection closes first.
    case accepted
    /// The message was refused, because more than `RPCLimits.waitingBytes` would wait. `whenWritable()` returns when at
    /// most half of that waits.
    case full
    /// The message was refused, because it is longer than `RPCLimits.messageBytes`.
    case tooLarge
    /// The text was refused: the connection has closed, or uses HTTP.
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
