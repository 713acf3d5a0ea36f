public import JSONRPC
public import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import NIOPosix
import XferModel

/// Listens on the network for HTTP and WebSockets, and lets clients with tokens call the service.
///
/// It knows the service only by its methods and routes. Call `shutdown` if `start` was called.
public final class Gateway: Sendable {
    private struct State {
        var group: MultiThreadedEventLoopGroup?
        var listeners: [any Channel] = []
        var certificates: [CertificateFiles] = []
        /// Channels that clients have opened.
        var clients: [ObjectIdentifier: any Channel] = [:]
        var seats: ClientSeats<ObjectIdentifier, [UInt8]>
        /// The times when strangers that have requested a page are closed if no token is shown.
        var deadlines: [ObjectIdentifier: NIODeadline] = [:]
        var isStopped = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let service: DialectService
    private let aria2: Aria2Sockets
    private let routes: [HTTPRoute]
    private let limits: RPCLimits
    private let tokens: any TokenDirectory
    private let logger: Logger
    private let connections = OpenConnections<Int64>()
    private let users: UserConnections
    private let turns: RequestTurns
    private let browserSessions = BrowserSessions()
    private let refusals: RefusalRecorder
    private let state: NIOLockedValueBox<State>

    /// The longest time before a client begins a request.
    private static let idleTime = Duration.seconds(60)
    /// The interval at which tokens with connections are checked for expiry.
    private static let expiryCheck = TimeAmount.seconds(1)

    /// - Parameters:
    ///   - limits: those of the Unix socket; `clients` counts the connections of all listeners.
    ///   - turns: those of the Unix socket.
    ///   - aria2: the configuration of aria2's protocol.
    ///   - onRefusal: called for each refused request.
    public init(
        service: any RPCService, routes: [HTTPRoute], tokens: any TokenDirectory, limits: RPCLimits,
        turns: RequestTurns, aria2: Aria2Configuration, logger: Logger,
        onRefusal: @escaping @Sendable (GatewayRefusal) -> Void
    ) {
        var limits = limits
        limits.idleTime = limits.idleTime ?? Self.idleTime
        self.limits = limits
        state = NIOLockedValueBox(State(seats: ClientSeats(capacity: limits.clients)))
        self.tokens = tokens
        self.logger = logger
        let scoped = ScopedService(service: service, tokens: tokens, fields: RestrictedFields())
        users = UserConnections(service: scoped, limit: limits.clientsPerUser)
        self.turns = turns
        refusals = RefusalRecorder(logger: logger, count: onRefusal)
        let facade = Aria2Facade(
            service: scoped, tokens: tokens, configuration: aria2, limits: limits, turns: turns.bulk, users: users,
            refusals: refusals, logger: logger)
        self.aria2 = Aria2Sockets(facade, connections)
        self.service = DialectService(scoped: scoped, aria2: self.aria2)
        self.routes = routes + browserSessions.routes(scoped) + WebPage.routes + facade.routes
    }

    /// Listens, and returns the address with the port that was bound.
    ///
    /// - Throws: `GatewayError`.
    @discardableResult
    public func start(_ configuration: ListenerConfiguration) async throws -> ListenAddress {
        let certificates = try configuration.tls.map { try CertificateFiles($0) }
        let gate = AccessGate(
            browser: BrowserRules(configuration), service: service, tokens: tokens, connections: connections,
            users: users, browserSessions: browserSessions, refusals: refusals, aria2: aria2,
            messageBytes: limits.messageBytes
        ) { [weak self] client, channel in self?.recognise(client, on: channel) }
        let requests = HTTPSessions(service: service, routes: routes, limits: limits, turns: turns, gate: gate)
        let bootstrap = ServerBootstrap(group: eventLoops())
            .serverChannelOption(.backlog, value: 512)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.socketOption(.so_keepalive), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { [self] channel in
                channel.eventLoop.makeCompletedFuture { try setUp(channel, requests, certificates) }
            }
        let channel: any Channel
        do {
            let address = try SocketAddress(ipAddress: configuration.address.host, port: configuration.address.port)
            channel = try await bootstrap.bind(to: address).get()
        } catch {
            let code = (error as? IOError)?.errnoCode
            throw GatewayError.listen(
                address: configuration.address.description,
                code.flatMap { GatewayError.reason($0, host: configuration.address.host) } ?? "\(error)")
        }
        state.withLockedValue { state in
            state.listeners.append(channel)
            if let certificates { state.certificates.append(certificates) }
        }
        return ListenAddress(
            host: configuration.address.host, port: channel.localAddress?.port ?? configuration.address.port)
    }

    /// Closes the connections of a token that was revoked.
    public func revoke(tokenID: Int64) { connections.close(tokenID) }

    /// Reads the files of certificates again. Faulty files are logged, and the last certificate stays in use.
    public func reloadCertificates() {
        for certificates in state.withLockedValue(\.certificates) {
            do throws(GatewayError) {
                try certificates.reload()
            } catch {
                logger.error("\(error); the last certificate stays in use")
            }
        }
    }

    /// The current number of clients' connections.
    public var clientCount: Int { state.withLockedValue { $0.clients.count } }

