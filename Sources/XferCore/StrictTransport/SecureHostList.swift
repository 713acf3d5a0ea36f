public import XferModel

/// The hosts that have demanded https (RFC 6797). Bounded: the hosts with the oldest demands are removed.
public struct SecureHostList: Hashable, Sendable {
    /// The highest number of hosts.
    public static let maxCount = 4096
    /// The number of hosts that are removed at once when the list is full, so that a full list is not searched for each
    /// new host.
    private static let evictedAtOnce = maxCount / 16
    /// The longest lifetime: a longer one counts as ten years.
    private static let longestAge: Int64 = 315_360_000

    private struct Entry: Hashable {
        var host: SecureHost
        /// The end of the demand at the last essential change.
        var keptUntil: Timestamp
    }

    private var byName: [String: Entry]

    /// Keeps the latest `maxCount` of the hosts.
    public init(_ hosts: [SecureHost] = []) {
        let latest = hosts.sorted { $0.notedAt > $1.notedAt }.prefix(Self.maxCount)
        byName = Dictionary(latest.map { ($0.host, Entry(host: $0, keptUntil: $0.expiresAt)) }) { first, _ in first }
    }

    /// All hosts by name, expired ones too.
    public var all: [SecureHost] { byName.values.map(\.host).sorted { $0.host < $1.host } }

    /// The URL that is requested in place of an `http` URL of a known host (§8.3); nil if there is none.
    public func secured(_ url: HTTPURL, at now: Timestamp) -> HTTPURL? {
        guard url.scheme == .http, !byName.isEmpty, let name = Self.name(ofHost: url.host), isKnown(name, at: now)
        else { return nil }
        let port = url.port == HTTPURL.Scheme.http.defaultPort ? HTTPURL.Scheme.https.defaultPort : url.port
        return HTTPURL(scheme: .https, host: url.host, port: port, target: url.target)
    }

    /// True if the host itself, or a domain above it with its subdomains, is known (§8.2).
    private func isKnown(_ name: String, at now: Timestamp) -> Bool {
        if let own = byName[name]?.host, own.expiresAt > now { return true }
        var rest = name[...]
        while let dot = rest.firstIndex(of: ".") {
            rest = rest[rest.index(after: dot)...]
            if let above = byName[String(rest)]?.host, above.includesSubdomains, above.expiresAt > now { return true }
        }
        return false
    }

    /// A change of the list: by a host's field, or on request.
    public struct Change: Hashable, Sendable {
        /// The new state of the host; nil if it was removed.
        public var known: SecureHost?
        /// Hosts that were removed.
        public var forgotten: [String] = []
        /// True if the change has to be kept: it is more than a later end of the same demand.
        public var isEssential = true

        public init(known: SecureHost? = nil, forgotten: [String] = [], isEssential: Bool = true) {
            self.known = known
            self.forgotten = forgotten
            self.isEssential = isEssential
        }
    }

    /// The least extension of an unchanged demand that is stored, in seconds.
    private static let worthKeeping: Int64 = 86_400

    /// Applies the field of a response over a faultless TLS connection (§8.1). Returns nil if it changes nothing: the
    /// host is an IP address, or an unknown host withdraws its demand.
    public mutating func apply(_ field: StrictTransportField, of host: String, at now: Timestamp) -> Change? {
        guard let name = Self.name(ofHost: host) else { return nil }
        let before = byName[name]
        guard field.maxAge > 0 else {
            guard before != nil else { return nil }
            byName[name] = nil
            return Change(forgotten: [name])
        }
        var forgotten: [String] = []
        if before == nil, byName.count >= Self.maxCount { forgotten = evict(at: now) }
        let age = min(field.maxAge, Self.longestAge)
        let known = SecureHost(
            host: name, includesSubdomains: field.includesSubdomains, expiresAt: now.advanced(by: .seconds(age)),
            notedAt: now)
        if let before, before.host.includesSubdomains == known.includesSubdomains {
            let latest = before.keptUntil.advanced(by: .seconds(Self.worthKeeping))
            if (before.keptUntil...latest).contains(known.expiresAt) {
                byName[name]?.host = known
                return Change(known: known, isEssential: false)
            }
        }
        byName[name] = Entry(host: known, keptUntil: known.expiresAt)
        return Change(known: known, forgotten: forgotten)
    }

    /// Removes these hosts. Returns those that were known.
    public mutating func remove(_ hosts: [String]) -> [String] {
        hosts.compactMap { host in
            guard let name = Self.name(ofHost: host), byName.removeValue(forKey: name) != nil else {
                return nil
            }
            return name
        }
    }

    /// Removes expired hosts, and then those with the oldest records.
    private mutating func evict(at now: Timestamp) -> [String] {
        let hosts = byName.values.map(\.host)
        var gone = hosts.filter { $0.expiresAt <= now }.map(\.host)
        if gone.isEmpty {
            gone = hosts.sorted { $0.notedAt < $1.notedAt }.prefix(Self.evictedAtOnce).map(\.host)
        }
        for host in gone { byName[host] = nil }
        return gone
    }

    /// A domain name as the list has it; nil for an IP address, to which the field does not apply (§8.1).
    public static func name(ofHost host: String) -> String? {
        guard case .domain(let name) = ServerName(host: host), !name.isEmpty else { return nil }
        return name
    }
}
