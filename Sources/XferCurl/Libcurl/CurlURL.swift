import CCurl
import Glibc
public import XferModel

/// Parses URLs with libcurl's parser (curl_url_set(3)), so that the stored URL is the one that libcurl requests.
public enum CurlURL {
    /// An absolute URL and the user info that was split off from it.
    public struct Parsed: Hashable, Sendable {
        public let url: HTTPURL
        public let credential: Credential?

        public init(url: HTTPURL, credential: Credential?) {
            self.url = url
            self.credential = credential
        }
    }

    /// True if a text begins with a scheme, known or not (RFC 3986 §4.3). Such a text is not a relative reference.
    public static func isAbsolute(_ text: String) -> Bool {
        text.firstIndex(of: ":").map { isScheme(text[..<$0]) } ?? false
    }

    /// Longest text that is accepted, in bytes.
    public static let maxLength = 16 << 10

    /// Reads an absolute `http` or `https` URL. The fragment is removed, dot segments are removed, the host is lower
    /// case and in Punycode, octets beyond ASCII are percent-encoded.
    ///
    /// - Parameter keepsPath: dot segments stay.
    public static func parse(_ text: String, keepsPath: Bool = false) throws(URLSyntaxError) -> Parsed {
        try check(text)
        if text.utf8.contains(UInt8(ascii: " ")) { throw .whitespace }
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")), isScheme(text[..<colon]) else {
            throw .noScheme
        }
        let scheme = text[..<colon].lowercased()
        guard let known = HTTPURL.Scheme(rawValue: scheme) else { throw .unsupportedScheme(scheme) }
        // libcurl accepts one slash or three instead of two.
        let authority = text.utf8[colon...].dropFirst()
        guard authority.starts(with: "//".utf8), !authority.starts(with: "///".utf8) else { throw .noHost }
        let handle = try URLHandle()
        let flags = keepsPath ? UInt32(CURLU_URLENCODE | CURLU_PATH_AS_IS) : UInt32(CURLU_URLENCODE)
        try handle.set(text, flags: flags)
        return Parsed(url: try handle.url(scheme: known), credential: try handle.credential())
    }

    /// Resolves a `Location` against the URL of its response (RFC 3986 §5). User info in it is removed, spaces in it
    /// are percent-encoded.
    public static func resolve(_ reference: String, against base: HTTPURL) throws(URLSyntaxError) -> HTTPURL {
        try check(reference)
        let reference = reference.prefix { $0 != "#" }
        if reference.isEmpty { return base }
        let handle = try URLHandle()
        try handle.set(base.string, flags: 0)
        try handle.set(
            String(reference), flags: UInt32(CURLU_URLENCODE | CURLU_ALLOW_SPACE | CURLU_NON_SUPPORT_SCHEME))
        let scheme = try handle.part(CURLUPART_SCHEME) ?? ""
        guard let known = HTTPURL.Scheme(rawValue: scheme.lowercased()) else { throw .unsupportedScheme(scheme) }
        return try handle.url(scheme: known)
    }

    private static func check(_ text: String) throws(URLSyntaxError) {
        if text.isEmpty { throw .empty }
        if text.utf8.count > maxLength { throw .tooLong(limit: maxLength) }
        for scalar in text.unicodeScalars {
            if scalar.value < 0x20 || (0x7f..<0xa0).contains(scalar.value) { throw .controlCharacter }
            if scalar.value >= 0xa0, scalar.properties.isWhitespace { throw .whitespace }
        }
    }

    /// True for a scheme (RFC 3986 §3.1).
    private static func isScheme(_ text: Substring) -> Bool {
        guard let first = text.utf8.first, first.isLetter else { return false }
        return text.utf8.allSatisfy { $0.isLetter || $0.isDigit || "+-.".utf8.contains($0) }
    }
}

/// A `CURLU`, freed at the end of its scope.
private struct URLHandle: ~Copyable {
    private let handle: OpaquePointer

    init() throws(URLSyntaxError) {
        guard let handle = curl_url() else { throw .malformed("out of memory") }
        self.handle = handle
    }

    deinit { curl_url_cleanup(handle) }

    borrowing func set(_ text: String, flags: UInt32) throws(URLSyntaxError) {
        let code = curl_url_set(handle, CURLUPART_URL, text, flags)
        guard code == CURLUE_OK else { throw Self.error(code) }
    }

