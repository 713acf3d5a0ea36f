/// What may stand at the cursor of a command line. A value: from the tree of verbs and the words typed so far.
enum Completion: Hashable, Sendable {
    /// In the order of help; only those that begin with what is typed.
    case words([Word])
    /// The shell knows best.
    case files
    case directories

    struct Word: Hashable, Sendable {
        let text: String
        let meaning: String
    }

    /// - Parameters:
    ///   - words: after the program's name; the last one is at the cursor and may be empty.
    ///   - tree: the program's.
    init(_ words: [String], in tree: CommandTree) {
        var reader = Reader(command: tree)
        for word in words.dropLast() { reader.read(word) }
        self = reader.completion(of: words.last ?? "")
    }

    private init(_ values: CommandTree.Argument.Values, beginningWith prefix: Substring, behind option: Substring = "")
    {
        switch values {
        case .words(let all):
            self = .words(
                all.filter { $0.hasPrefix(prefix) }.map { Word(text: option + $0, meaning: "") })
        case .files: self = .files
        case .directories: self = .directories
        case .unknown: self = .words([])
        }
    }

    /// Reads a command line from its beginning.
    private struct Reader {
        var command: CommandTree
        /// The option whose value comes next.
        var pending: CommandTree.Argument?
        var used: Set<String> = []
        var positionals = 0
        /// Behind `--` nothing is an option.
        var hasOptions = true

        mutating func read(_ word: String) {
            if pending != nil { return pending = nil }
            if hasOptions && word == "--" { return hasOptions = false }
            if hasOptions && word.hasPrefix("-") && word != "-" {
                let name = word.prefix { $0 != "=" }
                guard let option = command.option(name) else { return }
                used.formUnion(option.names)
                if option.kind == .option && name.count == word.count { pending = option }
                return
            }
            if positionals == 0, let subcommand = command.subcommand(word) {
                return command = subcommand
            }
            positionals += 1
        }

        func completion(of word: String) -> Completion {
            if let pending { return Completion(pending.values, beginningWith: word[...]) }
            if hasOptions && word.hasPrefix("--"), let equals = word.firstIndex(of: "=") {
                guard let option = command.option(word[..<equals]), option.kind == .option else { return .words([]) }
                let behind = word.index(after: equals)
                return Completion(option.values, beginningWith: word[behind...], behind: word[..<behind])
            }
            if hasOptions && word.hasPrefix("-") { return .words(options.filter { $0.text.hasPrefix(word) }) }
            let verbs = positionals == 0 ? command.subcommands : []
            guard verbs.isEmpty else {
                return .words(
                    verbs.map { Word(text: $0.name, meaning: $0.abstract) }.filter { $0.text.hasPrefix(word) })
            }
            let expected = command.positionals
            let last = expected.indices.last.flatMap { expected[$0].isRepeating ? expected[$0] : nil }
            let argument = expected.indices.contains(positionals) ? expected[positionals] : last
            return Completion(argument?.values ?? .unknown, beginningWith: word[...])
        }

        private var options: [Word] {
            command.arguments.filter { argument in
                argument.kind != .positional && (argument.isRepeating || used.isDisjoint(with: argument.names))
            }.flatMap { argument in argument.names.map { Word(text: $0, meaning: argument.abstract) } }
        }
    }
}

extension Completion {
    /// As the shells' scripts read it: what it is in the first line, then a word in each, with its meaning behind a tab.
    var lines: [String] {
        switch self {
        case .words(let words):
            ["words"] + words.map { $0.meaning.isEmpty ? $0.text : "\($0.text)\t\($0.meaning)" }
        case .files: ["files"]
        case .directories: ["directories"]
        }
    }
}
