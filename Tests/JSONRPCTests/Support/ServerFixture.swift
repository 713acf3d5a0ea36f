import JSONRPC
import XferTestSupport

/// A server on a socket in a directory of its own.
struct ServerFixture: Sendable {
    let server: RPCServer
    let service: TestService
    let path: String
    let directory: TemporaryDirectory

    func connect() throws -> UnixSocket { try UnixSocket(connectedTo: path) }

    /// The one connection that has called so far.
    func connection() async throws -> RPCConnection {
        try await eventually("a connection has called") { service.connections.first }
    }
}

/// Runs `body` against a started server and shuts that down afterwards, whatever happens.
func withServer(
    _ limits: RPCLimits = .with { _ in }, routes: [HTTPRoute] = [], service: TestService = TestService(),
    turns: RequestTurns? = nil, body: (ServerFixture) async throws -> Void
) async throws {
    let directory = try TemporaryDirectory("rpc")
    let server = RPCServer(service: service, routes: routes, limits: limits, turns: turns)
    let fixture = ServerFixture(server: server, service: service, path: directory.file("s.sock"), directory: directory)
    do {
        try await server.start(on: .path(fixture.path))
        try await body(fixture)
        await server.shutdown(grace: .zero)
    } catch {
        await server.shutdown(grace: .zero)
        throw error
    }
}

extension RPCLimits {
    /// The defaults with some of them changed. Lingering is so long that no test depends on it, unless it says so.
    static func with(_ change: (inout RPCLimits) -> Void) -> RPCLimits {
        var limits = RPCLimits()
        limits.lingering = .seconds(600)
        change(&limits)
        return limits
    }
}
