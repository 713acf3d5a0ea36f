import XferModel
import XferProtocol

/// Cookies in the Netscape format, as browsers, curl and yt-dlp write them.
///
/// Lines that are not cookies are ignored, as in curl and wget.
struct CookieFile {
    let cookies: [RequestCookie]
    /// Numbers of the lines that are neither cookies nor comments.
    let skipped: [Int]
    private let bySite: [String: [RequestCookie]]

    /// The highest number of cookies that a task can have (`cookie_list`).
    static let mostCookies = 1000

    /// The highest number of cookies that are sent regardless of their sites. With more, such as a browser's whole
    /// export, a task gets only those of its sources' sites, because it stores them.
    static let mostOfAnySite = 100

    init(_ bytes: [UInt8]) {
        var rest = bytes[...]
        if rest.starts(with: [0xef, 0xbb, 0xbf]) { rest = rest.dropFirst(3) }
        var cookies: [RequestCookie] = []
        var skipped: [Int] = []
        for (index, bytes) in rest.split(separator: 0x0a, omittingEmptySubsequences: false).enumerated() {
            let line = bytes.last == 0x0d ? bytes.dropLast() : bytes
            let isComment = line.first == UInt8(ascii: "#") && !line.starts(with: RequestCookie.httpOnlyPrefix.utf8)
            if isComment || line.allSatisfy({ $0 == 0x20 || $0 == 0x09 }) { continue }
            if let cookie = String(validating: line, as: UTF8.self).flatMap({ RequestCookie(netscape: $0) }) {
                cookies.append(cookie)
            } else {
                skipped.append(index + 1)
            }
        }
        self.cookies = cookies
        self.skipped = skipped
        bySite = Dictionary(grouping: cookies) { Self.site($0.domain) }
    }

    /// - Parameters:
    ///   - option: the option with the file, for the error.
    ///   - path: the file that has the bytes, for the error.
    /// - Throws: a usage error if no line is a cookie.
    init(_ bytes: [UInt8], option: String, path: String) throws(CommandFailure) {
        self.init(bytes)
        let name = SafeText.sanitised(path == "-" ? "standard input" : path)
        guard cookies.isEmpty else { return }
        guard let line = skipped.first else { throw .usage("\(option): \(name) has no cookies") }
        throw .usage(
            "\(option): \(name) has no cookies; expected lines of seven fields with tabs between (domain, TRUE or FALSE, "
                + "path, TRUE or FALSE, seconds, name, value), found another form in line \(line)")
    }

    /// Reads the file of `-b`, or standard input for `-`, and warns of lines that are left out.
    static func read(_ path: String) throws(CommandFailure) -> CookieFile {
        let file = try CookieFile(try FileText.bytes(path, option: "-b"), option: "-b", path: path)
        if let warning = file.warning(option: "-b", path: path) { Output.error.line("xferctl: \(warning)") }
        return file
    }

    /// A warning of the lines that are left out; nil if there are none.
    func warning(option: String, path: String) -> String? {
        guard let first = skipped.first else { return nil }
        let name = SafeText.sanitised(path == "-" ? "standard input" : path)
        let lines =
            skipped.count == 1
            ? "line \(first) of \(name) is not a cookie"
            : "\(skipped.count) lines of \(name) "
                + "are not cookies, the first is line \(first)"
        let rest =
            switch cookies.count {
            case 0: "no cookie is left"
            case 1: "the one cookie left is used"
            default: "the other \(cookies.count) are used"
            }
        return "warning: \(option): \(lines); \(rest)"
    }

    /// The cookies for a task with these sources: all of a small file, since redirects may lead anywhere, else those of
    /// the sources' sites, first those for the sources' hosts.
    func records(for urls: [String]) -> [CookieRecord] {
        let hosts = urls.map(Self.host)
        guard cookies.count > Self.mostOfAnySite, !hosts.contains(nil), !hosts.isEmpty else {
            return cookies.prefix(Self.mostCookies).map { CookieRecord($0) }
        }
        let names = hosts.compactMap(\.self)
        let found = Set(names.map(Self.site)).sorted().flatMap { bySite[$0] ?? [] }
        let direct = found.filter { cookie in names.contains { cookie.isFor(host: $0) } }
        let others = found.filter { cookie in !names.contains { cookie.isFor(host: $0) } }
        return (direct + others).prefix(Self.mostCookies).map { CookieRecord($0) }
    }

    /// The last two labels of a name, or an address. Names of a longer public suffix share a site, which does no harm:
    /// the daemon sends each cookie to its domain only.
    private static func site(_ host: String) -> String {
        if IPAddress(host) != nil { return host }
        return host.split(separator: ".").suffix(2).joined(separator: ".")
    }

    /// The host of an absolute URL in lower case; nil if the text has none, or one that is not ASCII.
    private static func host(_ url: String) -> String? {
        guard let scheme = url.firstRange(of: "://") else { return nil }
        let authority = url[scheme.upperBound...].prefix { !"/?#".contains($0) }
        let place = authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
        let host = place.hasPrefix("[") ? place.dropFirst().prefix { $0 != "]" } : place.prefix { $0 != ":" }
        return host.isEmpty || !host.utf8.allSatisfy { $0 < 0x80 } ? nil : host.lowercased()
    }
}
