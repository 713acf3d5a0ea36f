import XferManager
import XferModel

/// `trust.policies`: a list of mappings, each a trust policy.
extension SettingForm where Value == [Settings.Policy] {
    private static let names = [
        "name", "mode", "pins", "hosts", "allow_invalid_certificates", "validates_domain_name", "report_only",
        "expires_at", "min_tls", "client_certificate", "require_stapled_ocsp",
    ]
    private static let expectation = "a list of policies, each a mapping with name, mode, pins, hosts, …"

    static let policies = SettingForm(expected: expectation, isScalar: false) {
        node, context throws(SettingMismatch) in
        guard case .sequence(let items) = node.content else {
            if node.isNull { return [] }
            throw SettingMismatch(expected: expectation, found: node)
        }
        var policies: Value = []
        var patterns: Set<HostPattern> = []
        for item in items {
            let policy = try policy(item, context)
            guard !policies.contains(where: { $0.policy.name == policy.policy.name }) else {
                throw SettingMismatch("there are two policies named \"\(policy.policy.name)\"", at: item)
            }
            for pattern in policy.policy.hosts where !patterns.insert(pattern).inserted {
                throw SettingMismatch("host pattern \(pattern) is named twice", at: item)
            }
            policies.append(policy)
        }
        return policies
    } write: { policies in
        "[" + policies.map(text).joined(separator: ", ") + "]"
    }

    private static func policy(
        _ node: ConfigurationNode, _ context: SettingContext
    ) throws(SettingMismatch) -> Settings.Policy {
        guard case .mapping(let members) = node.content else {
            throw SettingMismatch(expected: "a mapping with name, mode, pins, hosts, …", found: node)
        }
        var result = Settings.Policy(policy: TrustPolicy(name: ""), pins: [])
        for member in members {
            do throws(SettingMismatch) {
                try take(member, into: &result, context)
            } catch {
                throw SettingMismatch(within: member.key.text ?? "?", error)
            }
        }
        guard !result.policy.name.isEmpty else { throw SettingMismatch("name is missing", at: node) }
        do throws(PolicyTextError) {
            try PolicyText.check(result.policy)
        } catch {
            throw SettingMismatch(error.description, at: node)
        }
        return result
    }

    private static let mode = SettingForm<TrustPolicy.Mode>.word()
    private static let version = SettingForm<TLSVersion>.word()
    private static let flag = SettingForm<Bool>.word([("true", true), ("false", false)])

    private static func take(
        _ member: ConfigurationNode.Member, into result: inout Settings.Policy, _ context: SettingContext
    ) throws(SettingMismatch) {
        let value = member.value
        switch member.key.text {
        case "name": result.policy.name = try string(value)
        case "mode": result.policy.mode = try mode.read(value, context)
        case "pins":
            for item in try items(value) {
                let file = try pinFile(item, context)
                result.policy.pins += try pins(item, in: file)
                result.pins.append(item.text ?? "")
                if let file { result.pinFiles.append(file) }
            }
        case "hosts": for item in try items(value) { result.policy.hosts.append(try host(item)) }
        case "allow_invalid_certificates": result.policy.allowsInvalidCertificates = try flag.read(value, context)
        case "validates_domain_name": result.policy.validatesDomainName = try flag.read(value, context)
        case "report_only": result.policy.isReportOnly = try flag.read(value, context)
        case "require_stapled_ocsp": result.policy.requiresStapledOCSP = try flag.read(value, context)
        case "expires_at":
            guard let time = value.text.flatMap({ Timestamp(rfc3339: $0) }) else {
                throw SettingMismatch(expected: "a time such as 2027-01-02T03:04:05Z", found: value)
            }
            result.policy.expiresAt = time
        case "min_tls": result.policy.minimumTLS = try version.read(value, context)
        case "client_certificate": result.policy.clientCertificate = try files(value, context)
        default: throw SettingMismatch(Suggestion.unknown(member.key.text ?? "", among: names), at: member.key)
        }
    }

