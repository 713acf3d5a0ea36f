import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import StrictJSON
import XferSystem

/// JSON-RPC 2.0 on Unix stream sockets.
///
/// The first byte of a connection chooses its dialect. `{`, `[` or white space selects one message per line. Any other
/// byte selects HTTP/1.1 with `POST /rpc` and the routes given to `init`. Call `shutdown` if `start` was called.
public final class RPCServer: Sendable {
    private let dispatcher: Dispatcher
    private let routes: HTTPRouteTable
    private let clients: ClientRegistry
    private let threads: Int
    private let state = NIOLockedValueBox(State())

    private struct State {
        var group: MultiThreadedEventLoopGroup?
        /// One executor for each event loop of `group`.
        var executors: [ObjectIdentifier: LoopExecutor] = [:]
        var listeners: [Listener] = []
        var probe: WatchProbe?
        var isStopped = false
    }

    private struct Listener {
        let channel: any Channel
        let file: SocketFile?
    }

    /// The highest number of refused clients for whose first byte, which shows the protocol, the server waits at the
    /// same time. It refuses further clients at once with a JSON-RPC line.
    private static let waitingRefusals = 32

    /// Creates a server. `turns` are shared with the other endpoints; nil makes turns of its own. `threads` is the number of
    /// event loops, which serve all connections. If two routes have the same path, the last one is used.
    public init(
        service: any RPCService, routes: [HTTPRoute] = [], limits: RPCLimits = RPCLimits(),
        turns: RequestTurns? = nil, threads: Int = 1
    ) {
        dispatcher = Dispatcher(service: service, limits: limits, turns: turns ?? RequestTurns(limits))
        self.routes = HTTPRouteTable(routes)
        clients = ClientRegistry(limits: limits)
        self.threads = threads
    }

    /// Listens on `endpoint`. Call it once for each endpoint.
    public func start(on endpoint: RPCEndpoint) async throws(RPCServerError) {
        guard let group = eventLoops() else { throw .stopped }
        let probe = try watchProbe()
        let socket = try ListeningSocket(endpoint)
        let bootstrap = ServerBootstrap(group: group)
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelInitializer { [self] channel in
                channel.eventLoop.makeCompletedFuture { try setUp(channel, probe) }
            }
        let channel: any Channel
        do {
            channel = try await bootstrap.withBoundSocket(socket.descriptor).get()
        } catch {
            socket.file?.remove()
            throw .system(SystemCallError("listen (\(error))", on: "\(endpoint)"))
        }
        let isStopped = state.withLockedValue { state in
            if !state.isStopped { state.listeners.append(Listener(channel: channel, file: socket.file)) }
            return state.isStopped
        }
        if isStopped {
            socket.file?.remove()
            channel.close(promise: nil)
            throw .stopped
        }
    }

    /// Number of admitted connections at this moment.
    public var clientCount: Int { clients.count }

    /// Accepts no new connections and removes the socket files that `start` made. Open connections continue.
    public func stopAccepting() async {
        let listeners = state.withLockedValue { state in
            defer { state.listeners = [] }
            return state.listeners
        }
        for listener in listeners {
            listener.file?.remove()
            try? await listener.channel.close()
        }
    }

    /// Stops accepting and reading, lets running requests finish for as long as `grace`, sends all answers, and closes.
    /// Streams are ended at once. Afterwards all resources of the server are released.
    public func shutdown(grace: Duration = .seconds(5)) async {
        let (group, executors) = state.withLockedValue { state in
            defer { (state.group, state.executors, state.probe) = (nil, [:], nil) }
            state.isStopped = true
            return (state.group, state.executors.values)
        }
        await stopAccepting()
        clients.finishAll()
        let patience = Task { [clients] in
            try await Task.sleep(for: grace)
            clients.closeAll()
        }
        await clients.whenEmpty()
        patience.cancel()
        for executor in executors { await executor.end() }
        try? await group?.shutdownGracefully()
    }

    private func watchProbe() throws(RPCServerError) -> WatchProbe {
        if let probe = state.withLockedValue(\.probe) { return probe }
        let probe = try WatchProbe()
        state.withLockedValue { $0.probe = probe }
        return probe
    }

