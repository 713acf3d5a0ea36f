/// Limits of an `RPCServer`, for one client and for all clients together. Each comment states the server's reaction
/// beyond the limit.
public struct RPCLimits: Hashable, Sendable {
    /// The highest number of bytes of one incoming message (a line without its end, or an HTTP body) and of one
    /// outgoing message. The server does not buffer all of a longer incoming message: it answers −32600 (HTTP: 413) and
    /// closes the connection. It replaces a longer outgoing message by −32600 and keeps the connection.
    public var messageBytes = 4 << 20
    /// The highest number of levels of nested arrays and objects in one message. Beyond: −32600.
    public var nestingDepth = 64
    /// The highest number of bytes of memory that one parsed message may take beside its strings, as `StrictJSON`
    /// estimates it: a text of numbers or empty strings takes many times its length. Beyond: −32600.
    public var decodedBytes: Int { messageBytes > Int.max / 8 ? .max : 8 * messageBytes }
    /// The highest number of connections at the same time. A further connection gets −32600 (HTTP: 503) and is closed.
    public var clients = 256
    /// The highest number of connections of one unprivileged user (`RPCService.isPrivileged`). They count towards
    /// `clients`. The server's reaction beyond the limit is the same.
    public var clientsPerUser = Int.max
    /// The number of the `clients` connections that are kept free for privileged users. At most half of `clients` takes
    /// effect.
    public var reservedClients = 0
    /// The longest time that a client may take to send a request, from its first byte to its last. After it the request
    /// fails with −32600 (HTTP: 408), and the connection is closed.
    public var requestTime = Duration.seconds(30)
    /// The longest time before a client of HTTP begins a request; nil is unlimited. Beyond it the connection is
    /// closed.
    public var idleTime: Duration?
    /// The longest time of a listener's connection on the network without a request that shows a token. A request that
    /// needs none begins the time again. Beyond: the connection is closed.
    public var anonymousTime = Duration.seconds(5)
    /// The highest number of requests of one connection that have begun and are not answered yet. At the limit the
    /// server reads no further requests from the connection.
    public var requestsInFlight = 64
    /// The highest number of requests of one unprivileged user (`RPCService.isPrivileged`) that run at the same time, on
    /// all of its connections. Further requests wait; the connections take turns. Bulk requests and those that wait
    /// (`RPCService.isWaiting`) do not count.
    public var requestsPerUser = 64
    /// The highest number of such requests that may have long answers (`RPCService.hasLongAnswer`). Further ones wait.
    public var longAnswersPerUser = 8
    /// The highest number of bulk requests (`RPCService.isBulk`) of all connections that run at the same time; one more
    /// is reserved for privileged users. Further bulk requests wait. The users take turns, and so do the connections of
    /// each user.
    public var bulkRequests = 2
    /// The highest number of messages of unprivileged clients that are parsed at the same time. Further messages wait.
    /// The users take turns, and so do the connections of each user.
    public var parsedMessages = 2
    /// The highest number of requests in one batch. Beyond: −32600 for the whole batch.
    public var batchRequests = 10_000
    /// The highest number of bytes of all header fields of an HTTP request together with its request line. Beyond: 431,
    /// and the connection is closed.
    public var headerBytes = 32 << 10
    /// The highest number of header fields of an HTTP request. Beyond: 431, and the connection is closed.
    public var headerFields = 128
    /// The number of bytes of output that wait for one client to read them. A notification that would exceed the limit
    /// is refused (`RPCConnection.notify`). Above half of the limit, `isWritable` is false. While answers alone are above
    /// it, the server begins no further requests of the client.
    public var waitingBytes = 1 << 18
    /// The number of bytes of answers that wait to be read on all connections of one user. While more wait, the server
    /// answers the user's requests with −32600 (HTTP routes: 503) and does not carry them out.
    ///
    /// Half of it, but at least one message, is the number of bytes of an unprivileged user's messages that are incomplete,
    /// or have not been carried out. Beyond it, a message that is longer than 4 KiB gets −32600 (HTTP: 503), and its
    /// connection is closed.
    public var waitingBytesPerUser = 32 << 20
    /// The longest time for which the server reads and drops a client's input after the last answer, so that the client
    /// can read that answer before the connection ends.
    public var lingering = Duration.seconds(5)

    public init() {}
}
