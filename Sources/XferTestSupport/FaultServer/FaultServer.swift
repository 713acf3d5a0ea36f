import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import NIOPosix

/// An HTTP/1.1 server on 127.0.0.1 that does exactly what a test tells it to, right or wrong, and remembers every
/// request.
///
/// Each path has a handler that turns a request into a `Reply`, byte for byte. `serve(_:_:faults:)` is the usual one: a
/// `SourceVersion` offered as RFC 9110 says, bent by a list of `Fault`s for the first, second, … request. The server
/// stops when the last reference goes.
public final class FaultServer: Sendable {
    /// Answers one request.
    public typealias Handler = @Sendable (RecordedRequest) async -> Reply

    public let port: Int
    private let state: ServerState
    private let channel: any Channel
    private let accepting: Task<Void, Never>

    /// Listens on a free port.
    public init() async throws {
        let state = ServerState()
        let eventLoop = MultiThreadedEventLoopGroup.singleton.next()
        let listener = try await ServerBootstrap(group: eventLoop)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelOption(.backlog, value: 1024)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .bind(host: "127.0.0.1", port: 0) { channel in
                channel.eventLoop.makeCompletedFuture {
                    let decoder = HTTPRequestDecoder(leftOverBytesStrategy: .dropBytes)
                    try channel.pipeline.syncOperations.addHandler(ByteToMessageHandler(decoder))
                    return try ServerConnection.Wire(wrappingChannelSynchronously: channel)
                }
            }
        guard let port = listener.channel.localAddress?.port else { throw TimedOut("no port") }
        self.port = port
        self.state = state
        channel = listener.channel
        accepting = Task(executorPreference: ServerExecutor(eventLoop)) { await Self.accept(listener, state) }
    }

    deinit {
        accepting.cancel()
        channel.close(promise: nil)
    }

    /// `http://127.0.0.1:port` and the path.
    public func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }

    /// Answers requests for this path (the target without its query) with `handler` from now on.
    public func on(_ path: String, _ handler: @escaping Handler) {
        state.box.withLockedValue { $0.routes[path] = handler }
    }

    /// Answers requests for every path that has no handler of its own; 404 unless set.
    public func onAnyOther(_ handler: @escaping Handler) {
        state.box.withLockedValue { $0.fallback = handler }
    }

    /// Offers a source under a path. The n-th request to it is bent by `faults[n]`, the ones after the list are answered
    /// honestly. The result changes what is offered while the server runs.
    @discardableResult
    public func serve(_ path: String, _ version: SourceVersion, faults: [[Fault]] = []) -> ServedSource {
        let served = ServedSource(version, faults: faults)
        on(path) { served.reply(to: $0) }
        return served
    }

    /// Every request so far, in the order their heads arrived.
    public var requests: [RecordedRequest] { state.box.withLockedValue(\.requests) }

    /// The requests for one path.
    public func requests(to path: String) -> [RecordedRequest] { requests.filter { $0.path == path } }

    /// TCP connections accepted so far.
    public var connectionCount: Int { state.box.withLockedValue(\.connectionCount) }

    /// TCP connections open now.
    public var openConnectionCount: Int { state.box.withLockedValue(\.open.count) }

    /// Closes every open connection at once with RST, whatever is under way on it.
    public func resetConnections() async {
        for channel in state.box.withLockedValue({ Array($0.open.values) }) { await ServerConnection.reset(channel) }
    }

    /// Stops listening and closes all connections; new ones are refused from here on.
    public func stop() async {
        accepting.cancel()
        try? await channel.close()
        await accepting.value
    }

    private static func accept(_ listener: NIOAsyncChannel<ServerConnection.Wire, Never>, _ state: ServerState) async {
        try? await listener.executeThenClose { connections in
            try await withThrowingDiscardingTaskGroup { group in
                for try await wire in connections {
                    let number = state.opened(wire.channel)
                    group.addTask {
                        await ServerConnection(number: number, wire: wire, state: state).run()
                        state.closed(number)
                    }
                }
                group.cancelAll()
            }
        }
    }
}

/// What the server's connections share.
final class ServerState: Sendable {
    struct Values {
        var routes: [String: FaultServer.Handler] = [:]
        var fallback: FaultServer.Handler = { _ in Reply(404, text: "not found") }
        var requests: [RecordedRequest] = []
        var connectionCount = 0
        var open: [Int: any Channel] = [:]
    }

    let box = NIOLockedValueBox(Values())

    func opened(_ channel: any Channel) -> Int {
        box.withLockedValue { values in
            values.connectionCount += 1
            values.open[values.connectionCount] = channel
            return values.connectionCount
        }
    }

    func closed(_ number: Int) {
        _ = box.withLockedValue { $0.open.removeValue(forKey: number) }
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
