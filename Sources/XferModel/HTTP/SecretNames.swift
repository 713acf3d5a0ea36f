/// The names of header fields and URL parameters whose values are secrets. The only other list has the operator's
/// patterns.
///
/// Names are compared without case. Separators divide a name into words, and so does an upper-case letter after a
/// lower-case one: `X-Api-Key`, `api_key` and `apiKey` have the words `api` and `key`.
public enum SecretNames {
    /// Fragments that make a name secret wherever they occur in it. They are bytes, since every name of every listed
    /// header field is searched for them: `String.contains` takes a hundred times as long.
    private static let fragments = [
        "secret", "password", "passwd", "passphrase", "token", "credential", "signature", "authorization", "cookie",
        "session", "sessid", "jwt", "bearer", "hmac", "saml", "apikey", "accesskey", "authkey", "privatekey",
    ].map { Array($0.utf8) }

    /// Words that make a name secret if it contains them as whole words.
    private static let words: Set<String> = [
        "key", "auth", "sig", "pass", "pwd", "otp", "sid", "ticket", "assertion",
    ]

    /// Names that are secret only as a whole: as one word among others, `code` is far more often a country's or an
    /// error's.
    private static let wholes: Set<String> = ["code", "device-code", "user-code", "code-verifier"]

    /// Fields that contain such words, but no secrets.
    private static let harmless = ["access-control-"]

    /// The operator's patterns. One list for the process, since descriptions of URLs have no other access to it.
    private static let additional = given

    // Written by `setAdditional` alone, before any other code runs; read once, when `additional` is made.
    nonisolated(unsafe) private static var given: [NamePattern] = []

    /// Adds these patterns to the list, for as long as the process lives. Call it before another thread runs and before
    /// anything is shown.
    public static func setAdditional(_ patterns: [NamePattern]) { given = patterns }

    static func contains(header name: String) -> Bool {
        let lower = name.lowercased()
        return contains(name, lower: lower)
    }

    static func contains(parameter name: some StringProtocol) -> Bool {
        let name = name.utf8.contains(UInt8(ascii: "%")) ? PercentCoding.decoded(name.utf8) : String(name)
        let lower = name.lowercased()
        return lower.hasPrefix("sig") || has("key".utf8, in: Array(lower.utf8)) || lower.hasPrefix("x-amz-")
            || lower.hasPrefix("x-goog-") || contains(name, lower: lower)
    }

    private static func contains(_ name: String, lower: String) -> Bool {
        if harmless.contains(where: lower.hasPrefix) { return false }
        let bytes = Array(lower.utf8)
        if fragments.contains(where: { has($0, in: bytes) }) { return true }
        let found = split(name)
        if !words.isDisjoint(with: found) || wholes.contains(found.joined(separator: "-")) { return true }
        return additional.contains { $0.matches(lower) }
    }

    private static func has(_ fragment: some Collection<UInt8>, in bytes: [UInt8]) -> Bool {
        guard let first = fragment.first, bytes.count >= fragment.count else { return false }
        return (0...bytes.count - fragment.count).contains { start in
            bytes[start] == first && bytes[start...].starts(with: fragment)
        }
    }

    private static func split(_ name: String) -> [String] {
        var words: [String] = []
        var word: [UInt8] = []
        var wasSmall = false
        func end() {
            if !word.isEmpty { words.append(String(decoding: word, as: UTF8.self)) }
            word = []
        }
        for byte in name.utf8 {
            let isCapital = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
            let isSmall = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
            let isPart = isCapital || isSmall || byte >= 0x80 || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            if !isPart || isCapital && wasSmall { end() }
            if isPart { word.append(isCapital ? byte | 0x20 : byte) }
            wasSmall = isSmall
        }
        end()
        return words
    }
}

/// A name with `*` for any rest, compared without case: `x-acme-*`, `*pin*`.
public struct NamePattern: Hashable, Sendable, CustomStringConvertible {
    public let description: String
    private let parts: [String]

    /// Longest pattern, in bytes.
    public static let maxLength = 128

    /// Creates the pattern. Returns nil unless it is 1 to `maxLength` printable ASCII characters without white space,
    /// not all of them `*`.
    public init?(_ text: String) {
        guard (1...Self.maxLength).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7e).contains($0) }),
            text.utf8.contains(where: { $0 != UInt8(ascii: "*") })
        else { return nil }
        description = text
        parts = text.lowercased().split(separator: "*", omittingEmptySubsequences: false).map(String.init)
    }

    /// True if the pattern matches a name.
    ///
    /// - Parameter name: the name, in lower case.
    func matches(_ name: String) -> Bool {
        guard let first = parts.first, let last = parts.last, parts.count > 1 else { return parts.first == name }
        guard name.hasPrefix(first) else { return false }
        var rest = name.dropFirst(first.count)
        for part in parts.dropFirst().dropLast() where !part.isEmpty {
            guard let range = rest.firstRange(of: part) else { return false }
            rest = rest[range.upperBound...]
        }
        return rest.count >= last.count && rest.hasSuffix(last)
    }
}
