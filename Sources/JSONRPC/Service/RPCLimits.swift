/// Limits of an `RPCServer` for one client and for all together. Each has its consequence in its comment.
public struct RPCLimits: Hashable, Sendable {
    /// Bytes of one incoming message (a line without its end, or an HTTP body) and of one outgoing. Beyond it an
    /// incoming one is answered with −32600 (HTTP: 413) and the connection closed, without having been buffered; an
    /// outgoing one is replaced by −32600 and the connection kept.
    public var messageBytes = 4 << 20
    /// Arrays and objects within each other, counted over the whole message. Beyond: −32600.
    public var nestingDepth = 64
    /// Connections at the same time. The next gets −32600 (HTTP: 503) and is closed.
    public var clients = 256
    /// Connections of one unprivileged user (`RPCService.isPrivileged`), as a part of `clients`. Beyond: as for
    /// `clients`.
    public var clientsPerUser = Int.max
    /// Connections out of `clients`, half of them at most, that only privileged users get.
    public var reservedClients = 0
    /// How long a request may take from its first byte to its last. Beyond it −32600 (HTTP: 408), connection closed.
    public var requestTime = Duration.seconds(30)
    /// Requests of one connection that have begun and are not answered yet. At the limit no more are read.
    public var requestsInFlight = 64
    /// Bulk requests (`RPCService.isBulk`) of all connections together that run at the same time. Beyond it they wait,
    /// and connections take turns.
    public var bulkRequests = 2
    /// Requests in one batch. Beyond: −32600 for the whole batch.
    public var batchRequests = 10_000
    /// Bytes of all header fields of an HTTP request together with its request line. Beyond: 431, connection closed.
    public var headerBytes = 32 << 10
    /// Header fields of an HTTP request. Beyond: 431, connection closed.
    public var headerFields = 128
    /// Bytes waiting for a client to read them. At it a notification is refused (`RPCConnection.notify`); above half of
    /// it `isWritable` is false and no more requests are begun.
    public var waitingBytes = 1 << 18
    /// Bytes of answers waiting to be read on all connections of one user. While there are more, its requests are
    /// answered −32600 (HTTP routes: 503) and not carried out.
    public var waitingBytesPerUser = 32 << 20
    /// How long input of a client is read and dropped after its last answer, so that it can read that answer before the
    /// connection ends.
    public var lingering = Duration.seconds(5)

    public init() {}
}
