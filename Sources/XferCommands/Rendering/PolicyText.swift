import XferModel
import XferProtocol

/// Trust policies in words.
struct PolicyText: Sendable {
    let style: Style

    func table(_ policies: [PolicyRecord], width: Int?) -> [String] {
        var table = Table(columns: [
            Table.Column(title: "NAME"), Table.Column(title: "VERSION", alignment: .right),
            Table.Column(title: "MODE"), Table.Column(title: "PINS", alignment: .right),
            Table.Column(title: "HOSTS", isFlexible: true), Table.Column(title: "FROM"), Table.Column(title: "NOTES"),
        ])
        for policy in policies {
            table.rows.append([
                Table.Cell(policy.name), "\(policy.version)", Table.Cell(policy.mode.description),
                "\(policy.pins.count)",
                Table.Cell(policy.hosts.isEmpty ? "all others" : policy.hosts.joined(separator: " ")),
                Table.Cell(policy.origin.description), Table.Cell(notes(policy).joined(separator: ", "), .yellow),
            ])
        }
        return table.lines(style: style, width: width)
    }

    func lines(_ policy: PolicyRecord) -> [String] {
        var lines = [
            entry("policy", "\(SafeText.sanitised(policy.name)), version \(policy.version)"),
            entry("from", SafeText.sanitised(policy.origin.description)),
            entry("mode", SafeText.sanitised(policy.mode.description)),
            entry("hosts", policy.hosts.isEmpty ? "all that no pattern matches" : joined(policy.hosts)),
            entry("minimum TLS", SafeText.sanitised(policy.minTLS.description)),
        ]
        for pin in policy.pins {
            let expiry = pin.notAfter.map { ", certificate until \(TimeText.local($0))" } ?? ""
            lines.append(entry("pin", SafeText.sanitised(pin.key) + expiry))
        }
        if let files = policy.clientCertificate {
            lines.append(entry("client", SafeText.sanitised(files.certificate)))
        }
        let notes = notes(policy)
        if !notes.isEmpty { lines.append(entry("notes", style(.yellow, notes.joined(separator: ", ")))) }
        return lines
    }

    private func notes(_ policy: PolicyRecord) -> [String] {
        var notes: [String] = []
        if policy.allowInvalidCertificates { notes.append("allows invalid certificates") }
        if !policy.validatesDomainName { notes.append("names are not checked") }
        if policy.requireStapledOCSP == true { notes.append("OCSP stapled") }
        if policy.reportOnly { notes.append("reports only") }
        if let expiresAt = policy.expiresAt { notes.append("until \(TimeText.local(expiresAt))") }
        return notes
    }

    private func joined(_ texts: [String]) -> String { SafeText.sanitised(texts.joined(separator: " ")) }

    private func entry(_ name: String, _ text: String) -> String { style(.bold, TextWidth.padded(name, to: 13)) + text }
}
