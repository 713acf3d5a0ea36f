/// The treatment of an `http` URL of a host that has demanded https (RFC 6797).
public enum StrictTransportMode: String, Sendable, Codable, CaseIterable {
    /// The request is made over https.
    case upgrade
    /// The request is refused.
    case deny
    /// Nothing is recorded, and `http` URLs are requested unchanged.
    case off
}

/// A host that has demanded https with `Strict-Transport-Security`.
public struct SecureHost: Hashable, Sendable {
    /// A domain name in lower case, without a final dot.
    public var host: String
    /// True if its subdomains are only requested over https, too.
    public var includesSubdomains: Bool
    public var expiresAt: Timestamp
    /// The time of the host's last field.
    public var notedAt: Timestamp

    public init(host: String, includesSubdomains: Bool, expiresAt: Timestamp, notedAt: Timestamp) {
        self.host = host
        self.includesSubdomains = includesSubdomains
        self.expiresAt = expiresAt
        self.notedAt = notedAt
    }
}
