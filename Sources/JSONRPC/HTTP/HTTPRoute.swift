/// A resource that the server offers, in addition to `POST /rpc`.
public struct HTTPRoute: Sendable {
    /// Compared with the path of the request, before its `?`.
    public let path: String
    /// True if the route answers all paths that begin with `path`, instead of this one only.
    public let isPrefix: Bool
    /// The methods that it answers. `GET` includes `HEAD`.
    public let methods: [String]
    /// The largest body that it accepts, in bytes; never more than `RPCLimits.messageBytes`.
    public let maxBodyBytes: Int
    /// Makes the answer. Its `Task` is cancelled when the connection closes. For `HEAD` the server sends no
    /// body and starts no stream.
    public let respond: @Sendable (HTTPRequest, RPCConnection) async -> HTTPAnswer

    /// - Parameter methods: a route that answers `POST` gets the request's body.
    public init(
        _ path: String, methods: [String] = ["GET"], maxBodyBytes: Int = .max,
        respond: @escaping @Sendable (HTTPRequest, RPCConnection) async -> HTTPAnswer
    ) {
        self.init(path, isPrefix: false, methods, maxBodyBytes, respond)
    }

    /// A route for all paths that begin with `prefix`.
    public init(
        below prefix: String, methods: [String] = ["GET"],
        respond: @escaping @Sendable (HTTPRequest, RPCConnection) async -> HTTPAnswer
    ) {
        self.init(prefix, isPrefix: true, methods, .max, respond)
    }

    private init(
        _ path: String, isPrefix: Bool, _ methods: [String], _ maxBodyBytes: Int,
        _ respond: @escaping @Sendable (HTTPRequest, RPCConnection) async -> HTTPAnswer
    ) {
        self.path = path
        self.isPrefix = isPrefix
        self.methods = methods.contains("GET") ? methods + ["HEAD"] : methods
        self.maxBodyBytes = maxBodyBytes
        self.respond = respond
    }

    var takesBody: Bool { methods.contains("POST") }
}

/// The routes of a server, found by path.
struct HTTPRouteTable: Sendable {
    private let exact: [String: HTTPRoute]
    /// The routes by prefix, the longest prefix first.
    private let prefixes: [HTTPRoute]

    /// Creates the table of these routes. If two routes have the same path, the last one is used.
    init(_ routes: [HTTPRoute]) {
        exact = Dictionary(routes.filter { !$0.isPrefix }.map { ($0.path, $0) }) { $1 }
        prefixes = Dictionary(routes.filter(\.isPrefix).map { ($0.path, $0) }) { $1 }.values
            .sorted { ($0.path.utf8.count, $0.path) > ($1.path.utf8.count, $1.path) }
    }

    func route(for path: String) -> HTTPRoute? { exact[path] ?? prefixes.first { path.hasPrefix($0.path) } }

    /// The route's methods and paths, shown to a client that requested something else: `GET /metrics`.
    var names: [String] {
        (exact.values + prefixes).sorted { $0.path < $1.path }
            .map { "\($0.methods[0]) \($0.path)\($0.isPrefix ? "…" : "")" }
    }
}

/// The request, as a route gets it (RFC 9110).
public struct HTTPRequest: Sendable {
    /// One of the route's methods.
    public let method: String
    public let path: String
    /// The text after `?`, still percent-encoded; nil if the target has no `?`.
    public let query: String?
    /// All header fields in the order of the request.
    public let headers: [(name: String, value: String)]
    /// Empty unless the route answers `POST`, and while a gate decides.
    public var body: [UInt8] = []

    public init(method: String, path: String, query: String?, headers: [(name: String, value: String)]) {
        self.method = method
        self.path = path
        self.query = query
        self.headers = headers
    }

    /// The first header field of that name, compared without case.
    public func header(_ name: String) -> String? {
        headers.first { $0.name.utf8.count == name.utf8.count && $0.name.lowercased() == name.lowercased() }?.value
    }
}

/// A route's answer.
public struct HTTPAnswer: Sendable {
    public enum Body: Sendable {
        case bytes([UInt8])
        /// Content that is sent chunk by chunk, each after the socket has accepted the previous one; ends with the
        /// sequence. An error closes the connection without the body's end, so that the client can detect it. So does a
        /// sequence whose length in bytes differs from an announced length.
        case stream(any AsyncSequence<[UInt8], any Error> & Sendable, length: Int64? = nil)
    }

    public var status: Int
    public var contentType: String
    /// Further header fields. `Content-Length`, `Transfer-Encoding`, `Connection` and `Date` are the server's.
    public var headers: [(name: String, value: String)]
    public var body: Body

    public init(
        status: Int = 200, contentType: String, headers: [(name: String, value: String)] = [], body: Body
    ) {
        self.status = status
        self.contentType = contentType
        self.headers = headers
        self.body = body
    }

    /// An answer with plain text for people.
    public static func text(_ text: String, status: Int = 200) -> HTTPAnswer {
        HTTPAnswer(status: status, contentType: "text/plain; charset=utf-8", body: .bytes(Array(text.utf8)))
    }
}
