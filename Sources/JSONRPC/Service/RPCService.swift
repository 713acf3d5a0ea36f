public import StrictJSON

/// Answers the calls that an `RPCServer` receives.
public protocol RPCService: Sendable {
    /// The reason why the process of a new connection may not call at all; nil if it may. The error is sent before the
    /// connection is closed. Called on the event loop, so it must not block.
    func refusal(of peer: PeerCredentials) -> RPCError?

    /// True if other users must never lock this user out; see `RPCLimits.reservedClients`. Called on the event loop.
    func isPrivileged(_ peer: PeerCredentials) -> Bool

    /// True if calls of this method read or write so much that only `RPCLimits.bulkRequests` of them run at the same
    /// time, and only for clients that read their answers.
    func isBulk(_ method: String) -> Bool

    /// True if calls of this method wait for an event, as long as the caller allows. They do not count towards
    /// `RPCLimits.requestsPerUser`.
    func isWaiting(_ method: String) -> Bool

    /// True if the answer to one call of this method may have megabytes. Only `RPCLimits.longAnswersPerUser` of them run
    /// at the same time for an unprivileged user.
    func hasLongAnswer(_ method: String) -> Bool

    /// True if a call of this method in a short line takes so little processor time that it is answered on the
    /// connection's event loop, with everything it awaits there. It must not block. All others run on Swift's global
    /// executor.
    func isBrief(_ method: String) -> Bool

    /// Answers one request; for a notification (a request without id) the result is dropped.
    ///
    /// Up to `RPCLimits.requestsInFlight` run at the same time for a connection. They begin in the order they came in,
    /// but may overtake each other, and are answered as they finish. The surrounding `Task` is cancelled when the
    /// connection closes (not a notification's). Messages that have to follow the answer are sent through
    /// `RPCConnection.afterAnswer`.
    func respond(
        to method: String, params: JSONValue?, on connection: RPCConnection
    ) async throws(RPCError) -> RPCResult
}

extension RPCService {
    public func refusal(of peer: PeerCredentials) -> RPCError? { nil }

    public func isPrivileged(_ peer: PeerCredentials) -> Bool { false }

    /// True if the client uses rights that its user has as a privileged one.
    public func isPrivileged(_ connection: RPCConnection) -> Bool {
        connection.remote?.isPrivileged ?? true && isPrivileged(connection.peer)
    }

    public func isBulk(_ method: String) -> Bool { false }

    public func isWaiting(_ method: String) -> Bool { false }

    public func hasLongAnswer(_ method: String) -> Bool { false }

    public func isBrief(_ method: String) -> Bool { false }
}

/// The `result` of an answer.
public enum RPCResult: Sendable {
    case value(JSONValue)
    /// One JSON value as compact UTF-8 without line breaks, as `JSONValue.write(to:)` makes it. For results that exist
    /// as text already.
    case encoded([UInt8])
}
