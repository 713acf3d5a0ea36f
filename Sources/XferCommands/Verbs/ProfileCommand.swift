import ArgumentParser
import StrictJSON
import XferModel
import XferProtocol

/// `xferctl profile`: the `profile.*` methods.
struct ProfileCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "profile", abstract: "Keep named defaults for requests.",
        discussion: """
            A task with a profile gets the profile's values for options that it does not set. Existing tasks keep the \
            values that they got; only the profile's credential, client certificate and cookies are looked up at every \
            attempt. Only operators may see and write profiles.
            """,
        subcommands: [List.self, Show.self, ProfileSetCommand.self, Remove.self], defaultSubcommand: List.self)

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(commandName: "list", abstract: "List all profiles.")

        @OptionGroup var options: VerbOptions

        func run() throws {
            let session = try options.open()
            options.show(try session.all(ProfileList.self)) { result, terminal in
                ProfileText(style: terminal.style).table(result.profiles).lines(on: terminal, orElse: "no profiles")
            }
            session.reportDamaged("profile")
        }
    }

    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Show everything about a profile but its secrets.", aliases: ["get"])

        @Argument(help: "The profile's name.", completion: .daemon(.profiles))
        var name: String

        @OptionGroup var options: VerbOptions

        func run() throws {
            options.show(try options.open().call(ProfileGet.self, ProfileGet.Params(name: name))) { result, terminal in
                ProfileText(style: terminal.style).lines(result.profile)
            }
        }
    }

    struct Remove: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove",
            abstract: "Remove a profile and its cookies.",
            discussion: "Tasks with its values continue, unless they use its credential.")

        @Argument(help: "The profile's name.", completion: .daemon(.profiles))
        var name: String

        @OptionGroup var options: ActionOptions

        func run() throws {
            options.show(try options.open().call(ProfileRemove.self, ProfileGet.Params(name: name))) { _, _ in
                ["removed \(SafeText.sanitised(name))"]
            }
        }
    }
}

/// The texts about profiles.
struct ProfileText: Sendable {
    let style: Style

    func table(_ profiles: [ProfileRecord]) -> Table {
        var table = Table(columns: [
            Table.Column(title: "NAME"), Table.Column(title: "BASE URL", isFlexible: true),
            Table.Column(title: "CREDENTIAL"), Table.Column(title: "COOKIES"), Table.Column(title: "FROM"),
        ])
        for profile in profiles {
            table.rows.append([
                Table.Cell(profile.name), Table.Cell(profile.baseURL ?? ""),
                Table.Cell(profile.access.credential.applied(to: nil).map { $0.scheme?.wireName ?? "basic" } ?? ""),
                Table.Cell(profile.cookies?.description ?? ""), Table.Cell(profile.origin.description),
            ])
        }
        return table
    }

    /// Returns one line for each field, named as on the wire.
    func lines(_ profile: ProfileRecord) -> [String] {
        (profile.wire.objectValue?.members ?? []).map { name, value in
            style(.bold, TextWidth.padded(name, to: 17))
                + SafeText.sanitised(TimeText.readable(value.stringValue ?? value.text))
        }
    }
}
