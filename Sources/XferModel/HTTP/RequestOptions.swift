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
