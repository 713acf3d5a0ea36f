import Glibc
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import StrictJSON
import XferProtocol

/// A connection, and which database the daemon behind it has.
struct DaemonConnection: Sendable {
    let channel: MessageChannel
    /// The identity of the daemon's database; nil if the daemon does not reveal it to this client.
    let storeID: String?

    /// Compares the daemon's database with the expected one.
    ///
    /// - Throws: `StoreChangedError` if the daemon has a database other than `expected`.
    func check(storeID expected: String?) throws(StoreChangedError) {
        guard let expected, let storeID, storeID != expected else { return }
        throw StoreChangedError(expected: expected, found: storeID)
    }
}

/// Opens connections to the first daemon that accepts one.
struct Connector: Sendable {
    let instance: SocketLocator.Instance
    /// The time limit for the connection, and for each answer.
    let timeout: Duration
    private let locator = SocketLocator.ofThisProcess()
    private let hasConnected = NIOLockedValueBox(false)

    init(_ instance: SocketLocator.Instance, timeout: Duration) {
        self.instance = instance
        self.timeout = max(timeout, .milliseconds(1))
    }

    /// True if a daemon has accepted a connection. If it goes away later, clients search for it.
    var hasReachedDaemon: Bool { hasConnected.withLockedValue(\.self) }

    /// Opens a connection to the first daemon that accepts one.
    ///
    /// - Parameter notifications: the buffer for notifications; nil discards them.
    /// - Throws: `NoDaemonError`, `CallError`, `CancellationError`.
    func open(notifications: NotificationBuffer? = nil) async throws -> DaemonConnection {
        let channel = try await connect(notifications)
        hasConnected.withLockedValue { $0 = true }
        guard let entry = channel.reserve() else { throw channel.end ?? .connection(.closed) }
        do {
            let status = try await channel.call(DaemonStatus.name, nil, as: entry, timeout: timeout)
            return DaemonConnection(channel: channel, storeID: status["store_id"]?.stringValue)
        } catch CallError.refused(let failure) where failure.knownCode == .permissionDenied {
            return DaemonConnection(channel: channel, storeID: nil)
        }
    }

    /// Waits for a daemon that is starting.
    private func connect(_ notifications: NotificationBuffer?) async throws -> MessageChannel {
        let start = ContinuousClock.now
        while true {
            do {
                return try await connectOnce(notifications)
            } catch let error as NoDaemonError {
                guard ContinuousClock.now - start < error.patience else { throw error }
            }
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    private func connectOnce(_ notifications: NotificationBuffer?) async throws -> MessageChannel {
        var failed: [FailedCandidate] = []
        for candidate in locator.candidates(for: instance) {
            do {
                if case .server(let server) = instance {
                    return try await connect(to: server, notifications)
                } else {
                    return try await connect(to: candidate.path, notifications)
                }
            } catch let error as ConnectionError {
                failed.append(FailedCandidate(candidate: candidate, error: error))
            }
        }
        throw NoDaemonError(tried: failed)
    }

    private func connect(to path: String, _ notifications: NotificationBuffer?) async throws -> MessageChannel {
        let deadline = ContinuousClock.now + timeout
        while true {
            let calls = CallTable()
            let connected = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .connectTimeout(TimeAmount(timeout))
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandlers(
                            LineMessages.handlers(limit: XferConnection.messageLimit)
                                + [MessageHandler(calls, notifications)])
                    }
                }
                .connect(unixDomainSocketPath: path)
            do {
                return try await Arrival(connected.map { MessageChannel($0, calls) }).value
            } catch let error as IOError where error.errnoCode == EAGAIN {
                // The listener's queue is full, and nothing tells when it is not (unix(7)).
                guard ContinuousClock.now < deadline else { throw ConnectionError.timedOut }
            } catch let error as IOError {
                throw ConnectionError.connecting(to: path, errno: error.errnoCode)
            } catch SocketAddressError.unixDomainSocketPathTooLong {
                throw ConnectionError.pathTooLong(path: path)
            } catch ChannelError.connectTimeout {
                throw ConnectionError.timedOut
            }
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    private func connect(
        to server: ServerAddress, _ notifications: NotificationBuffer?
    ) async throws -> MessageChannel {
        let calls = CallTable()
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let connected = WebSocketConnector.connect(to: server, timeout: timeout, on: loop) { channel in
            try channel.pipeline.syncOperations.addHandler(MessageHandler(calls, notifications))
        }
        return try await Arrival(connected.map { MessageChannel($0, calls) }).value
    }
}
