/// The writes after which the store contains a jar's persistent cookies.
struct CookieChanges: Hashable {
    /// The identity of a cookie (RFC 6265 §5.3). A domain with a leading dot also covers the hosts below it.
    struct Key: Hashable {
        var domain: String
        var path: String
        var name: String
    }

    var written: [Key: String]
    var removed: [Key]

    var isEmpty: Bool { written.isEmpty && removed.isEmpty }

    init(from before: [Key: String], to now: [Key: String]) {
        written = now.filter { before[$0.key] != $0.value }
        removed = before.keys.filter { now[$0] == nil }
    }

    /// The persistent cookies among a jar's lines: those that expire after `now`, in seconds since 1970.
    static func byKey(_ lines: [String], at now: Int64) -> [Key: String] {
        var found: [Key: String] = [:]
        for line in lines {
            guard let cookie = Fields(line), cookie.expiry > now else { continue }
            found[cookie.key] = line
        }
        return found
    }

    /// The expired cookies among a jar's lines.
    static func expired(_ lines: [Key: String], at now: Int64) -> [Key: String] {
        lines.filter { Fields($0.value).map { $0.expiry <= now } ?? false }
    }

    /// The number of cookies of a domain that those of other domains do not displace (RFC 6265 §6.1).
    static let mostOfDomain = 50

    /// The cookies that stay in a full jar, in the order of `lines`.
    ///
    /// Cookies beyond `mostOfDomain` of their domain are removed first (RFC 6265 §5.3), so that one site cannot remove
    /// the logins of others. Among equals those that expire last stay; session cookies are removed first.
    static func kept(_ lines: [String], count: Int) -> [String] {
        var counts: [String: Int] = [:]
        var ranked = lines.enumerated().map { (place: $0.offset, fields: Fields($0.element), isExcess: false) }
        ranked.sort { ($0.fields?.expiry ?? -1) > ($1.fields?.expiry ?? -1) }
        for index in ranked.indices {
            guard let domain = ranked[index].fields?.key.domain else { continue }
            let before = counts[domain, default: 0]
            ranked[index].isExcess = before >= mostOfDomain
            counts[domain] = before + 1
        }
        let chosen = (ranked.filter { !$0.isExcess } + ranked.filter { $0.isExcess }).prefix(count)
        return chosen.map { $0.place }.sorted().map { lines[$0] }
    }

    /// A line of the Netscape format: domain, tail match, path, secure, expiry, name, value.
    private struct Fields {
        var key: Key
        /// Seconds since 1970; 0 for a session cookie.
        var expiry: Int64

        init?(_ line: String) {
            let fields = line.split(separator: "\t", maxSplits: 6, omittingEmptySubsequences: false)
            guard fields.count == 7, let expiry = Int64(fields[4], radix: 10) else { return nil }
            let httpOnly = "#HttpOnly_"
            let domain = fields[0].hasPrefix(httpOnly) ? fields[0].dropFirst(httpOnly.utf8.count) : fields[0]
            key = Key(domain: String(domain), path: String(fields[2]), name: String(fields[5]))
            self.expiry = expiry
        }
    }
}
