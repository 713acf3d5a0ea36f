import ArgumentParser
import XferModel
import XferProtocol

/// `xferctl policy`: the `policy.*` methods.
struct PolicyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "policy", abstract: "Say which servers are believed, and how.",
        discussion: """
            A trust policy applies to the hosts its patterns match; the most specific pattern wins, and the policy \
            "default" applies to all others. Only operators may write policies.
            """,
        subcommands: [List.self, Show.self, PolicySetCommand.self, Remove.self, Test.self, Pin.self],
        defaultSubcommand: List.self)

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List all policies.")

        @OptionGroup var options: VerbOptions

        func run() throws {
            options.show(try options.open().call(PolicyList.self)) { result, terminal in
                PolicyText(style: terminal.style).table(
                    result.policies, width: terminal.isInteractive ? terminal.size.columns : nil)
            }
        }
    }

    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Show everything about a policy.")

        @Argument(help: "The policy's name.")
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
            abstract: "Forget a policy.",
            discussion: "Its hosts are judged by the next less specific policy from then on.")

        @Argument(help: "The policy's name.")
        var name: String

        @OptionGroup var options: VerbOptions

        func run() throws {
            options.show(try options.open().call(PolicyRemove.self, PolicyGet.Params(name: name))) { _, _ in
                ["removed \(SafeText.sanitised(name))"]
            }
        }
    }

    struct Test: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show how a server is judged, without transferring anything.",
            discussion: "Exits with 0 when every policy accepts the server, else with 1.")

        @Argument(help: "An https URL.")
        var url: String

        @Option(help: ArgumentHelp("A policy that a task would name.", valueName: "name"))
        var policy: String?

        @OptionGroup var options: VerbOptions

        func run() throws {
            let answer = try options.open().call(PolicyTest.self, PolicyTest.Params(url: url, policy: policy))
            options.show(answer) { report, terminal in ServerReportText(style: terminal.style).lines(report) }
            if answer.value.verdict.value != .accepted { throw CommandFailure(.taskFailed) }
        }
    }

    struct Pin: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show a server's certificates, ready to be pinned.",
            discussion: """
                The server is judged by the ordinary check first. If you pin what this shows, you trust the network once: \
                compare the pins with what the server's operator says. Exits with 1 when the check fails.
                """)

        @Argument(help: ArgumentHelp("A host with an optional port.", valueName: "host[:port]"))
        var host: String

        @OptionGroup var options: VerbOptions

        func run() throws {
            let place = try HostAndPort(host)
            let answer = try options.open()
                .call(PolicyPin.self, PolicyPin.Params(host: place.host, port: place.port))
            options.show(answer) { report, terminal in ServerReportText(style: terminal.style).pins(report) }
            if answer.value.verdict.value != .accepted { throw CommandFailure(.taskFailed) }
        }
    }
}

/// `example.org`, `example.org:8443`, `[::1]:8443`.
struct HostAndPort: Hashable {
    var host: String
    var port = 443

    init(_ text: String) throws(CommandFailure) {
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
