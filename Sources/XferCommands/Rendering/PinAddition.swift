import XferModel
import XferProtocol

/// The text about a server's key and the policy that its host has already: `policy set` of another policy for the same
/// host would be refused, and one of the same name would replace the pins that the policy has.
struct PinAddition {
    let policy: PolicyRecord
    /// True if the ordinary check accepts the server.
    let isAccepted: Bool
    /// True if the certificate is valid for the host.
    let isNamed: Bool

    /// The policy of a server's host: of those that match the most specific one; nil if only the default one applies.
    static func policy(of report: ServerReportRecord, among policies: [PolicyRecord]) -> PolicyRecord? {
        let server = ServerName(host: report.host)
        var best: (policy: PolicyRecord, pattern: HostPattern)?
        for policy in policies {
            for pattern in policy.hosts.compactMap({ try? HostPattern($0) })
            where pattern.matches(server, port: UInt16(clamping: report.port))
                && best.map({ pattern.isMoreSpecific(than: $0.pattern) }) != false
            {
                best = (policy, pattern)
            }
        }
        return best?.policy
    }

    /// - Parameter place: the server's host and port.
    func lines(_ chain: [ServerCertificateRecord], at place: String) -> [String] {
        let name = "The policy \"\(SafeText.sanitised(policy.name))\""
        let expiry = policy.expiresAt.map { ", until \(TimeText.local($0))" } ?? ""
        let shown = Set(chain.map(\.pin))
        if let pin = policy.pins.first(where: { shown.contains($0.key) }) {
            let pinned = "\(name) pins \(SafeText.sanitised(pin.key)) for \(place) already\(expiry)."
            let isLax = policy.allowInvalidCertificates && (isNamed || !policy.validatesDomainName)
            guard !isAccepted, !isLax else { return [pinned] }
            return [pinned, "To accept it although the ordinary check refuses it: \(change(adding: nil))"]
        }
        guard let leaf = chain.first else { return [] }
        let state =
            policy.pins.isEmpty ? "applies to \(place) and has no pin" : "pins another key for \(place)\(expiry)"
        return ["\(name) \(state).", "If that is the server's key now: \(change(adding: leaf.pin))"]
    }

    /// The way to change the policy.
    private func change(adding pin: String?) -> String {
        if policy.origin.value == .configuration {
            guard let pin else { return "set allow_invalid_certificates in the configuration file (trust.policies)." }
            return "add \(SafeText.sanitised(pin)) to its pins in the configuration file (trust.policies)."
        }
        guard policy.pins.allSatisfy({ $0.pin.hasPrefix("sha256/") }) else {
            return
                "`policy set` with the files of its certificates and this server's, and all its other options, which "
                + "`policy show` shows: the whole policy is replaced."
        }
        return SuggestedCommand.text(command(adding: pin))
    }

    /// The command that writes the policy as it is, with one more pin if there is one.
    func command(adding pin: String?) -> String {
        var words = ["policy", "set", policy.name] + policy.hosts.flatMap { ["--host", $0] }
        if policy.allowInvalidCertificates || !isAccepted { words.append("--allow-invalid-certificates") }
        if !policy.validatesDomainName || !isNamed { words.append("--no-domain-name") }
        if policy.requireStapledOCSP == true { words.append("--require-stapled-ocsp") }
        if policy.reportOnly { words.append("--report-only") }
        if let expiresAt = policy.expiresAt { words += ["--expires-at", expiresAt.description] }
        if policy.minTLS.value != .tls12 { words += ["--min-tls", policy.minTLS.description] }
        if let files = policy.clientCertificate {
            words += ["--client-certificate", files.certificate, "--client-key", files.key]
        }
        words += (policy.pins.map(\.pin) + [pin].compactMap(\.self)).flatMap { ["--pin", $0] }
        return SafeText.sanitised(words.map { SuggestedCommand.quoted($0) }.joined(separator: " "))
    }
}
