public import XferModel

/// A user agent's cookies (RFC 6265 §5.3, §5.4), with the protection of secure cookies and the name prefixes of RFC
/// 6265bis.
///
/// A cookie is identified by its name, case-sensitive, its domain and whether that covers subdomains, and its path.
public struct CookieStorage: Sendable {
    private struct Key: Hashable {
        let name: String
        let domain: String
        let includesSubdomains: Bool
        let path: String
    }

    private struct Entry {
        var cookie: RequestCookie
        var isHTTPOnly: Bool
        /// The position in the order of creation. A cookie that replaces another one keeps its position.
        var place: Int
    }

    private var entries: [Key: Entry] = [:]
    private var nextPlace = 0

    /// The highest number of bytes of cookies in a request, as in libcurl: servers refuse longer lines.
    public static let longestField = 8190

    public init() {}

    // MARK: From servers

    /// Stores the cookies that a response sets, and removes those that it expires.
    ///
    /// - Parameters:
    ///   - now: the wall clock, in seconds since 1970.
    ///   - isPublicSuffix: true if registries assign names below a domain. A cookie of such a domain is ignored, or, if
    ///     the domain is the host itself, for that host alone.
    public mutating func receive(
        _ fields: [HeaderField], from url: HTTPURL, at now: Int64, isPublicSuffix: (String) -> Bool
    ) {
        for field in fields where field.name.equalsIgnoringASCIICase("Set-Cookie") {
            guard let set = SetCookie(field.value, at: now),
                let cookie = Self.cookie(set, from: url, isPublicSuffix: isPublicSuffix),
                url.isTrustworthy || !overlaysSecureCookie(cookie)
            else { continue }
            store(cookie, isHTTPOnly: set.isHTTPOnly, at: now)
        }
    }

    /// The cookie that a server sets; nil if it may not set it.
    private static func cookie(
        _ set: SetCookie, from url: HTTPURL, isPublicSuffix: (String) -> Bool
    ) -> RequestCookie? {
        guard url.isTrustworthy || !set.isSecure else { return nil }
        let host = url.cookieHost
        var domain = set.domain
        if let name = domain, isPublicSuffix(name) {
            guard name == host else { return nil }
            domain = nil
        }
        let cookie = RequestCookie(
            domain: domain ?? host, includesSubdomains: domain != nil, path: set.path ?? url.defaultCookiePath,
            isSecure: set.isSecure, expires: set.expires ?? 0, name: set.name, value: set.value)
        guard cookie.isFor(host: host), cookie.problem == nil else { return nil }
        let name = cookie.name.lowercased()
        if name.hasPrefix("__secure-"), !cookie.isSecure { return nil }
        if name.hasPrefix("__host-"), !cookie.isSecure || cookie.includesSubdomains || cookie.path != "/" { return nil }
        return cookie
    }

    /// True if the cookie would be sent with, or instead of, a secure one of the same name. A connection that is not
    /// secure must not set such a cookie.
    private func overlaysSecureCookie(_ cookie: RequestCookie) -> Bool {
        entries.values.contains { entry in
            let other = entry.cookie
            return other.isSecure && other.name == cookie.name
                && (other.covers(host: cookie.domain) || cookie.covers(host: other.domain))
                && cookie.path.isWithin(cookiePath: other.path)
        }
    }

    private mutating func store(_ cookie: RequestCookie, isHTTPOnly: Bool, at now: Int64) {
        let key = Key(
            name: cookie.name, domain: cookie.domain, includesSubdomains: cookie.includesSubdomains, path: cookie.path)
        guard cookie.expires == 0 || cookie.expires > now else {
            entries[key] = nil
            return
        }
        let place = entries[key]?.place ?? nextPlace
        nextPlace = max(nextPlace, place + 1)
        entries[key] = Entry(cookie: cookie, isHTTPOnly: isHTTPOnly, place: place)
    }

    // MARK: To servers

    /// The value of the `Cookie` field of a request, or nil if no cookie applies. Cookies with longer paths come first,
    /// and among equal ones those that were created first. Cookies that do not fit into `longestField` are left out.
    public mutating func field(for url: HTTPURL, at now: Int64) -> String? {
        let isOver: (Entry) -> Bool = { $0.cookie.expires != 0 && $0.cookie.expires <= now }
        if entries.values.contains(where: isOver) { entries = entries.filter { !isOver($0.value) } }
        let host = url.cookieHost
        let path = url.cookiePath
        let isTrustworthy = url.isTrustworthy
        let matching = entries.values.filter { entry in
            entry.cookie.isFor(host: host) && path.isWithin(cookiePath: entry.cookie.path)
                && (isTrustworthy || !entry.cookie.isSecure)
        }
        let sorted = matching.sorted {
            let (left, right) = ($0.cookie.path.utf8.count, $1.cookie.path.utf8.count)
            return left == right ? $0.place < $1.place : left > right
        }
        var field = ""
        for entry in sorted {
            let pair = (field.isEmpty ? "" : "; ") + entry.cookie.name + "=" + entry.cookie.value
            if field.utf8.count + pair.utf8.count <= Self.longestField { field += pair }
        }
        return field.isEmpty ? nil : field
    }

    // MARK: As text

    /// All cookies in the Netscape format, in the order of their creation. Cookies that are for HTTP only have the
    /// prefix `#HttpOnly_`.
    public var lines: [String] {
        entries.values.sorted { $0.place < $1.place }.map { entry in
            (entry.isHTTPOnly ? RequestCookie.httpOnlyPrefix : "") + entry.cookie.netscapeLine
        }
    }

    /// Adds the cookies of lines in the Netscape format, also expired ones. Other lines are ignored.
    public mutating func add(lines: [String]) {
        for line in lines {
            guard let cookie = RequestCookie(netscape: line) else { continue }
            store(cookie, isHTTPOnly: line.hasPrefix(RequestCookie.httpOnlyPrefix), at: 0)
        }
    }
}

extension HTTPURL {
    /// The host in the form that cookies use: IPv6 addresses without brackets.
    public var cookieHost: String { host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host }

    fileprivate var cookiePath: String { String(target.prefix { $0 != "?" }) }

    /// The path of cookies that specify none (RFC 6265 §5.1.4): the request's, up to its last slash.
    fileprivate var defaultCookiePath: String {
        let path = cookiePath
        guard let slash = path.lastIndex(of: "/"), slash > path.startIndex else { return "/" }
        return String(path[..<slash])
    }

    /// True if secure cookies may pass: over https, and to this machine, as in libcurl and browsers.
    fileprivate var isTrustworthy: Bool {
        scheme == .https || ["localhost", "127.0.0.1", "[::1]"].contains(host)
    }
}

extension String {
    /// True if the path matches the cookie's (RFC 6265 §5.1.4): it is equal, or below it.
    fileprivate func isWithin(cookiePath: String) -> Bool {
        let (own, other) = (utf8, cookiePath.utf8)
        guard own.starts(with: other) else { return false }
        return own.count == other.count || other.last == UInt8(ascii: "/")
            || own.dropFirst(other.count).first == UInt8(ascii: "/")
    }
}
