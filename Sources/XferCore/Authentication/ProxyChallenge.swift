public import XferModel

/// A proxy's demand for a login (RFC 9110 §11.7.1). Servers demand one in the same form (§11.6.1).
public struct ProxyChallenge: Hashable, Sendable {
    /// The kinds of credentials that the proxy accepts, with the proxy's own names; empty if that is unknown. At most
    /// the first `mostSchemes` of a response.
    public var schemes: [String]

    /// The highest number of schemes of a response that are read: a field can have thousands.
    public static let mostSchemes = 8

    public init(schemes: [String]) { self.schemes = schemes }

    /// Reads the challenges of a response.
    ///
    /// - Parameter name: the field that has them; `WWW-Authenticate` for a server.
    public init(_ fields: [HeaderField], named name: String = "Proxy-Authenticate") {
        schemes = []
        for field in fields where field.name.equalsIgnoringASCIICase(name) {
            for scheme in Self.schemes(in: field.value) where !schemes.contains(scheme) {
                guard schemes.count < Self.mostSchemes else { return }
                schemes.append(scheme)
            }
        }
    }

    /// Returns the schemes of the challenges in a list. Its elements are challenges and parameters. A challenge begins
    /// with a scheme: a token that no `=` follows.
    private static func schemes(in value: String) -> [String] {
        var schemes: [String] = []
        var isQuoted = false
        var isEscaped = false
        let elements = value.split { character in
            if isEscaped {
                isEscaped = false
            } else if isQuoted, character == "\\" {
                isEscaped = true
            } else if character == "\"" {
                isQuoted.toggle()
            }
            return !isQuoted && character == ","
        }
        for element in elements {
            let words = element.split { $0 == " " || $0 == "\t" }
            guard let word = words.first, word.utf8.allSatisfy(isSchemeOctet),
                words.dropFirst().first?.hasPrefix("=") != true
            else { continue }
            schemes.append(String(word.prefix(32)))
        }
        return schemes
    }

    private static func isSchemeOctet(_ octet: UInt8) -> Bool {
        switch octet {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
            true
        default: false
        }
    }

    /// The remedy, where it is not another user or password.
    public var cause: FailureCause? {
        func accepts(_ scheme: String) -> Bool { schemes.contains { $0.equalsIgnoringASCIICase(scheme) } }
        if schemes.isEmpty || accepts("Basic") || accepts("Digest") { return nil }
        return accepts("Negotiate") ? .proxyNegotiate : .proxyLoginUnsupported
    }

    /// The failure of a request that the proxy refused.
    ///
    /// - Parameters:
    ///   - status: the proxy's status; nil for a SOCKS proxy.
    ///   - hasLogin: true if a login was sent to the proxy.
    public func failure(
        of proxy: String, status: Int?, hasLogin: Bool, host: String, curlCode: Int32? = nil
    ) -> TransferError {
        let answer = status.map { "answered \($0)" } ?? "refused the connection"
        let problem = hasLogin ? "it requires another login" : "no login was sent"
        let offer = schemes.isEmpty ? "" : "; it accepts \(schemes.joined(separator: ", "))"
        var error = TransferError(
            .authFailed, "the proxy \(proxy) \(answer): \(problem)\(offer)", httpStatus: status,
            curlCode: curlCode, host: host, cause: cause, proxy: proxy)
        error.acceptedLogins = schemes.isEmpty ? nil : schemes
        return error
    }
}
