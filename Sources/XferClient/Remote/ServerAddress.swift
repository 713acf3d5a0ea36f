/// A daemon that listens on the network, and the client's credentials: `xferctl --server`.
public struct ServerAddress: Hashable, Sendable, CustomStringConvertible {
    public let host: String
    /// The port, 1…65535.
    public let port: Int
    public let isEncrypted: Bool
    /// The token, in one line.
    public let token: String
    /// PEM file of the authorities that the server's certificate is checked against; nil takes the system's.
    public var authoritiesFile: String?

    /// The reason why a URL or a token cannot be used.
    public enum Fault: Error, Hashable, Sendable, CustomStringConvertible {
        case url(String)
        /// Plain HTTP to another machine would show the token to anyone on the way.
        case unencrypted(host: String)
        case token

        public var description: String {
            switch self {
            case .url(let text):
                "expected https://HOST:PORT, or http://127.0.0.1:PORT of this machine, found \"\(text)\""
            case .unencrypted(let host):
                "http would send the token unencrypted to \(host); use https"
            case .token: "expected one line with a token, as `xferctl token add` prints it"
            }
        }
    }

    /// - Parameters:
    ///   - url: `https://host:port`, optionally followed by `/`.
    ///   - token: white space around it is dropped, as a file's last line feed.
    public init(_ url: String, token: String) throws(Fault) {
        let scheme: Substring
        if url.lowercased().hasPrefix("https://") {
            scheme = url.prefix(8)
        } else if url.lowercased().hasPrefix("http://") {
            scheme = url.prefix(7)
        } else {
            throw .url(url)
        }
        isEncrypted = scheme.count == 8
        var authority = url.dropFirst(scheme.count)
        if authority.hasSuffix("/") { authority.removeLast() }
        guard let place = Self.split(authority) else { throw .url(url) }
        host = place.host
        port = place.port ?? (isEncrypted ? 443 : 80)
        guard isEncrypted || Self.isLoopback(host) else { throw .unencrypted(host: host) }
        let words = token.split { $0.isWhitespace }
        guard words.count == 1, let word = words.first, word.utf8.allSatisfy({ (33...126).contains($0) }) else {
            throw .token
        }
        self.token = String(word)
    }

    public var description: String {
        "\(isEncrypted ? "https" : "http")://\(host.contains(":") ? "[\(host)]" : host):\(port)"
    }

    /// `host`, `host:port` or `[address]:port`; nil for other forms.
    private static func split(_ authority: Substring) -> (host: String, port: Int?)? {
        var rest = authority
        let host: Substring
        if rest.hasPrefix("[") {
            guard let end = rest.firstIndex(of: "]") else { return nil }
            host = rest[rest.index(after: rest.startIndex)..<end]
            rest = rest[rest.index(after: end)...]
        } else {
            host = rest.prefix { $0 != ":" }
            rest = rest.dropFirst(host.count)
        }
        let isPlain = host.utf8.allSatisfy { byte in
            (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
                || [UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: ":")].contains(byte)
        }
        guard !host.isEmpty, isPlain else { return nil }
        guard !rest.isEmpty else { return (String(host), nil) }
        guard rest.hasPrefix(":"), let port = UInt16(rest.dropFirst(), radix: 10), port > 0 else { return nil }
        return (String(host), Int(clamping: port))
    }

    private static func isLoopback(_ host: String) -> Bool {
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        let isIPv4 = parts.count == 4 && parts.allSatisfy { UInt8($0, radix: 10) != nil }
        return host.lowercased() == "localhost" || host == "::1" || isIPv4 && parts[0] == "127"
    }
}
