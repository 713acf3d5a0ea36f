import XferProtocol

extension Aria2Options {
    /// The proxy for a URL: that of its scheme, else the one for all.
    func proxy(for url: String) throws(Aria2Fault) -> ProxyRecord? {
        let isSecure = url.lowercased().hasPrefix("https:")
        let own: (Aria2Option.Mapped, Aria2Option.Mapped, Aria2Option.Mapped) =
            isSecure
            ? (.httpsProxy, .httpsProxyUser, .httpsProxyPassword) : (.httpProxy, .httpProxyUser, .httpProxyPassword)
        let all: (Aria2Option.Mapped, Aria2Option.Mapped, Aria2Option.Mapped) = (.proxy, .proxyUser, .proxyPassword)
        for (option, user, password) in [own, all] {
            guard let text = self[option], !text.isEmpty else { continue }
            var record = try Self.proxy(text, option)
            if let user = self[user], !user.isEmpty {
                record.form.credential = CredentialRecord(user: user, password: self[password] ?? "")
            }
            let exceptions = (self[.noProxy] ?? "").split(separator: ",").map { Self.trimmed($0) }
            if !exceptions.isEmpty { record.form.noProxy = exceptions }
            return record
        }
        return nil
    }

    /// Reads a proxy in the form `[http://][USER:PASSWORD@]HOST[:PORT]`.
    private static func proxy(_ text: String, _ option: Aria2Option.Mapped) throws(Aria2Fault) -> ProxyRecord {
        var scheme = "http://"
        var rest = text[...]
        if let separator = rest.firstRange(of: "://") {
            scheme = rest[..<separator.upperBound].lowercased()
            rest = rest[separator.upperBound...]
        }
        if rest.hasSuffix("/") { rest.removeLast() }
        var credential: CredentialRecord?
        if let sign = rest.lastIndex(of: "@") {
            let parts = rest[..<sign].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard let user = parts.first, !user.isEmpty else {
                throw .option(option.rawValue, "expected a user name before the colon")
            }
            credential = CredentialRecord(user: String(user), password: parts.count > 1 ? String(parts[1]) : "")
            rest = rest[rest.index(after: sign)...]
        }
        guard !rest.isEmpty else { throw .option(option.rawValue, "expected HOST:PORT") }
        var record = ProxyRecord(url: scheme + rest)
        record.form.credential = credential
        return record
    }

    private static func trimmed(_ text: Substring) -> String { String(text.drop { $0 == " " }).trimmedEnd }
}

extension String {
    fileprivate var trimmedEnd: String {
        var text = self
        while text.last == " " { text.removeLast() }
        return text
    }
}
