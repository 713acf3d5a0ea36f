import XferModel

/// A cookie as libcurl writes it (CURLINFO_COOKIELIST(3)) and the fields that identify it (RFC 6265 §5.3).
public struct StoredCookie: Hashable, Sendable {
    public var domain: String
    public var path: String
    public var name: String
    /// The whole cookie in the Netscape format.
    public var line: String

    public init(domain: String, path: String, name: String, line: String) {
        self.domain = domain
        self.path = path
        self.name = name
        self.line = line
    }
}

extension StoreReader {
    /// The profile's jar.
    public func cookies(ofProfile name: String) throws(StoreError) -> [StoredCookie] {
        try connection.all(
            "SELECT domain, path, name, line FROM cookie WHERE profile = ?1 ORDER BY domain, path, name", .text(name)
        ) { StoredCookie(domain: $0.text(0), path: $0.text(1), name: $0.text(2), line: $0.text(3)) }
    }
}

extension StoreTransaction {
    public func setCookie(_ cookie: StoredCookie, ofProfile profile: String) throws(StoreError) {
        try connection.run(
            "INSERT OR REPLACE INTO cookie (profile, domain, path, name, line) VALUES (?1, ?2, ?3, ?4, ?5)",
            .text(profile), .text(cookie.domain), .text(cookie.path), .text(cookie.name), .text(cookie.line))
    }

    public func removeCookie(domain: String, path: String, name: String, ofProfile profile: String) throws(StoreError) {
        try connection.run(
            "DELETE FROM cookie WHERE profile = ?1 AND domain = ?2 AND path = ?3 AND name = ?4", .text(profile),
            .text(domain), .text(path), .text(name))
    }
}
