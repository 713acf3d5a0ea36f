import JSONRPC

/// Decides whether a request could come from a web page that must not call.
///
/// A page of another site can make a browser send requests to this listener. With a name that the page's site resolves
/// to this machine (DNS rebinding), the browser takes the listener for that site. So `Host` must be a name that the
/// operator listed or an address, which no one can rebind, and `Origin` must be listed or the listener's own.
struct BrowserRules: Hashable, Sendable {
    private let hosts: Set<String>
    private let origins: Set<String>
    private let scheme: String

    init(_ configuration: ListenerConfiguration) {
        hosts = Set(configuration.hosts).union(["localhost"])
        origins = Set(configuration.origins)
        scheme = configuration.tls == nil ? "http" : "https"
    }

    enum Verdict: Hashable, Sendable {
        /// No page sent the request, or the listener's own.
        case allowed
        /// A page of a listed origin sent it.
        case allowedFrom(origin: String)
        /// A browser checks whether a page of a listed origin may send a request (Fetch §4.8).
        case preflight(origin: String)
        case refused(Refusal)
    }

    enum Refusal: String, Hashable, Sendable {
        case host
        case origin
    }

    func judge(_ request: HTTPRequest) -> Verdict {
        let fields = request.headers.filter { $0.name.lowercased() == "host" }
        guard fields.count == 1, let host = fields.first?.value, let name = Self.name(ofHost: host),
            hosts.contains(name) || NumericAddress(name) != nil
        else { return .refused(.host) }
        let given = request.headers.filter { $0.name.lowercased() == "origin" }
        guard let origin = given.first?.value else { return .allowed }
        guard given.count == 1 else { return .refused(.origin) }
        if origins.contains(origin) {
            let isPreflight = request.method == "OPTIONS" && request.header("access-control-request-method") != nil
            return isPreflight ? .preflight(origin: origin) : .allowedFrom(origin: origin)
        }
        return origin.lowercased() == "\(scheme)://\(host.lowercased())" ? .allowed : .refused(.origin)
    }

    var isEncrypted: Bool { scheme == "https" }

    /// True if a request that `judge` allows may be admitted by its cookie: only if the listener's own page or the user
    /// made it.
    ///
    /// With `SameSite=Strict` browsers still send cookies with requests of pages of the same site, as those of another
    /// port. `Origin` and `Sec-Fetch-Site` (Fetch Metadata §2.3) distinguish them.
    func admitsCookie(_ request: HTTPRequest) -> Bool {
        guard isEncrypted, let host = request.header("host") else { return false }
        if let site = request.header("sec-fetch-site")?.lowercased(), site != "same-origin", site != "none" {
            return false
        }
        guard let origin = request.header("origin") else {
            // Browsers send `Origin` with every request that could change something or opens a WebSocket. A `GET` at
            // aria2's paths may be a call.
            return ["GET", "HEAD"].contains(request.method) && request.path != AccessGate.socketPath
                && !Aria2Facade.paths.contains(request.path) && request.header("upgrade") == nil
        }
        return origin.lowercased() == "https://\(host.lowercased())"
    }

    /// The name or address in a `Host` field, in lower case, without port, brackets and a final dot; nil if it has
    /// another form.
    static func name(ofHost field: String) -> String? {
        var text = field.lowercased()
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]"), isPort(text[text.index(after: end)...]) else { return nil }
            text = String(text[text.index(after: text.startIndex)..<end])
            return NumericAddress(text)?.isIPv6 == true ? text : nil
        }
        if let colon = text.firstIndex(of: ":") {
            guard isPort(text[colon...]) else { return nil }
            text = String(text[..<colon])
        }
        if text.hasSuffix(".") { text.removeLast() }
        return text.isEmpty ? nil : text
    }

    private static func isPort(_ text: Substring) -> Bool {
        let digits = text.dropFirst()
        // `UInt16` would read a sign, too.
        return text.isEmpty
            || text.hasPrefix(":") && digits.utf8.allSatisfy { (48...57).contains($0) }
                && UInt16(digits, radix: 10) != nil
    }
}

extension BrowserRules.Refusal {
    /// The answer to the client.
    ///
    /// - Parameter origin: the refused origin, as the browser sent it.
    func answer(origin: String?) -> HTTPAnswer {
        switch self {
        case .host:
            .text(
                "this host name is not among the listener's: add it under listen, hosts, or use an address\n",
                status: 421)
        case .origin:
            .text(
                "web pages of \(Self.shown(origin)) are not allowed: add the origin under listen, origins\n",
                status: 403)
        }
    }

    /// The origin if it is a short line of plain characters.
    private static func shown(_ origin: String?) -> String {
        guard let origin, (1...200).contains(origin.utf8.count), origin.utf8.allSatisfy({ (33...126).contains($0) })
        else { return "this origin" }
        return origin
    }
}
