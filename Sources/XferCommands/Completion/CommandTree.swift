import ArgumentParser
import StrictJSON

/// A verb, its arguments and its subcommands as ArgumentParser dumps them (`ToolInfoV0`).
struct CommandTree: Sendable {
    let raw: JSONValue

    init(raw: JSONValue) { self.raw = raw }

    /// The tree below one verb.
    ///
    /// - Throws: `JSONSyntaxError` if the dump is not JSON.
    init(of command: any ParsableCommand.Type) throws {
        let dump = try JSONValue(parsing: Array(command._dumpHelp().utf8))
        raw = dump["command"] ?? dump
    }

    /// The tree of all verbs of this program.
    ///
    /// - Throws: `JSONSyntaxError` if the dump is not JSON.
    static func ofThisProgram() throws -> CommandTree { try dumped.get() }

    /// The dump, made once: it reads every verb by reflection and is 600 KB long, which takes a tenth of a second.
    private static let dumped = Result { try CommandTree(of: RootCommand.self) }

    var name: String { raw["commandName"]?.stringValue ?? "" }
    var abstract: String { raw["abstract"]?.stringValue ?? "" }
    var aliases: [String] { (raw["aliases"]?.arrayValue ?? []).compactMap(\.stringValue) }

    /// The subcommands that the help shows.
    var subcommands: [CommandTree] {
        (raw["subcommands"]?.arrayValue ?? []).filter { $0["shouldDisplay"] != false }.map(CommandTree.init)
    }

    var arguments: [Argument] {
        (raw["arguments"]?.arrayValue ?? []).filter { $0["shouldDisplay"] != false }.map(Argument.init)
    }

    var positionals: [Argument] { arguments.filter { $0.kind == .positional } }

    /// The subcommand with this name; nil if there is none.
    ///
    /// - Parameter name: the subcommand's name or an alias.
    func subcommand(_ name: String) -> CommandTree? {
        (raw["subcommands"]?.arrayValue ?? []).map(CommandTree.init).first {
            $0.name == name || $0.raw["aliases"]?.arrayValue?.contains(.string(name)) == true
        }
    }

    /// The option with this name; nil if there is none.
    ///
    /// - Parameter word: the option's name with its dashes.
    func option(_ word: Substring) -> Argument? { arguments.first { $0.names.contains(String(word)) } }

    /// An option, flag or positional argument.
    struct Argument: Sendable {
        enum Kind: String { case positional, option, flag }
        enum Values: Hashable {
            case words([String])
            case files
            case directories
            case daemon(DaemonValues)
            case unknown
        }

        let raw: JSONValue

        var kind: Kind { raw["kind"]?.stringValue.flatMap(Kind.init) ?? .flag }
        var isRepeating: Bool { raw["isRepeating"] == true }
        var abstract: String { raw["abstract"]?.stringValue ?? "" }

        /// The names of an option with their dashes.
        var names: [String] {
            (raw["names"]?.arrayValue ?? []).compactMap { name in
                name["name"]?.stringValue.map { (name["kind"] == "long" ? "--" : "-") + $0 }
            }
        }

        var values: Values {
            let words = (raw["allValues"] ?? raw["allValueStrings"])?.arrayValue ?? []
            if !words.isEmpty { return .words(words.compactMap(\.stringValue)) }
            let kind = raw["completionKind"]
            if let list = kind?["list"]?["values"]?.arrayValue { return .words(list.compactMap(\.stringValue)) }
            if let mark = kind?["shellCommand"]?["command"]?.stringValue, let values = DaemonValues(mark: mark) {
                return .daemon(values)
            }
            if kind?["file"] != nil { return .files }
            return kind?["directory"] != nil ? .directories : .unknown
        }
    }
}
