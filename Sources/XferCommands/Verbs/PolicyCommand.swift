import ArgumentParser
import XferModel
import XferProtocol

/// `xferctl policy`: the `policy.*` methods.
struct PolicyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "policy", abstract: "Set trust policies: which server certificates are accepted.",
        discussion: """
            A trust policy applies to the hosts its patterns match; the most specific pattern wins, and the policy \
            "default" applies to all others. Only operators may write policies.
            """,
        subcommands: [List.self, Show.self, PolicySetCommand.self, Remove.self, Test.self, Pin.self],
        defaultSubcommand: List.self)

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(commandName: "list", abstract: "List all policies.")

        @OptionGroup var options: VerbOptions

        func run() throws {
            let session = try options.open()
            options.show(try session.all(PolicyList.self)) { result, terminal in
                PolicyText(style: terminal.style).table(result.policies).lines(on: terminal, orElse: "no policies")
            }
            session.reportDamaged("trust policy")
        }
    }

    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Show everything about a policy.", aliases: ["get"])

        @Argument(help: "The policy's name.", completion: .daemon(.policies))
        var name: String

        @OptionGroup var options: VerbOptions

        func run() throws {
            options.show(try options.open().call(PolicyGet.self, PolicyGet.Params(name: name))) { result, terminal in
                PolicyText(style: terminal.style).lines(result.policy)
            }
        }
    }

    struct Remove: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove",
            abstract: "Remove a policy.",
            discussion: "Its hosts are judged by the next less specific policy from then on.")

        @Argument(help: "The policy's name.", completion: .daemon(.policies))
        var name: String

        @OptionGroup var options: ActionOptions

        func run() throws {
            options.show(try options.open().call(PolicyRemove.self, PolicyGet.Params(name: name))) { _, _ in
                ["removed \(SafeText.sanitised(name))"]
            }
        }
    }

    struct Test: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "test",
            abstract: "Show how a server is judged, without transferring anything.",
            discussion: "Exits with 0 when every policy accepts the server, else with 1.")

        @Argument(help: "An https URL.")
        var url: String

        @Option(
            help: ArgumentHelp("A policy that a task would set.", valueName: "name"),
            completion: .daemon(.policies))
        var policy: String?

        @OptionGroup var options: VerbOptions

        func run() throws {
            let tested = PolicyTest.Params(url: PastedURL.bare(url), policy: policy)
            let answer = try options.open().call(PolicyTest.self, tested)
            options.show(answer) { report, terminal in ServerReportText(style: terminal.style).lines(report) }
            if answer.value.verdict.value != .accepted { throw CommandFailure(.taskFailed) }
        }
    }

    struct Pin: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "pin",
            abstract: "Show a server's certificates, ready to be pinned.",
            discussion: """
                The server is judged by the ordinary check first. If you pin what this shows, you trust the network \
                once: compare the pins with what the server's operator says. Exits with 1 when the check fails.
                """)

        @Argument(help: ArgumentHelp("A host with an optional port, or an https URL.", valueName: "host[:port]"))
        var host: String

        @OptionGroup var options: VerbOptions

        func run() throws {
            let place = try HostAndPort(host)
            let daemon = try options.open()
            let answer = try daemon.call(PolicyPin.self, PolicyPin.Params(host: place.host, port: place.port))
            options.show(answer) { report, terminal in
                // Without the policies the pins are still worth showing.
                let policies = (try? daemon.all(PolicyList.self))?.value.policies ?? []
                return ServerReportText(style: terminal.style)
                    .pins(report, besides: PinAddition.policy(of: report, among: policies))
            }
            if answer.value.verdict.value != .accepted { throw CommandFailure(.taskFailed) }
        }
    }
}

/// A host with an optional port: `example.org`, `example.org:8443`, `[::1]:8443`. An https URL stands for its host.
struct HostAndPort: Hashable {
    var host: String
    var port = 443

    init(_ argument: String) throws(CommandFailure) {
        var text = PastedURL.bare(argument)
        if let scheme = text.firstRange(of: "://") {
            guard text[..<scheme.lowerBound].lowercased() == "https" else {
                throw .usage("\(SafeText.sanitised(Redaction.url(text))): expected a host, or an https URL")
            }
            text = String(text[scheme.upperBound...].prefix { !"/?#".contains($0) }.split(separator: "@").last ?? "")
        }
        let afterBracket = text.lastIndex(of: "]").map { text.index(after: $0) } ?? text.startIndex
        let colons = text[afterBracket...].filter { $0 == ":" }.count
        guard colons == 1, let colon = text[afterBracket...].lastIndex(of: ":") else {
            host = text
            return
        }
        guard let number = Int(text[text.index(after: colon)...], radix: 10), (1...65_535).contains(number) else {
            throw .usage("\(SafeText.sanitised(text)): expected a port from 1 to 65535 after the colon")
        }
        host = String(text[..<colon])
        port = number
    }
}

/// The texts about trust policies.
struct PolicyText: Sendable {
    let style: Style

    func table(_ policies: [PolicyRecord]) -> Table {
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
        return table
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
