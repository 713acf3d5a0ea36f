/// Proxies that the service's environment names, read once (curl(1), ENVIRONMENT): `http_proxy`, `HTTPS_PROXY`,
/// `ALL_PROXY` and `NO_PROXY`, the last three in lower case, too. `HTTP_PROXY` is not read, because CGI makes one of a
/// request's header.
public struct EnvironmentProxies: Hashable, Sendable {
    private var http: ProxySettings?
    private var https: ProxySettings?

    /// - Throws: the name of a variable that cannot be understood.
    public init(_ environment: [String: String]) throws(EnvironmentProxyFault) {
        func value(_ names: String...) -> (name: String, text: String)? {
            for name in names {
                if let text = environment[name], !text.isEmpty { return (name, text) }
            }
            return nil
        }
        let exceptions = (value("no_proxy", "NO_PROXY")?.text ?? "")
            .split { $0 == "," || $0.isWhitespace }.map(String.init)
        func settings(_ found: (name: String, text: String)?) throws(EnvironmentProxyFault) -> ProxySettings? {
            guard let found else { return nil }
            do throws(ProxyFault) {
                return try Self.settings(found.text, exceptions: exceptions)
            } catch {
                throw EnvironmentProxyFault(variable: found.name, problem: error.description)
            }
        }
        let all = value("all_proxy", "ALL_PROXY")
        http = try settings(value("http_proxy") ?? all)
        https = try settings(value("https_proxy", "HTTPS_PROXY") ?? all)
    }

    public func settings(for scheme: HTTPURL.Scheme) -> ProxySettings? { scheme == .http ? http : https }

    /// `[scheme://][user[:password]@]host[:port]`; without a scheme it is `http`.
    private static func settings(_ text: String, exceptions: [String]) throws(ProxyFault) -> ProxySettings {
        let slashes = text.firstRange(of: "://")
        let scheme = slashes.map { String(text[..<$0.lowerBound]) } ?? "http"
        var rest = text[(slashes?.upperBound ?? text.startIndex)...]
        var credential: Credential?
        if let at = rest.lastIndex(of: "@") {
            let info = rest[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            credential = Credential(
                user: decoded(info[0]), password: info.count > 1 ? decoded(info[1]) : "")
            rest = rest[rest.index(after: at)...]
        }
        let server = try ProxyServer("\(scheme)://\(rest)")
        return ProxySettings(url: server.url, credential: credential, exceptions: exceptions)
    }

    private static func decoded(_ text: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            if byte == UInt8(ascii: "%"), rest.count >= 2, let value = UInt8(digits, radix: 16) {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// An error for a variable that contains no proxy.
public struct EnvironmentProxyFault: Error, Hashable, Sendable, CustomStringConvertible {
    public let variable: String
    /// Follows the variable's name.
    public let problem: String

    public var description: String { "\(variable) \(problem)" }
}