    /// Stops listening, lets running requests finish for as long as `grace`, and closes all connections.
    public func shutdown(grace: Duration = .seconds(5)) async {
        let (group, listeners, clients) = state.withLockedValue { state in
            defer { (state.group, state.listeners) = (nil, []) }
            state.isStopped = true
            return (state.group, state.listeners, Array(state.clients.values))
        }
        for listener in listeners { try? await listener.close() }
        for client in clients { HTTPSessions.finish(client) }
        let patience = Task { [self] in
            try await Task.sleep(for: grace)
            for client in state.withLockedValue({ Array($0.clients.values) }) { client.close(promise: nil) }
        }
        await whenEmpty()
        patience.cancel()
        try? await group?.shutdownGracefully()
    }

    /// Returns the one event loop, which is made when the first listener starts.
    private func eventLoops() -> MultiThreadedEventLoopGroup {
        state.withLockedValue { state in
            if let group = state.group { return group }
            let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
            state.group = group
            group.next().scheduleRepeatedTask(initialDelay: Self.expiryCheck, delay: Self.expiryCheck) {
                [connections, browserSessions, tokens] _ in
                for id in connections.keys where tokens.token(id) == nil { connections.close(id) }
                browserSessions.closeExpired()
            }
            return group
        }
    }
}

// MARK: - Connections

extension Gateway {
    private func setUp(_ channel: any Channel, _ requests: HTTPSessions, _ certificates: CertificateFiles?) throws {
        let id = ObjectIdentifier(channel)
        let site = channel.remoteAddress?.ipAddress.flatMap { NumericAddress($0)?.site } ?? []
        let (isAdmitted, victim) = state.withLockedValue { state -> (Bool, (any Channel)?) in
            guard !state.isStopped, case .admitted(let victim) = state.seats.admit(id, from: site) else {
                return (false, nil)
            }
            state.clients[id] = channel
            state.deadlines[id] = .now() + TimeAmount(limits.anonymousTime)
            return (true, victim.flatMap { state.clients[$0] })
        }
        if let victim {
            refusals.record(.tooManyClients)
            victim.close(promise: nil)
        }
        guard isAdmitted else {
            refusals.record(.tooManyClients)
            // With TLS the reason could only be sent after a handshake, which costs more than the limit is to save.
            if certificates == nil { try channel.pipeline.syncOperations.addHandler(FullHandler(limits.clients)) }
            if certificates != nil { channel.close(promise: nil) }
            return
        }
        channel.closeFuture.whenComplete { [self] _ in remove(channel) }
        endAnonymous(channel)
        let pipeline = channel.pipeline.syncOperations
        if let certificates { try certificates.addHandler(to: pipeline) }
        try pipeline.addHandlers(requests.handlers())
    }

    /// Closes a connection on which no token is shown in time.
    private func endAnonymous(_ channel: any Channel) {
        let deadline = state.withLockedValue { $0.deadlines[ObjectIdentifier(channel)] }
        guard let deadline else { return }
        guard deadline > .now() else { return channel.close(promise: nil) }
        // A closed connection does not stay in memory until its deadline.
        channel.eventLoop.scheduleTask(deadline: deadline) { [weak self, weak channel] in
            if let channel { self?.endAnonymous(channel) }
        }
    }

    /// Records the client of a connection's request. A request that needs no token, such as the web page, extends the
    /// time of an anonymous client.
    private func recognise(_ client: HTTPClient, on channel: any Channel) {
        let id = ObjectIdentifier(channel)
        state.withLockedValue { state in
            guard state.clients[id] != nil, state.seats.isAnonymous(id) else { return }
            if client.remote.tokenID == HTTPClient.anonymousToken {
                state.deadlines[id] = .now() + TimeAmount(limits.anonymousTime)
            } else {
                state.seats.recognise(id)
                state.deadlines[id] = nil
            }
        }
    }

    private func remove(_ channel: any Channel) {
        let waiters = state.withLockedValue { state -> [CheckedContinuation<Void, Never>] in
            state.clients[ObjectIdentifier(channel)] = nil
            state.seats.remove(ObjectIdentifier(channel))
            state.deadlines[ObjectIdentifier(channel)] = nil
            guard state.clients.isEmpty else { return [] }
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    private func whenEmpty() async {
        await withCheckedContinuation { continuation in
            let isEmpty = state.withLockedValue { state in
                if state.clients.isEmpty { return true }
                state.waiters.append(continuation)
                return false
            }
            if isEmpty { continuation.resume() }
        }
    }
}

/// Notifies a client that there are too many, and closes.
private final class FullHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let limit: Int

    init(_ limit: Int) { self.limit = limit }

    func channelActive(context: ChannelHandlerContext) {
        let text = "there are \(limit) clients already\n"
        let answer = ByteBuffer(
            string: "HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain; charset=utf-8\r\n"
                + "Content-Length: \(text.utf8.count)\r\nRetry-After: 5\r\nConnection: close\r\n\r\n\(text)")
        context.writeAndFlush(Self.wrapOutboundOut(answer)).assumeIsolated().whenComplete { _ in
            context.close(promise: nil)
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {}
}
