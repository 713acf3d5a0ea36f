/// What is sent to the server and how long to wait for it.
public struct TransferRequest: Hashable, Sendable, Codable {
    public var url: HTTPURL
    public var method: HTTPMethod
    /// The client's own header fields, in order.
    public var headers: [HeaderField]
    /// Sent to `url`'s origin only.
    public var credential: Credential?
    public var redirect: RedirectPolicy
    /// Whether a redirect may lead from https to http.
    public var allowsDowngrade: Bool
    public var httpVersion: HTTPVersion
    public var timeouts: Timeouts
    /// Status codes that count as success.
    public var acceptedStatus: ClosedRange<Int>

    public init(
        url: HTTPURL, method: HTTPMethod = .get, headers: [HeaderField] = [], credential: Credential? = nil,
        redirect: RedirectPolicy = .follow, allowsDowngrade: Bool = false, httpVersion: HTTPVersion = .automatic,
        timeouts: Timeouts = Timeouts(), acceptedStatus: ClosedRange<Int> = 200...299
    ) {
        self.url = url
        self.method = method
        self.headers = headers
        self.credential = credential
        self.redirect = redirect
        self.allowsDowngrade = allowsDowngrade
        self.httpVersion = httpVersion
        self.timeouts = timeouts
        self.acceptedStatus = acceptedStatus
    }
}

/// Request methods (RFC 9110 §9).
public enum HTTPMethod: String, Sendable, Codable, CaseIterable {
    case get = "GET"
}

/// User name and password for HTTP basic authentication (RFC 7617). Stored, never shown.
public struct Credential: Hashable, Sendable, Codable, CustomStringConvertible {
    public let user: String
    public let password: String

    public init(user: String, password: String) {
        self.user = user
        self.password = password
    }

    public var description: String { "***" }
}

/// What to do with a 3xx that names another place.
public enum RedirectPolicy: String, Sendable, Codable, CaseIterable {
    case follow
    /// Follow only while scheme, host and port stay the same.
    case sameOrigin = "same_origin"
    case deny
}

public enum HTTPVersion: String, Sendable, Codable, CaseIterable {
    /// HTTP/2 by ALPN over TLS, else HTTP/1.1.
    case automatic = "auto"
    case http1 = "1.1"
    case http2 = "2"
}

/// Limits in seconds; 0 is none.
public struct Timeouts: Hashable, Sendable, Codable {
    /// Name resolution, TCP and TLS together.
    public var connect: Double
    /// No byte for that long ends the attempt; a slow but steady transfer never times out.
    public var idle: Double
    /// One attempt from start to end.
    public var total: Double

    public init(connect: Double = 30, idle: Double = 60, total: Double = 0) {
        self.connect = connect
        self.idle = idle
        self.total = total
    }
}
