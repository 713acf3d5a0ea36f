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

    /// The cookies that expire last; session cookies are removed first.
    static func longestLived(_ lines: [String], count: Int) -> [String] {
        let sorted = lines.sorted { (Fields($0)?.expiry ?? -1) > (Fields($1)?.expiry ?? -1) }
        return Array(sorted.prefix(count))
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
