public import XferModel

/// Checks that a profile is valid by itself. Profiles from RPC and from the configuration obey the same rules.
public enum ProfileRules {
    /// Checks a profile and throws its first fault.
    ///
    /// - Parameter isOperator: true if an operator defines the profile; see `CredentialRules.check`.
    public static func check(_ profile: Profile, isOperator: Bool = true) throws(RequestFault) {
        guard isName(profile.name) else {
            throw RequestFault(
                field: "name", reason: "not a profile's name",
                expected: "1 to 64 lower-case letters, digits, -, _ and ., beginning with a letter or digit")
        }
        for (index, language) in profile.languages.enumerated() where !AcceptLanguage.isTag(language) {
            throw RequestFault(
                field: "languages[\(index)]", reason: "not a language tag", expected: "a tag such as en or pt-BR")
        }
        if let types = profile.acceptedTypes { _ = try RequestBuilder.types(types) }
        if let credential = profile.credential {
            guard profile.baseURL != nil || !credential.origins.isEmpty else {
                throw RequestFault(
                    field: "credential", reason: "it is not bound to a server",
                    expected: "a base_url, or origins in the credential")
            }
            try check(credential, isOperator: isOperator)
        }
        if profile.clientCertificate != nil, profile.baseURL == nil {
            throw RequestFault(field: "client_cert", reason: "it is not bound to a server", expected: "a base_url")
        }
        if let proxy = profile.proxy { try check(proxy, isOperator: isOperator) }
    }

    /// Checks a credential. A fault refers to the field `field` of the request or profile.
    public static func check(
        _ credential: Credential, isOperator: Bool, field: String = "credential",
        recipient: CredentialRules.Recipient = .origin
    ) throws(RequestFault) {
        do throws(CredentialFault) {
            try CredentialRules.check(credential, for: recipient, isOperator: isOperator)
        } catch {
            throw RequestFault(
                field: "\(field).\(credential.wireName(of: error.field))", reason: error.reason,
                expected: error.isPermission ? nil : "a credential that can be sent")
        }
    }

    public static func check(_ proxy: ProxySettings, isOperator: Bool) throws(RequestFault) {
        do throws(ProxyFault) {
            _ = try ProxyServer(proxy.url)
        } catch {
            throw RequestFault(
                field: "proxy", reason: "it \(error.description)",
                expected: "http://, https://, socks5:// or socks5h:// with host and port")
        }
        if let credential = proxy.credential {
            try check(credential, isOperator: isOperator, field: "proxy.credential", recipient: .proxy)
        }
    }

    private static func isName(_ text: String) -> Bool {
        guard let first = text.utf8.first, (1...64).contains(text.utf8.count) else { return false }
        func isAlphanumeric(_ byte: UInt8) -> Bool { (48...57).contains(byte) || (97...122).contains(byte) }
        return isAlphanumeric(first) && text.utf8.allSatisfy { isAlphanumeric($0) || "-_.".utf8.contains($0) }
    }
}

extension Credential {
    /// The field's name in RPC. For schemes with a password, the field `secret` is called `password` there.
    fileprivate func wireName(of field: String) -> String {
        field == "secret" && (scheme == .basic || scheme == .digest) ? "password" : field
    }
}
