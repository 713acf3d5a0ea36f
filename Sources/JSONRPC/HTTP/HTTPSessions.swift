import NIOConcurrencyHelpers
public import NIOCore
import NIOHTTP1

/// Serves HTTP/1.1 and WebSockets on the connections of a listener that the caller owns.
///
/// The methods and routes are those of an `RPCServer`. A gate decides about each request.
public struct HTTPSessions: Sendable {
    private let dispatcher: Dispatcher
    private let routes: HTTPRouteTable
    private let gated: GatedRequests

    /// Creates the sessions. If two routes have the same path, the last one is used. `turns` are shared by all
    /// endpoints.
    public init(
        service: any RPCService, routes: [HTTPRoute], limits: RPCLimits, turns: RequestTurns, gate: any HTTPGate
    ) {
        dispatcher = Dispatcher(service: service, limits: limits, turns: turns)
        self.routes = HTTPRouteTable(routes)
        gated = GatedRequests(gate: gate, limits: limits, bytes: turns.bytes) { service.isPrivileged($0) }
    }

    /// The handlers of a new connection.
    public func handlers() -> [any ChannelHandler] {
        HTTPHandler.pipeline(
            HTTPHandler(origin: .gated(gated), dispatcher: dispatcher, routes: routes), limits: dispatcher.limits)
    }

    /// Makes the handlers of a connection end it: at once, or after the answer to the request that has begun.
    public static func finish(_ channel: any Channel) {
        channel.pipeline.fireUserInboundEventTriggered(FinishEvent())
    }
}

/// Makes a connection for each request that a gate admits: requests of several clients may share a channel, since
/// proxies use their connections for all their clients.
final class GatedRequests: Sendable {
    let gate: any HTTPGate
    private let limits: RPCLimits
    private let bytes: UserByteTable
    private let isPrivileged: @Sendable (PeerCredentials) -> Bool

    /// The last id that was given to a session. It begins above the ids that the connections of an `RPCServer` reach,
    /// because the service identifies connections by their ids. All listeners share it.
    private static let lastID = NIOLockedValueBox<UInt64>(1 << 48)

    init(
        gate: any HTTPGate, limits: RPCLimits, bytes: UserByteTable,
        isPrivileged: @escaping @Sendable (PeerCredentials) -> Bool
    ) {
        self.gate = gate
        self.limits = limits
        self.bytes = bytes
        self.isPrivileged = isPrivileged
    }

    func connection(for client: HTTPClient, on channel: any Channel) -> RPCConnection {
        let id = Self.lastID.withLockedValue { last in
            last += 1
            return last
        }
        gate.recognised(client, on: channel)
        // Strangers have nothing in common: one that does not read must not keep the others from being answered.
        let bytes =
            client.remote.tokenID == 0
            ? UserBytes(limits)
            : self.bytes.bytes(
                of: client.user.userID, isPrivileged: client.remote.isPrivileged && isPrivileged(client.user))
        return RPCConnection(
            id: id, peer: client.user, remote: client.remote, channel: channel, limits: limits, bytes: bytes,
            onActing: { [gate] in gate.recognised($0, on: channel) })
    }
}
