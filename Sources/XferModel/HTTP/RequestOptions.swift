/// The treatment of a 3xx response that refers to another URL.
public enum RedirectPolicy: String, Sendable, Codable, CaseIterable {
    case follow
    /// Redirects are followed only while scheme, host and port stay the same.
    case sameOrigin = "same_origin"
    case deny
}

public enum HTTPVersion: String, Sendable, Codable, CaseIterable {
    /// HTTP/2 by ALPN over TLS, otherwise HTTP/1.1.
    case automatic = "auto"
    case http1 = "1.1"
    case http2 = "2"
}

/// Limits in seconds; 0 is none.
public struct Timeouts: Hashable, Sendable, Codable {
    /// The timeout for name resolution, TCP and TLS together, in seconds.
    public var connect: Double
    /// The time without a byte, in seconds, after which the attempt ends; a slow but steady transfer never times out.
    public var idle: Double
    /// The timeout of one attempt from start to end, in seconds.
    public var total: Double

    public init(connect: Double = 30, idle: Double = 60, total: Double = 0) {
        self.connect = connect
        self.idle = idle
        self.total = total
    }
}

/// The least rate at which an attempt has to receive. A slower one ends, and a retry follows.
public struct LeastRate: Hashable, Sendable, Codable {
    /// Bytes per second; 0 is none; nil is the service's setting.
    public var rate: Int64?
    /// Seconds over which that is measured; nil is the service's setting.
    public var time: Double?

    public init(rate: Int64? = nil, time: Double? = nil) {
        self.rate = rate
        self.time = time
    }
}

/// The proxy of a request.
public struct ProxySettings: Hashable, Sendable, Codable {
    /// `http://`, `https://`, `socks5://` or `socks5h://` with host and port, without user info.
    public var url: String
    /// The credential for the proxy.
    public var credential: Credential?
    /// Hosts that are reached directly: names with their subdomains, addresses and CIDR blocks (CURLOPT_NOPROXY(3)).
    public var exceptions: [String]

    public init(url: String, credential: Credential? = nil, exceptions: [String] = []) {
        self.url = url
        self.credential = credential
        self.exceptions = exceptions
    }
}

/// The treatment of the response of a `data` or `upload` task.
public struct ResponseHandling: Hashable, Sendable, Codable {
    /// The parsers that are tried in this order on the whole body; empty parses nothing.
    public var parsers: [ResponseParser]
    /// Removes null values of objects at any depth; nulls in arrays stay. AFJSONResponseSerializer's
    /// `removesKeysWithNullValues`.
    public var stripsNulls: Bool

    public init(parsers: [ResponseParser] = [], stripsNulls: Bool = false) {
        self.parsers = parsers
        self.stripsNulls = stripsNulls
    }
}

/// A way to parse a response's body into an object.
public enum ResponseParser: String, Sendable, Codable, CaseIterable {
    /// RFC 8259; an empty body or a single space is null.
    case json
}

/// The treatment of digests that the server announces (`Repr-Digest` and similar fields).
public enum AnnouncedDigests: String, Sendable, Codable, CaseIterable {
    /// Finished bytes have to match them, unless the task demands a digest of its own.
    case verify
    /// The digests are ignored, because the server announces wrong ones.
    case ignore
}

/// A decision about a redirect.
public enum RedirectDecision: String, Sendable, Codable, CaseIterable {
    case followed
    /// The request's options do not allow it: the attempt fails.
    case refused
    /// The redirect is not followed, and its response is the result.
    case delivered
    /// No redirect of the server's: the host has demanded https (RFC 6797), and the `http` URL is not requested.
    case upgraded
}
