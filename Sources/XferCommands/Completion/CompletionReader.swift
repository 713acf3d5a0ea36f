import ArgumentParser
import StrictJSON
import XferClient
import XferModel

/// Reads a command line from its beginning, to determine the possible next words.
struct CompletionReader {
    private let root: CommandTree
    private var command: CommandTree
    /// Names of the verb and its subcommands.
    private var path: [String] = []
    /// The option whose value comes next.
    private var pending: CommandTree.Argument?
    private var used: Set<String> = []
    private var positionals: [String] = []
    /// True until `--`, after which nothing is an option.
    private var hasOptions = true
    private var daemon = SocketLocator.Instance.automatic
    private var isRemote = false

    init(_ tree: CommandTree) {
        root = tree
        command = tree
    }

    mutating func read(_ word: String) {
        if let option = pending {
            pending = nil
            return choose(option, word)
        }
        if hasOptions && word == "--" { return hasOptions = false }
        if hasOptions && word.hasPrefix("-") && word != "-" { return readOption(word) }
        if isHelp {
            // A word that is no verb leads to no topic.
            command = command.subcommand(word) ?? CommandTree(raw: [:])
            return path.append(word)
        }
        if positionals.isEmpty, let subcommand = command.subcommand(word) {
            path.append(subcommand.name)
            return command = path == ["help"] ? root : subcommand
        }
        positionals.append(word)
    }

    private mutating func readOption(_ word: String) {
        let name = word.prefix { $0 != "=" }
        guard let option = option(name) else { return }
        used.formUnion(option.names)
        guard name.count != word.count || option.kind == .flag else { return pending = option }
        choose(option, String(word.dropFirst(name.count + 1)))
    }

    /// Applies an option that selects the daemon.
    private mutating func choose(_ option: CommandTree.Argument, _ value: String) {
        if option.names.contains("--socket") { daemon = .socket(value) }
        if option.names.contains("--user") { daemon = .user }
        if option.names.contains("--system") { daemon = .system }
        // Asking over the network takes longer than a person waits for the Tab key.
        if option.names.contains("--server") { isRemote = true }
    }

    // MARK: What may follow

    func completion(of word: String) -> Completion {
        if let pending { return values(of: pending, word[...]) }
        if hasOptions && word.hasPrefix("--"), let equals = word.firstIndex(of: "=") {
            guard let option = option(word[..<equals]), option.kind == .option else { return .words([]) }
            let behind = word.index(after: equals)
            return values(of: option, word[behind...], behind: word[..<behind])
        }
        if hasOptions && word.hasPrefix("-") { return .words(options.filter { $0.text.hasPrefix(word) }) }
        let verbs = positionals.isEmpty ? command.subcommands : []
        guard verbs.isEmpty, !isHelp else { return .words(Self.names(of: verbs, beginningWith: word)) }
        let expected = command.positionals
        let last = expected.indices.last.flatMap { expected[$0].isRepeating ? expected[$0] : nil }
        let argument = expected.indices.contains(positionals.count) ? expected[positionals.count] : last
        return argument.map { values(of: $0, word[...]) } ?? .words([])
    }

    private func values(
        of argument: CommandTree.Argument, _ word: Substring, behind option: Substring = ""
    ) -> Completion {
        switch argument.values {
        case .words(let all):
            return .words(
                all.filter { $0.hasPrefix(word) }.map { Completion.Word(text: option + $0, meaning: "") })
        case .files: return .files
        case .directories: return .directories
        case .daemon where isRemote: return .words([])
        case .daemon(let values):
            var query = Completion.Query(values, word: word, states: states, daemon: daemon)
            query.before = option + query.before
            if argument.kind == .positional {
                query.excluded.formUnion(positionals.flatMap { $0.split(separator: ",").map(String.init) })
            }
            return .query(query)
        case .unknown: return .words([])
        }
    }

    /// Verbs with their meaning; their short names, too, if the typed text begins one.
    private static func names(of verbs: [CommandTree], beginningWith word: String) -> [Completion.Word] {
        let names = verbs.map { Completion.Word(text: $0.name, meaning: $0.abstract) }
        let aliases = verbs.flatMap { verb in
            verb.aliases.map { Completion.Word(text: $0, meaning: "\(verb.name): \(verb.abstract)") }
        }
        return (names + (word.isEmpty ? [] : aliases)).filter { $0.text.hasPrefix(word) }
    }

    /// The options of the verb; before the verb, those that all verbs have.
    private var arguments: [CommandTree.Argument] {
        if path.isEmpty { return command.arguments + (root.subcommand("status")?.arguments ?? []) }
        // The dump does not say which subcommand is the default.
        let standard = verb?.configuration.defaultSubcommand?._commandName
        return command.arguments + (standard.flatMap(command.subcommand)?.arguments ?? [])
    }

    private func option(_ word: Substring) -> CommandTree.Argument? {
        arguments.first { $0.names.contains(String(word)) }
    }

    private var options: [Completion.Word] {
        var names: Set<String> = []
        return arguments.filter { argument in
            argument.kind != .positional && (argument.isRepeating || used.isDisjoint(with: argument.names))
        }.flatMap { argument in
            argument.names.filter { names.insert($0).inserted }
                .map { Completion.Word(text: $0, meaning: argument.abstract) }
        }
    }

    private var isHelp: Bool { path.first == "help" }

    /// States in which the verb can do something about a task.
    private var states: Set<TaskState>? { (verb as? any TaskVerb.Type)?.states }

    /// The verb, or its subcommand, as ArgumentParser has it.
    private var verb: (any ParsableCommand.Type)? {
        path.reduce(RootCommand.self as (any ParsableCommand.Type)?) { command, name in
            command?.configuration.subcommands.first { $0._commandName == name }
        }
    }
}