    /// A part of the URL, or nil if the URL has no such part.
    borrowing func part(_ part: CURLUPart, flags: UInt32 = 0) throws(URLSyntaxError) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        let code = curl_url_get(handle, part, &text, flags)
        defer { curl_free(text) }
        switch code {
        case CURLUE_OK: return text.map { String(cString: $0) }
        case CURLUE_NO_USER, CURLUE_NO_PASSWORD, CURLUE_NO_QUERY, CURLUE_NO_PORT, CURLUE_NO_ZONEID: return nil
        default: throw Self.error(code)
        }
    }

    borrowing func url(scheme: HTTPURL.Scheme) throws(URLSyntaxError) -> HTTPURL {
        guard let host = try host(), !host.isEmpty else { throw .noHost }
        // libcurl accepts more characters than a name, or an address, can have.
        let isName = host.utf8.allSatisfy { $0.isLetter || $0.isDigit || "-._~".utf8.contains($0) }
        guard isName || host.hasPrefix("[") else { throw .badHost }
        guard let text = try part(CURLUPART_PORT, flags: UInt32(CURLU_DEFAULT_PORT)),
            let port = UInt16(text, radix: 10), port > 0
        else { throw .badPort }
        let path = try part(CURLUPART_PATH) ?? "/"
        let query = try part(CURLUPART_QUERY).map { "?" + $0 } ?? ""
        return HTTPURL(scheme: scheme, host: host, port: port, target: path + query)
    }

    borrowing func credential() throws(URLSyntaxError) -> Credential? {
        guard let user = try part(CURLUPART_USER, flags: UInt32(CURLU_URLDECODE)) else { return nil }
        let password = try part(CURLUPART_PASSWORD, flags: UInt32(CURLU_URLDECODE))
        return Credential(user: user, password: password ?? "")
    }

    private borrowing func host() throws(URLSyntaxError) -> String? {
        let host = try UTF8Locale.within { () throws(URLSyntaxError) in
            try part(CURLUPART_HOST, flags: UInt32(CURLU_PUNYCODE))
        }
        guard let host, host.hasPrefix("["), let zone = try part(CURLUPART_ZONEID) else { return host?.lowercased() }
        return "\(host.dropLast())%25\(zone)]"
    }

    private static func error(_ code: CURLUcode) -> URLSyntaxError {
        switch code {
        case CURLUE_NO_HOST: .noHost
        case CURLUE_BAD_HOSTNAME, CURLUE_BAD_IPV6, CURLUE_LACKS_IDN: .badHost
        case CURLUE_BAD_PORT_NUMBER: .badPort
        case CURLUE_NO_SCHEME, CURLUE_BAD_SCHEME: .noScheme
        case CURLUE_UNSUPPORTED_SCHEME: .unsupportedScheme("")
        default: .malformed(String(cString: curl_url_strerror(code)))
        }
    }
}

/// libidn2, with which libcurl converts names into Punycode, reads them in the locale's character set.
private enum UTF8Locale {
    /// `@unchecked Sendable`: a locale object is never changed once it is created (newlocale(3)).
    private struct Locale: @unchecked Sendable {
        let pointer: locale_t?
    }

    private static let locale = Locale(pointer: newlocale(LC_CTYPE_MASK, "C.UTF-8", nil))

    /// Runs the body with the calling thread's character set being UTF-8.
    static func within<Value>(_ body: () throws(URLSyntaxError) -> Value) throws(URLSyntaxError) -> Value {
        guard let pointer = locale.pointer else { return try body() }
        let previous = uselocale(pointer)
        defer { uselocale(previous) }
        return try body()
    }
}

extension UInt8 {
    /// ASCII's letters and digits.
    fileprivate var isLetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20) }
    fileprivate var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
}

/// The reason why a text is not a URL that can be fetched.
public enum URLSyntaxError: Error, Hashable, Sendable, CustomStringConvertible {
    case empty
    case tooLong(limit: Int)
    case controlCharacter
    case whitespace
    case noScheme
    case unsupportedScheme(String)
    case noHost
    case badHost
    case badPort
    case malformed(String)

    /// A sentence without the text itself, which may contain secrets.
    public var description: String {
        switch self {
        case .empty: "the URL is empty"
        case .tooLong(let limit): "the URL is longer than \(limit) bytes"
        case .controlCharacter: "the URL contains a control character"
        case .whitespace: "the URL contains white space; write it as %20"
        case .noScheme: "the URL has no scheme, expected http:// or https://"
        case .unsupportedScheme(let scheme): "scheme \"\(scheme)\" is not supported, expected http or https"
        case .noHost: "the URL has no host"
        case .badHost: "the URL's host name is not valid"
        case .badPort: "the URL's port is not a number from 1 to 65535"
        case .malformed(let detail): "the URL is malformed: \(detail)"
        }
    }
}

extension HostPattern {
    /// Reads a pattern in an operator's form: an internationalised name is converted as libcurl converts it in a URL,
    /// so that pattern and host agree.
    public static func parse(_ text: String) throws(HostPatternError) -> HostPattern {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return try HostPattern(text) }
        let prefix = ["*.", "."].first { text.hasPrefix($0) } ?? ""
        let rest = text.dropFirst(prefix.count)
        let name = rest.prefix { $0 != ":" }
        guard !name.contains(where: { "/@?#[]".contains($0) }), let host = Self.host(name) else {
            throw HostPatternError(pattern: text, problem: .badName)
        }
        return try HostPattern(prefix + host + rest.dropFirst(name.count))
    }

    private static func host(_ name: Substring) -> String? {
        do throws(URLSyntaxError) {
            return try CurlURL.parse("https://\(name)/").url.host
        } catch {
            return nil
        }
    }
}
