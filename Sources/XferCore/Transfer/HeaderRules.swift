public import XferModel

/// Changes to header fields by host (`header_rules`), applied at every hop in their order.
public enum HeaderRules {
    /// - Parameters:
    ///   - fields: as they would be sent.
    ///   - home: the first URL of the request. A secret goes to the hosts its rule names, but never without TLS when
    ///     the request began with TLS; a rule for every host sends its secrets to the first origin only.
    ///   - isFixed: names, in lower case, that no rule changes.
    public static func apply(
        _ rules: [HeaderRule], to fields: [HeaderField], hop: HTTPURL, home: HTTPURL, isFixed: (String) -> Bool
    ) -> [HeaderField] {
        let host = ServerName(host: hop.host)
        var fields = fields
        for rule in rules
        where rule.hosts.isEmpty || rule.hosts.contains(where: { $0.matches(host, port: hop.port) }) {
            for name in rule.remove where !isFixed(name.lowercased()) {
                fields.removeAll { $0.name.equalsIgnoringASCIICase(name) }
            }
            let added = rule.set.filter { field in
                !isFixed(field.name.lowercased())
                    && (!Redaction.isSecretHeader(field.name) || mayKnowSecrets(of: rule, hop, home))
            }
            fields.removeAll { field in added.contains { $0.name.equalsIgnoringASCIICase(field.name) } }
            fields += added
        }
        return fields
    }

    private static func mayKnowSecrets(of rule: HeaderRule, _ hop: HTTPURL, _ home: HTTPURL) -> Bool {
        if rule.hosts.isEmpty { return hop.origin == home.origin }
        return hop.scheme == .https || home.scheme == .http
    }
}
