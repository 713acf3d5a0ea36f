import NIOCore
import StrictJSON

/// JSON-RPC 2.0 on Unix stream sockets.
///
/// The first byte of a connection chooses its dialect: `{`, `[` or white space is one message a line, anything else
/// HTTP/1.1 with `POST /rpc` and the routes given here.
public final class RPCServer: Sendable {
    /// `threads` event loops carry all connections.
    public init(
        service: any RPCService, routes: [HTTPRoute] = [], limits: RPCLimits = RPCLimits(), threads: Int = 1
    ) {}

    /// Listens on `endpoint`. Can be called for several.
    public func start(on endpoint: RPCEndpoint) async throws(RPCServerError) { fatalError("not yet") }

    /// Connections at this moment.
    public var clientCount: Int { fatalError("not yet") }

    /// Takes no new connections and removes the socket files made here; the connections there are go on.
    public func stopAccepting() async { fatalError("not yet") }

    /// Stops accepting and reading, lets what has begun finish for as long as `grace`, sends every answer there is, and
    /// closes. Streams are ended at once. Afterwards everything the server held is given back.
    public func shutdown(grace: Duration = .seconds(5)) async { fatalError("not yet") }
}