    private func eventLoops() -> MultiThreadedEventLoopGroup? {
        state.withLockedValue { state in
            if state.isStopped { return nil }
            if let group = state.group { return group }
            let group = MultiThreadedEventLoopGroup(numberOfThreads: threads)
            for loop in group.makeIterator() { state.executors[ObjectIdentifier(loop)] = LoopExecutor(loop) }
            state.group = group
            return group
        }
    }
}

// MARK: - New connections

extension RPCServer {
    /// Admits or refuses a new connection, on its event loop, before the first byte is read.
    private func setUp(_ channel: any Channel, _ probe: WatchProbe) throws {
        let isWatchable = try channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(
            of: NIOBSDSocket.Handle.self
        ) { probe.canWatch($0) }
        guard isWatchable != false else { throw RPCServerError.system(SystemCallError("epoll_ctl", on: "a client")) }
        let limits = dispatcher.limits
        let peer = try PeerCredentials(of: channel)
        let isPrivileged = dispatcher.service.isPrivileged(peer)
        switch clients.admit(channel, of: peer.userID, isPrivileged: isPrivileged) {
        case .shuttingDown:
            throw RPCServerError.stopped
        case .refused(let id, let error, let count):
            removeWhenClosed(id, channel)
            try refuse(channel, with: error, status: "503 Service Unavailable", count: count)
        case .accepted(let id):
            removeWhenClosed(id, channel)
            if let error = dispatcher.service.refusal(of: peer) {
                try refuse(channel, with: error, status: "403 Forbidden", count: clients.refuse(id))
                return
            }
            let bytes = dispatcher.turns.bytes.bytes(of: peer.userID, isPrivileged: isPrivileged)
            let connection = RPCConnection(id: id, peer: peer, channel: channel, limits: limits, bytes: bytes)
            connection.onEnd { [clients] in clients.leave(id) }
            channel.closeFuture.whenComplete { _ in connection.didClose() }
            try channel.pipeline.syncOperations.addHandler(
                DialectHandler(
                    connection: connection, dispatcher: dispatcher, routes: routes,
                    executor: executor(of: channel.eventLoop)))
        }
    }

    private func executor(of loop: any EventLoop) throws(RPCServerError) -> LoopExecutor {
        guard let executor = state.withLockedValue({ $0.executors[ObjectIdentifier(loop)] }) else { throw .stopped }
        return executor
    }

    private func removeWhenClosed(_ id: UInt64, _ channel: any Channel) {
        channel.closeFuture.whenComplete { [clients] _ in clients.remove(id) }
    }

    private func refuse(_ channel: any Channel, with error: RPCError, status: String, count: Int) throws {
        let patience = count <= Self.waitingRefusals ? TimeAmount.milliseconds(200) : .zero
        let handler = RefusalHandler(
            error, status: status, patience: patience,
            lingering: patience == .zero ? .zero : dispatcher.limits.lingering)
        try channel.pipeline.syncOperations.addHandler(handler)
    }
}

extension PeerCredentials {
    fileprivate init(of channel: any Channel) throws {
        let peer = try channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) {
            try PeerCredentials(ofSocket: $0)
        }
        guard let peer else { throw ChannelError.operationUnsupported }
        self = peer
    }
}

/// Runs Swift code on an event loop, so that a brief request is answered on the thread that read it: waking another
/// thread and being woken by it again costs more than such a request itself.
///
/// After `end`, jobs go to Swift's global executor, because every job has to run. A job that never ran would suspend
/// its `Task` permanently, and could leave an actor locked.
final class LoopExecutor: TaskExecutor {
    private let loop: any EventLoop
    private let hasEnded = NIOLockedValueBox(false)

    init(_ loop: any EventLoop) { self.loop = loop }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isTaken = hasEnded.withLockedValue { hasEnded in
            if hasEnded { return false }
            loop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
            return true
        }
        if !isTaken { globalConcurrentExecutor.enqueue(job) }
    }

    /// Sends all later jobs to the global executor. Returns when the event loop has run the earlier jobs. Call it
    /// before the loop is shut down.
    func end() async {
        hasEnded.withLockedValue { $0 = true }
        try? await loop.submit {}.get()
    }
}
