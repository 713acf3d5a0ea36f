import XferModel

/// The server's side of digest authentication (RFC 7616, SHA-256, qop auth), of a server or a proxy.
public struct DigestRealm: Sendable {
    public var user: String
    public var password: String
    /// True if a proxy challenges the client.
    public var isProxy = false

    public init(user: String, password: String, isProxy: Bool = false) {
        self.user = user
        self.password = password
        self.isProxy = isProxy
    }

    /// The result of checking a request's credentials.
    public enum Verdict: Sendable, Hashable {
        case accepted
        /// No credentials, or none of this scheme.
        case nothing
        case wrong
        /// Valid credentials with an outdated nonce.
        case stale
    }

    /// The verdict on the credentials of a request.
    ///
    /// - Parameter nonce: the valid nonce.
    public func verdict(on request: RecordedRequest, nonce: String) -> Verdict {
        guard let field = request.header(isProxy ? "Proxy-Authorization" : "Authorization"),
            field.hasPrefix("Digest ")
        else { return .nothing }
        let shown = Self.parameters(of: field.dropFirst(7))
        func hash(_ text: String) -> String { Digest.of(Array(text.utf8)).hexDigits }
        let used = shown["nonce"] ?? ""
        let secret = hash("\(user):test:\(password)")
        let what = hash("\(request.method):\(shown["uri"] ?? "")")
        let parts = [secret, used, shown["nc"] ?? "", shown["cnonce"] ?? "", shown["qop"] ?? "", what]
        let isRight =
            shown["username"] == user && shown["realm"] == "test" && shown["qop"] == "auth"
            && request.target.hasSuffix(shown["uri"] ?? "-")
            && shown["response"] == hash(parts.joined(separator: ":"))
        return !isRight ? .wrong : used == nonce ? .accepted : .stale
    }

    /// A reply with status 401 or 407 and a challenge.
    public func challenge(nonce: String, isStale: Bool = false) -> Reply {
        let stale = isStale ? ", stale=true" : ""
        let field = "Digest realm=\"test\", nonce=\"\(nonce)\", qop=\"auth\", algorithm=SHA-256\(stale)"
        let name = isProxy ? "Proxy-Authenticate" : "WWW-Authenticate"
        return Reply(isProxy ? 407 : 401, headers: [HeaderField(name: name, value: field)], text: "who are you?")
    }

    /// The reply if the request has valid credentials, else a challenge.
    public func reply(to request: RecordedRequest, nonce: String, else reply: () -> Reply) -> Reply {
        switch verdict(on: request, nonce: nonce) {
        case .accepted: reply()
        case .nothing, .wrong: challenge(nonce: nonce)
        case .stale: challenge(nonce: nonce, isStale: true)
        }
    }

    /// The challenge as text, for a request of which only the head is known; nil accepts.
    func refusal(of head: String, nonce: String) -> String? {
        let lines = head.split(separator: "\r\n")
        let words = lines.first?.split(separator: " ").map(String.init) ?? []
        guard words.count == 3 else { return nil }
        let fields = lines.dropFirst().compactMap { line -> HeaderField? in
            guard let colon = line.firstIndex(of: ":") else { return nil }
            let value = line[line.index(after: colon)...].drop { $0 == " " }
            return HeaderField(name: String(line[..<colon]), value: String(value))
        }
        let request = RecordedRequest(index: 0, connection: 0, method: words[0], target: words[1], headers: fields)
        guard verdict(on: request, nonce: nonce) != .accepted else { return nil }
        var reply = challenge(nonce: nonce)
        reply.setHeader("Content-Length", "0")
        let rest = reply.headers.map { "\($0.name): \($0.value)\r\n" }.joined()
        return "HTTP/1.1 \(reply.status) Who are you\r\n\(rest)\r\n"
    }

    private static func parameters(of field: Substring) -> [String: String] {
        var values: [String: String] = [:]
        for pair in field.split(separator: ",") {
            let parts = pair.split(separator: "=", maxSplits: 1)
            guard parts.count == 2 else { continue }
            values[String(parts[0].drop { $0 == " " })] = parts[1].filter { $0 != "\"" }
        }
        return values
    }
}
