import XferModel

/// The sender of a response: over an HTTP proxy, the response to an `http` request may be the proxy's own.
enum ResponseSender: Hashable, Sendable {
    case server
    case proxy(String)
    /// The server or the proxy: the response does not show which.
    case serverOrProxy(String)

    init(_ head: ResponseHead) {
        guard let proxy = head.proxy else {
            self = .server
            return
        }
        if head.status == 407 || Self.isProxysOwn(head) {
            self = .proxy(proxy)
        } else {
            self = Self.areProxys.contains(head.status) ? .serverOrProxy(proxy) : .server
        }
    }

    /// Statuses with which proxies refuse requests, or report that they could not forward them.
    private static let areProxys: Set<Int> = [400, 403, 405, 500, 502, 503, 504, 511]

    /// True if the response shows that a proxy made it: `Proxy-Status` with an error (RFC 9209 §2.1.1), a challenge for
    /// the proxy, Squid's error, or the name of a program that is only a proxy.
    private static func isProxysOwn(_ head: ResponseHead) -> Bool {
        if let status = head.value("Proxy-Status"), status.contains("error=") { return true }
        let own = ["Proxy-Authenticate", "X-Squid-Error"]
        if head.fields.contains(where: { field in own.contains { field.name.equalsIgnoringASCIICase($0) } }) {
            return true
        }
        let server = head.value("Server")?.lowercased() ?? ""
        return ["tinyproxy", "privoxy"].contains(where: server.hasPrefix)
    }

    /// The subject of a sentence about the response.
    func name(_ host: String) -> String {
        switch self {
        case .server: host
        case .proxy(let proxy): "the proxy \(proxy)"
        case .serverOrProxy(let proxy): "\(host), or the proxy \(proxy) in its place,"
        }
    }

    /// The proxy that the response may be from.
    var proxy: String? {
        switch self {
        case .server: nil
        case .proxy(let proxy), .serverOrProxy(let proxy): proxy
        }
    }
}
