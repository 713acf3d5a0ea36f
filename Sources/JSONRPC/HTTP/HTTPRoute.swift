/// A resource that the server offers by `GET` and `HEAD`, in addition to `POST /rpc`.
public struct HTTPRoute: Sendable {
    /// Compared with the whole path of the request, before its `?`.
    public let path: String
    /// Makes the answer. Its `Task` is cancelled when the connection closes. For `HEAD` the server sends no
    /// body and starts no stream.
    public let respond: @Sendable (HTTPRequest, RPCConnection) async -> HTTPAnswer

    public init(_ path: String, respond: @escaping @Sendable (HTTPRequest, RPCConnection) async -> HTTPAnswer) {
        self.path = path
        self.respond = respond
    }
}

/// The request, as a route gets it (RFC 9110).
public struct HTTPRequest: Sendable {
    /// For a route `GET` or `HEAD`.
    public let method: String
    public let path: String
    /// The text after `?`, still percent-encoded; nil if the target has no `?`.
    public let query: String?
    /// All header fields in the order they came.
    public let headers: [(name: String, value: String)]

    public init(method: String, path: String, query: String?, headers: [(name: String, value: String)]) {
        self.method = method
        self.path = path
        self.query = query
        self.headers = headers
    }

    /// The first header field of that name, whatever its case.
    public func header(_ name: String) -> String? {
        headers.first { $0.name.utf8.count == name.utf8.count && $0.name.lowercased() == name.lowercased() }?.value
    }
}

/// A route's answer.
public struct HTTPAnswer: Sendable {
    public enum Body: Sendable {
        case bytes([UInt8])
        /// Sent chunk by chunk, each after the socket has accepted the previous one; ends with the sequence. An error
        /// closes the connection without the body's end, so that the client can detect it.
        case stream(any AsyncSequence<[UInt8], any Error> & Sendable)
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

    /// Plain text for people.
    public static func text(_ text: String, status: Int = 200) -> HTTPAnswer {
        HTTPAnswer(status: status, contentType: "text/plain; charset=utf-8", body: .bytes(Array(text.utf8)))
    }
}
