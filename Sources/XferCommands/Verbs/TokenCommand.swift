import ArgumentParser
import XferModel
import XferProtocol

/// `xferctl token`: the `token.*` methods.
struct TokenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token", abstract: "Make, list and revoke tokens of clients on the network.",
        discussion: """
            The daemon listens on the network only where its configuration says so, under `listen`. A token has the \
            rights of its user, narrowed to its scope.
            """,
        subcommands: [List.self, Add.self, Revoke.self], defaultSubcommand: List.self)

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List them, without the tokens themselves.")

        @OptionGroup var options: VerbOptions

        func run() throws {
            let session = try options.open()
            options.show(try session.all(TokenList.self)) { result, terminal in
                TokenText.lines(result.tokens, terminal)
            }
            session.reportDamaged("token")
        }
    }

    struct Add: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "add",
            abstract: "Make a token and print it.",
            discussion: """
                The token is shown once; xferd stores only its hash. The scope metrics permits only /metrics; read \
                permits calls that change nothing; add permits only adding tasks; own also permits reading and \
                changing what belongs to the user; operate permits everything that the user may do on the socket.
                """)

        @Argument(help: ArgumentHelp("Name by which the token is listed and revoked.", valueName: "name"))
        var name: String

        @Option(
            help: ArgumentHelp(
                "User the token acts for (name or uid); default: you. A guest's token needs --dir.",
                valueName: "user"))
        var owner: String?

        @Option(
            help: ArgumentHelp("What the token permits: metrics, read, add, own or operate.", valueName: "scope"),
            completion: .list(TokenScope.allCases.map(\.rawValue)),
            transform: { text in
                guard let scope = TokenScope(rawValue: text) else {
                    throw ValidationError("expected metrics, read, add, own or operate")
                }
                return scope
            })
        var scope: TokenScope

        @Option(
            help: ArgumentHelp("Expiry, such as +90d or 2027-01-01 10:00; default: never.", valueName: "time"),
            transform: { try TimeArgument.argument($0) })
        var expiresAt: TimeArgument?

        @Option(
            name: [.customShort("d"), .customLong("dir")],
            help: ArgumentHelp(
                "With the scope add or own: its tasks write beneath this directory; default is download.dir. For a guest's token set one.",
                valueName: "dir"), completion: .directory)
        var directory: String?

        @OptionGroup var options: VerbOptions

        func run() throws {
            let directory = directory.map { PathResolver.current(for: options.connection)?.absolute($0) ?? $0 }
            let params = TokenAdd.Params(
                name: name, user: owner, scope: scope, expiresAt: expiresAt?.time, directory: directory)
            options.show(try options.open().call(TokenAdd.self, params)) { result, _ in [result.secret] }
        }
    }

    struct Revoke: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "revoke",
            abstract: "End tokens.", discussion: "They are refused at once, and their connections are closed.")

        @Argument(help: ArgumentHelp("Names of the tokens.", valueName: "name"))
        var names: [String]

        @OptionGroup var options: ActionOptions

        func run() throws {
            let session = try options.open()
            for name in names {
                let answer = try session.call(TokenRevoke.self, TokenRevoke.Params(name: name))
                options.show(answer) { _, _ in ["\(SafeText.sanitised(name)): revoked"] }
            }
        }
    }
}

/// The texts about tokens.
private enum TokenText {
    static func lines(_ tokens: [TokenRecord], _ terminal: Terminal) -> [String] {
        var table = Table(columns: [
            Table.Column(title: "NAME"), Table.Column(title: "USER", alignment: .right), Table.Column(title: "SCOPE"),
            Table.Column(title: "ADDED"), Table.Column(title: "EXPIRES"),
            Table.Column(title: "DIRECTORY", isFlexible: true),
        ])
        table.rows = tokens.map { token in
            [
                Table.Cell(token.name), Table.Cell("\(token.user)"), Table.Cell(token.scope.description),
                Table.Cell(TimeText.local(token.createdAt)),
                Table.Cell(expiry(token)), Table.Cell(token.directory ?? ""),
            ]
        }
        return table.lines(on: terminal, orElse: "no tokens")
    }

    private static func expiry(_ token: TokenRecord) -> String {
        guard let time = token.expiresAt else { return "never" }
        return time <= .now ? "expired \(TimeText.local(time))" : TimeText.local(time)
    }
}
