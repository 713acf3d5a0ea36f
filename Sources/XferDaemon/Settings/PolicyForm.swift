import StrictJSON
import XferManager
import XferModel
import XferProtocol

/// `trust.policies`: a list of mappings with the fields of `policy.set`.
///
/// A pin may also be the path of a file, and a single pin or host may be written without a list.
extension SettingForm where Value == [Settings.Policy] {
    private static let expectation = "a list of policies, each a mapping with name, mode, pins, hosts, …"

    private static let record = RecordForm<PolicyInput>(readers: [
        "pins": { node, _ throws(SettingMismatch) in try list(node, of: "a pin") },
        "hosts": { node, _ throws(SettingMismatch) in try list(node, of: "a string") },
        "client_certificate.certificate": { node, context throws(SettingMismatch) in
            try SettingForm<String>.path.read(node, context).wire
        },
        "client_certificate.key": { node, context throws(SettingMismatch) in
            try SettingForm<String>.path.read(node, context).wire
        },
    ])

    static let policies = SettingForm(expected: expectation, isScalar: false, fields: record.fields) {
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
                throw SettingMismatch("two policies have the name \"\(policy.policy.name)\"", at: item)
            }
            for pattern in policy.policy.hosts where !patterns.insert(pattern).inserted {
                throw SettingMismatch("host pattern \(pattern) occurs twice", at: item)
            }
            policies.append(policy)
        }
        return policies
    } write: { policies in
        "[" + policies.map { record.write(PolicyInput($0)) }.joined(separator: ", ") + "]"
    }

    private static func policy(
        _ node: ConfigurationNode, _ context: SettingContext
    ) throws(SettingMismatch) -> Settings.Policy {
        let input = try record.read(node, context)
        var files: [String] = []
        let policy: TrustPolicy
        do throws(PolicyInputError) {
            policy = try input.policy { text throws(PolicyTextError) in
                guard let file = try file(of: text, context) else { return try PolicyText.pins(in: text) }
                files.append(file)
                return try PolicyText.pins(inFile: file)
            }
        } catch {
            throw record.mismatch(error.path, error.reason, node)
        }
        var path = "client_certificate"
        do throws(PolicyTextError) {
            if let certificate = policy.clientCertificate { try PolicyText.check(certificate) }
            path = ""
            try PolicyText.check(policy)
        } catch {
            throw record.mismatch(path, error.description, node)
        }
        return Settings.Policy(policy: policy, pins: input.pins, pinFiles: files)
    }

    /// Reads a list of texts, or a single text. A pin is never repeated in an error: it may be a key.
    private static func list(_ node: ConfigurationNode, of item: String) throws(SettingMismatch) -> JSONValue {
        let items: [ConfigurationNode]
        switch node.content {
        case .sequence(let nodes): items = nodes
        case .scalar: items = node.isNull ? [] : [node]
        case .mapping: throw SettingMismatch(expected: "a list", found: node)
        }
        return .array(
            try items.map { node throws(SettingMismatch) in
                guard let text = node.text, !text.isEmpty else { throw SettingMismatch(expected: item, found: node) }
                return .string(text)
            })
    }

    /// The file of a pin, if the text is an absolute path.
    private static func file(of pin: String, _ context: SettingContext) throws(PolicyTextError) -> String? {
        guard pin.hasPrefix("/") || pin.hasPrefix("~/") else { return nil }
        do throws(SettingMismatch) {
            return try SettingForm<String>.path.read(ConfigurationNode(text: pin), context)
        } catch {
            throw PolicyTextError(description: error.message)
        }
    }
}

extension PolicyInput {
    /// Creates a policy from the configuration's entry.
    fileprivate init(_ entry: Settings.Policy) {
        self.init()
        let policy = entry.policy
        name = policy.name
        mode = policy.mode
        pins = entry.pins
        hosts = policy.hosts.map(\.description)
        allowInvalidCertificates = policy.allowsInvalidCertificates
        validatesDomainName = policy.validatesDomainName
        reportOnly = policy.isReportOnly
        expiresAt = policy.expiresAt
        minTLS = policy.minimumTLS
        clientCertificate = policy.clientCertificate.map { ClientCertificateRecord($0) }
        requireStapledOCSP = policy.requiresStapledOCSP
    }
}
