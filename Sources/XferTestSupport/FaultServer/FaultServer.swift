import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import NIOPosix

/// An HTTP/1.1 server, on 127.0.0.1 unless a test says otherwise, that answers exactly as a test defines, right or
/// wrong, and records every request.
///
/// Each path has a handler that turns a request into a `Reply`, byte for byte. Most tests use `serve(_:_:faults:)`: a
/// `SourceVersion` served according to RFC 9110, with a list of `Fault`s for the first, second, … request. The server
/// stops with its last reference.
public final class FaultServer: Sendable {
    /// Answers one request.
    public typealias Handler = @Sendable (RecordedRequest) async -> Reply

    public let port: Int
    private let address: String
    private let state: ServerState
    private let channel: any Channel

    /// Listens on a free port, or on a Unix socket at this path instead: then the port is 80, and nothing listens
    /// there.
    public init(address: String = "127.0.0.1", unixSocket path: String? = nil) async throws {
        self.address = address
        let state = ServerState()
        let eventLoop = MultiThreadedEventLoopGroup.singleton.next()
        let executor = ServerExecutor(eventLoop)
        var bootstrap = ServerBootstrap(group: eventLoop)
            .serverChannelOption(.backlog, value: 1024)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let decoder = HTTPRequestDecoder(leftOverBytesStrategy: .dropBytes)
                    try channel.pipeline.syncOperations.addHandler(ByteToMessageHandler(decoder))
                    state.serve(try ServerConnection.Wire(wrappingChannelSynchronously: channel), on: executor)
                }
            }
        if let path {
            channel = try await bootstrap.bind(unixDomainSocketPath: path).get()
            port = 80
        } else {
            bootstrap = bootstrap.serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            channel = try await bootstrap.bind(host: address, port: 0).get()
            guard let bound = channel.localAddress?.port else { throw TimedOut("the server has no port") }
            port = bound
        }
        self.state = state
    }

    deinit {
        channel.close(promise: nil)
        state.end()
    }

    /// `http://127.0.0.1:port` and the path.
    public func url(_ path: String) -> String { "http://\(address):\(port)\(path)" }

    /// Answers requests for this path (the target without its query) with `handler` from now on.
    public func on(_ path: String, _ handler: @escaping Handler) {
        state.box.withLockedValue { $0.routes[path] = handler }
    }

    /// Answers requests for every path that has no handler of its own; 404 unless set.
    public func onAnyOther(_ handler: @escaping Handler) {
        state.box.withLockedValue { $0.fallback = handler }
    }

    /// Offers a source under a path.
    ///
    /// The list `faults[n]` is applied to the reply to the n-th request, counted from 0. Replies to later requests are
    /// correct. The returned object changes the version and the faults while the server runs.
    @discardableResult
    public func serve(_ path: String, _ version: SourceVersion, faults: [[Fault]] = []) -> ServedSource {
        let served = ServedSource(version, faults: faults)
        on(path) { served.reply(to: $0) }
        return served
    }

    /// The requests received completely so far, in the order in which they were complete.
    public var requests: [RecordedRequest] { state.box.withLockedValue(\.requests) }

    /// The requests for one path.
    public func requests(to path: String) -> [RecordedRequest] { requests.filter { $0.path == path } }

    /// TCP connections accepted so far.
    public var connectionCount: Int { state.box.withLockedValue(\.connectionCount) }

    /// TCP connections open now.
    public var openConnectionCount: Int { state.box.withLockedValue(\.open.count) }

    /// Closes every open connection with RST, even during a response. It waits up to one second for each peer's
    /// acknowledgement.
    public func resetConnections() async {
        for connection in state.connections { await ServerConnection.reset(connection.channel) }
    }

    /// Stops listening and closes all connections. New connections are refused from then on.
    public func stop() async {
        try? await channel.close()
        for connection in state.end() { await connection.serving.value }
    }
}

/// State that the server's connections share.
final class ServerState: Sendable {
    struct Values {
        var routes: [String: FaultServer.Handler] = [:]
        var fallback: FaultServer.Handler = { _ in Reply(404, text: "not found") }
        var requests: [RecordedRequest] = []
        var connectionCount = 0
        var open: [Int: Connection] = [:]
    }

    struct Connection {
        let channel: any Channel
        let serving: Task<Void, Never>
    }

    let box = NIOLockedValueBox(Values())

    var connections: [Connection] { box.withLockedValue { Array($0.open.values) } }

    /// Begins to serve a connection. Call it on the connection's event loop. The Swift task runs on the same loop, so
    /// it cannot end before it is listed.
    func serve(_ wire: ServerConnection.Wire, on executor: ServerExecutor) {
        box.withLockedValue { values in
            values.connectionCount += 1
            let number = values.connectionCount
            let serving = Task(executorPreference: executor) {
                await ServerConnection(number: number, wire: wire, state: self).run()
                _ = self.box.withLockedValue { $0.open.removeValue(forKey: number) }
            }
            values.open[number] = Connection(channel: wire.channel, serving: serving)
        }
    }

    /// Cancels the tasks that serve connections, and closes the connections.
    @discardableResult
    func end() -> [Connection] {
        let ended = connections
        for connection in ended {
            connection.serving.cancel()
            connection.channel.close(promise: nil)
        }
        return ended
    }

    func record(_ make: (Int) -> RecordedRequest) -> (RecordedRequest, FaultServer.Handler) {
        box.withLockedValue { values in
            let request = make(values.requests.count)
            values.requests.append(request)
            return (request, values.routes[request.path] ?? values.fallback)
        }
    }

    func update(_ index: Int, _ change: (inout RecordedRequest) -> Void) {
        box.withLockedValue { change(&$0.requests[index]) }
    }
}

/// The resource at a path of the test server, and the faults of the next responses.
public final class ServedSource: Sendable {
    private let state: NIOLockedValueBox<(version: SourceVersion, faults: [[Fault]], standing: [Fault])>

    init(_ version: SourceVersion, faults: [[Fault]]) {
        state = NIOLockedValueBox((version, faults, []))
    }

    public var version: SourceVersion { state.withLockedValue(\.version) }

    /// Offers another version from the next request on.
    public func replace(with version: SourceVersion) { state.withLockedValue { $0.version = version } }

    /// Sets the faults for the next request, the one after it, and so on. The rest of an earlier list is dropped.
    public func next(_ faults: [Fault]...) { state.withLockedValue { $0.faults = faults } }

    /// Sets the faults for every request for which the list of `next` has no entry.
    public func always(_ faults: Fault...) { state.withLockedValue { $0.standing = faults } }

    func reply(to request: RecordedRequest) -> Reply {
        let (version, faults) = state.withLockedValue { state in
            (state.version, state.faults.isEmpty ? state.standing : state.faults.removeFirst())
        }
        var reply = version.honestReply(to: request)
        for fault in faults { fault.apply(to: &reply, Fault.Context(request: request, source: version)) }
        return reply
    }
}

/// Runs a test server's Swift tasks on its event loop. Some tests block Swift's few threads while they wait for a
/// process or read a socket; the server continues all the same.
final class ServerExecutor: TaskExecutor {
    private let eventLoop: any EventLoop

    init(_ eventLoop: any EventLoop) { self.eventLoop = eventLoop }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        eventLoop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