    private static func string(_ node: ConfigurationNode) throws(SettingMismatch) -> String {
        guard let text = node.text, !text.isEmpty else { throw SettingMismatch(expected: "a string", found: node) }
        return text
    }

    /// One item alone is a list of one.
    private static func items(_ node: ConfigurationNode) throws(SettingMismatch) -> [ConfigurationNode] {
        switch node.content {
        case .sequence(let items): return items
        case .scalar: return node.isNull ? [] : [node]
        case .mapping: throw SettingMismatch(expected: "a list", found: node)
        }
    }

    /// The file to read the pins from, if an absolute path is written.
    private static func pinFile(
        _ node: ConfigurationNode, _ context: SettingContext
    ) throws(SettingMismatch) -> String? {
        guard let text = node.text, text.hasPrefix("/") || text.hasPrefix("~/") else { return nil }
        return try SettingForm<String>.path.read(node, context)
    }

    /// The pins of a file, else of `sha256/…` or PEM text. Invalid text is never repeated: it may be a key.
    private static func pins(_ node: ConfigurationNode, in file: String?) throws(SettingMismatch) -> [Pin] {
        guard let text = node.text else { throw SettingMismatch(expected: "a pin", found: node) }
        do throws(PolicyTextError) {
            if let file { return try PolicyText.pins(inFile: file) }
            return try PolicyText.pins(in: text)
        } catch {
            throw SettingMismatch(error.description, at: node)
        }
    }

    private static func host(_ node: ConfigurationNode) throws(SettingMismatch) -> HostPattern {
        let text = try string(node)
        do throws(PolicyTextError) {
            return try PolicyText.host(text)
        } catch {
            throw SettingMismatch(error.description, at: node)
        }
    }

    private static func files(
        _ node: ConfigurationNode, _ context: SettingContext
    ) throws(SettingMismatch) -> ClientCertificateFiles {
        var files: [String: String] = [:]
        for member in node.members ?? [] {
            guard let key = member.key.text, ["certificate", "key"].contains(key) else {
                throw SettingMismatch(
                    Suggestion.unknown(member.key.text ?? "", among: ["certificate", "key"]), at: member.key)
            }
            files[key] = try SettingForm<String>.path.read(member.value, context)
        }
        guard let certificate = files["certificate"], let key = files["key"] else {
            throw SettingMismatch(expected: "a mapping with certificate and key", found: node)
        }
        let found = ClientCertificateFiles(certificate: certificate, key: key)
        do throws(PolicyTextError) {
            try PolicyText.check(found)
        } catch {
            throw SettingMismatch(error.description, at: node)
        }
        return found
    }

    // MARK: Writing

    private static func text(of entry: Settings.Policy) -> String {
        let policy = entry.policy
        func list(_ items: [String]) -> String { "[" + items.map(YAMLText.quoted).joined(separator: ", ") + "]" }
        var members = [
            "name: \(YAMLText.quoted(policy.name))", "mode: \(policy.mode.rawValue)", "pins: \(list(entry.pins))",
            "hosts: \(list(policy.hosts.map(\.description)))",
            "allow_invalid_certificates: \(policy.allowsInvalidCertificates)",
            "validates_domain_name: \(policy.validatesDomainName)", "report_only: \(policy.isReportOnly)",
            "min_tls: \(YAMLText.quoted(policy.minimumTLS.rawValue))",
        ]
        if policy.requiresStapledOCSP { members.append("require_stapled_ocsp: true") }
        if let expiresAt = policy.expiresAt { members.append("expires_at: \(YAMLText.quoted("\(expiresAt)"))") }
        if let files = policy.clientCertificate {
            members.append(
                "client_certificate: {certificate: \(YAMLText.quoted(files.certificate)), "
                    + "key: \(YAMLText.quoted(files.key))}")
        }
        return "{" + members.joined(separator: ", ") + "}"
    }
}
