import XferModel
import XferProtocol

/// The text about a server's certificates and the verdict.
struct ServerReportText: Sendable {
    let style: Style

    func lines(_ report: ServerReportRecord) -> [String] {
        var lines = [entry("server", place(report)), entry("verdict", verdict(report))]
        if let version = report.tlsVersion { lines.append(entry("protocol", SafeText.sanitised(version))) }
        for (index, certificate) in report.chain.enumerated() { lines += self.lines(certificate, index) }
        for stage in report.stages {
            let word = stage.passed ? style(.green, "ok") : style(.red, "no")
            lines.append(
                entry(SafeText.sanitised(stage.stage.description), "\(word)  \(SafeText.sanitised(stage.detail))"))
        }
        for policy in report.policies { lines.append(entry("policy", line(policy))) }
        return lines
    }

    /// Pins that can be copied into a policy.
    ///
    /// - Parameter policy: the policy of the host, or nil if only the default one applies to it.
    func pins(_ report: ServerReportRecord, besides policy: PolicyRecord? = nil) -> [String] {
        guard !report.chain.isEmpty else { return lines(report) }
        var lines = [
            "\(place(report)) showed these certificates.",
            "Pinning trusts this one connection; first check the keys with the server's operator.",
        ]
        lines.append(
            report.verdict.value == .accepted
                ? "The ordinary check accepts them."
                : style(
                    .red, "The ordinary check refuses them: " + (problem(report) ?? "the handshake failed") + "."))
        for (index, certificate) in report.chain.enumerated() {
            let role = index == 0 ? "leaf" : "issuer \(index)"
            lines += [
                "", "\(role): \(SafeText.sanitised(certificate.subject))",
                "  valid until \(TimeText.local(certificate.notAfter))", "  \(SafeText.sanitised(certificate.pin))",
            ]
        }
        guard let leaf = report.chain.first else { return lines }
        let isNamed = !report.stages.contains { $0.stage.value == .name && !$0.passed }
        if let policy {
            let addition = PinAddition(policy: policy, isAccepted: report.verdict.value == .accepted, isNamed: isNamed)
            lines += [""] + addition.lines(report.chain, at: place(report))
        } else if report.verdict.value != .accepted {
            let pin = SafeText.sanitised(leaf.pin)
            let command = FailureAdvice.pinningCommand(place(report), pin, checksName: isNamed)
            lines += ["", "If that is its key: \(SuggestedCommand.text(command))"]
            if !isNamed { lines.append("Its certificate has other names, so --no-domain-name is needed.") }
        }
        return lines
    }

    private func lines(_ certificate: ServerCertificateRecord, _ index: Int) -> [String] {
        let pinned = certificate.pinnedBy.isEmpty ? "" : ", pinned by " + certificate.pinnedBy.joined(separator: ", ")
        var lines = [
            entry("certificate", "\(index): \(SafeText.sanitised(certificate.subject))"),
            entry("", "issued by \(SafeText.sanitised(certificate.issuer))"),
            entry(
                "", "valid \(TimeText.local(certificate.notBefore)) to \(TimeText.local(certificate.notAfter))"),
            entry("", SafeText.sanitised(certificate.pin + pinned)),
        ]
        if !certificate.names.isEmpty {
            lines.insert(entry("", "names " + SafeText.sanitised(certificate.names.joined(separator: ", "))), at: 1)
        }
        return lines
    }

    private func line(_ policy: PolicyVerdictRecord) -> String {
        let name = "\(SafeText.sanitised(policy.name)), version \(policy.version): "
        var text = policy.accepted ? style(.green, "accepts") : style(.red, "refuses")
        if let problem = policy.problem {
            text += (policy.reportOnly ? ", but reports: " : ": ") + SafeText.sanitised(problem)
        }
        if let code = policy.verifyError { text += " (OpenSSL error \(code))" }
        if policy.expired { text += style(.yellow, " (expired: only the ordinary check applies)") }
        return name + text
    }

    private func verdict(_ report: ServerReportRecord) -> String {
        let why = report.error.map { ": " + SafeText.sanitised($0) } ?? ""
        let word = SafeText.sanitised(report.verdict.description)
        return style(report.verdict.value == .accepted ? .green : .red, word) + why
    }

    private func problem(_ report: ServerReportRecord) -> String? {
        (report.policies.first { !$0.accepted }?.problem ?? report.error).map { SafeText.sanitised($0) }
    }

    private func place(_ report: ServerReportRecord) -> String { SafeText.sanitised("\(report.host):\(report.port)") }

    private func entry(_ name: String, _ text: String) -> String { style(.bold, TextWidth.padded(name, to: 13)) + text }
}
