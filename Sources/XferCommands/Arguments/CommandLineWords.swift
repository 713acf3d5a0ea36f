import ArgumentParser
import XferProtocol

/// A command line in the form that ArgumentParser requires: the verb first, and each option's value a separate word.
///
/// People also type `xferctl --json list`, `-n1` and `-ofile`, which other programs accept.
struct CommandLineWords {
    /// The words after the program's name.
    let words: [String]

    /// The words in the order that the parser requires.
    ///
    /// - Throws: `CommandFailure` for an unknown verb, with the one that was probably meant.
    func ordered() throws(CommandFailure) -> [String] {
        let (options, verbs) = split()
        let (path, rest) = try Self.path(of: verbs)
        guard !path.isEmpty else { return words }
        return path + options + Self.separatingValues(of: rest, behind: path)
    }

    /// The options before the verb that every verb has, and `--quiet`, and the words from the verb on. An option that
    /// only some verbs have keeps its place, and `unknownOption` reports it.
    private func split() -> (options: [String], rest: [String]) {
        guard words.first?.hasPrefix("-") == true, let common = Self.arguments(of: ["status"]) else {
            return ([], words)
        }
        var options: [String] = []
        var rest = words[...]
        while let word = rest.first, word.hasPrefix("-"), word != "--" {
            let name = word.prefix { $0 != "=" }
            if Self.quiet.contains(word) {
                options.append(rest.removeFirst())
                continue
            }
            guard let option = common.first(where: { $0.names.contains(String(name)) }) else { return ([], words) }
            options.append(rest.removeFirst())
            if option.kind == .option, name.count == word.count, let value = rest.popFirst() { options.append(value) }
        }
        return (options, Array(rest))
    }

    /// The names of the flag that most verbs have which print more than an answer.
    private static let quiet: Set<String> = ["-q", "--quiet"]

    /// The verb and its subcommands, and the words after them.
    private static func path(of words: [String]) throws(CommandFailure) -> (path: [String], rest: ArraySlice<String>) {
        var path: [String] = []
        var command: any ParsableCommand.Type = RootCommand.self
        var rest = words[...]
        while let word = rest.first, !word.hasPrefix("-"), !command.configuration.subcommands.isEmpty {
            // ArgumentParser's own, which explains the verb that follows.
            if path.isEmpty, word == "help" {
                _ = try Self.path(of: words.dropFirst().filter { !$0.hasPrefix("-") })
                return (words, [])
            }
            let subcommands = command.configuration.subcommands
            guard let next = subcommands.first(where: { names(of: $0).contains(word) }) else {
                // The word may be an argument of the subcommand that is the default.
                if let name = command.configuration.defaultSubcommand?._commandName,
                    arguments(of: path + [name])?.contains(where: { $0.kind == .positional }) != false
                {
                    break
                }
                throw unknown(word, among: subcommands, behind: path)
            }
            path.append(rest.removeFirst())
            command = next
        }
        return (path, rest)
    }

    private static func names(of command: any ParsableCommand.Type) -> [String] {
        [command._commandName] + command.configuration.aliases
    }

    private static func unknown(
        _ word: String, among commands: [any ParsableCommand.Type], behind path: [String]
    ) -> CommandFailure {
        // The URL may contain a password, so it is not repeated.
        guard !word.contains("://") else {
            return .usage("a command is expected before the URL; did you mean `xferctl add URL`?")
        }
        let known = commands.filter { $0.configuration.shouldDisplay }.flatMap { names(of: $0) }
        let command = (["xferctl"] + path).joined(separator: " ")
        let name = SafeText.sanitised(word)
        // The name of a group, for example, in the place of the verb.
        let isName = !path.isEmpty && known.contains("show")
        let show = isName ? ", or `\(command) show \(name)` for the one of that name" : ""
        let near = (known + Synonyms.words(among: known)).filter { !Synonyms.areOpposite($0, word) }.closest(to: word)
        let meant =
            Synonyms.command(word, among: known)
            ?? near.map { known.contains($0) ? $0 : Synonyms.command($0, among: known) ?? $0 }
        let advice =
            Synonyms.sentence(word, behind: path) ?? meant.map { "did you mean \($0)?" }
            ?? "see `\(command) --help`\(show)"
        return .usage("unknown command \"\(name)\"; \(advice)")
    }

    /// A message about all options that the verb does not have, or that have a value of another program's; nil if there
    /// are none.
    ///
    /// The parser would report a missing argument or a contradiction first, and the options one by one.
    var unknownOption: String? {
        guard let (path, rest) = try? Self.path(of: split().rest) else { return nil }
        guard !path.isEmpty else { return misplacedOption }
        guard let arguments = Self.arguments(of: path) else { return nil }
        let names = arguments.flatMap(\.names)
        var lines: [String] = []
        var unknown: [UnknownOption] = []
        var words = rest.prefix { $0 != "--" }
        while let word = words.popFirst() {
            guard let name = Self.optionName(word), !["--help", "--version", "-h"].contains(name) else { continue }
            let option = arguments.first { $0.names.contains(name) }
            if let advice = Synonyms.advice(on: word, value: words.first, of: path) {
                lines.append(advice)
            } else if let letters = Self.unknownLetters(word, of: path, having: arguments) {
                unknown += letters
                continue
            } else if option == nil {
                unknown.append(UnknownOption(name: name, advice: Self.advice(on: name, of: path, having: names)))
            } else if option?.kind == .flag, name.hasPrefix("--"), name != word {
                lines.append(OtherHabits.flagWithValue(name))
            }
            // Its value is an argument of its own, whatever that begins with.
            if option?.kind == .option, name == word { _ = words.popFirst() }
        }
        lines += UnknownOption.lines(unknown)
        return lines.isEmpty ? nil : lines.joined(separator: "\n")
    }

    /// An option that a verb does not have.
    private struct UnknownOption {
        let name: String
        let advice: String

        /// The lines of the message; options with the same advice share one.
        static func lines(_ options: [UnknownOption]) -> [String] {
            var groups: [(names: [String], advice: String)] = []
            for option in options where !groups.contains(where: { $0.names.contains(option.name) }) {
                if let place = groups.firstIndex(where: { $0.advice == option.advice }) {
                    groups[place].names.append(option.name)
                } else {
                    groups.append((names: [option.name], advice: option.advice))
                }
            }
            guard let first = groups.first else { return [] }
            guard groups.count > 1 || first.names.count > 1 else {
                return ["unknown option \(SafeText.sanitised(first.names[0])); \(first.advice)"]
            }
            return ["unknown options:"]
                + groups.map { "  \(SafeText.sanitised($0.names.joined(separator: ", "))): \($0.advice)" }
        }
    }

    /// A message about an option that takes one value and is given twice; nil if there is none. The parser would keep the
    /// last value only, which is right for the daemon's place alone: an alias or a wrapper sets it, the user another one.
    var repeatedOption: String? {
        guard mayRepeat, let ordered = try? ordered(), let (path, words) = try? Self.path(of: ordered), !path.isEmpty,
            let arguments = Self.arguments(of: path)
        else { return nil }
        var rest = words
        var given: [String: String] = [:]
        while let word = rest.popFirst(), word != "--" {
            guard let name = Self.valueName(word),
                let option = arguments.first(where: { $0.kind == .option && $0.names.contains(name) })
            else { continue }
            if !word.contains("=") { _ = rest.popFirst() }
            guard !option.isRepeating, !SuggestedCommand.options.contains(name[...]), let key = option.names.first
            else { continue }
            if let first = given.updateValue(name, forKey: key) {
                return first == name
                    ? "\(name) is given twice, but takes one value"
                    : "\(first) and \(name) are one option, which takes one value"
            }
        }
        return nil
    }

    /// False if surely no option is given twice. Querying the parser for the options would cost time at each start.
    private var mayRepeat: Bool {
        var names: Set<String> = []
        for word in words.prefix(while: { $0 != "--" }) {
            guard let name = Self.valueName(word) else { continue }
            // Several letters may be flags and an option, or an option and its value.
            if !word.hasPrefix("--"), word.utf8.count > 2 { return true }
            guard names.insert(Self.letters[name] ?? name).inserted else { return true }
        }
        return false
    }

    /// `--name` of `--name=value`, and the last letter of `-wo`; nil if the word is no option.
    private static func valueName(_ word: String) -> String? {
        if word.hasPrefix("--") { return String(word.prefix { $0 != "=" }) }
        guard word.hasPrefix("-"), let last = word.dropFirst().last else { return nil }
        return "-\(last)"
    }

    /// The other names of options that take one value, for a first glance. A test compares them with the parser's.
    static let letters = [
        "--login": "-u", "--request": "-X", "--upload-file": "-T", "--limit": "-n", "--lines": "-n", "--last": "-n",
        "--output": "-o", "--cookie": "-b", "--input-file": "-i", "--dir": "-d", "--user-agent": "-A",
        "--referer": "-e", "--max-redirects": "--max-redirs",
    ]

    /// A message about an option before the verb that only some verbs have; nil if there is none.
    private var misplacedOption: String? {
        let verbs = RootCommand.configuration.subcommands.flatMap { Self.names(of: $0) }
        guard let common = Self.arguments(of: ["status"])?.flatMap(\.names),
            let verb = words.first(where: { verbs.contains($0) }),
            let name = words.prefix(while: { $0 != verb && $0 != "--" }).lazy.compactMap(Self.optionName)
                .first(where: { !common.contains($0) && !Self.quiet.contains($0) }),
            Self.arguments(of: [verb])?.contains(where: { $0.names.contains(name) }) == true
        else { return nil }
        let option = SafeText.sanitised(name)
        return "unknown option \(option) before the command; write `xferctl \(verb) \(option)`"
    }

    private static func advice(on name: String, of path: [String], having names: [String]) -> String {
        Synonyms.advice(on: name, of: path, having: names)
            ?? (name.hasPrefix("--") ? names.filter { $0.hasPrefix("--") } : [])
            .filter { !Synonyms.areOpposite($0, name) }.closest(to: name).map { "did you mean \($0)?" }
            ?? "see `xferctl \(path.joined(separator: " ")) --help`"
    }

    /// The unknown letters of a word such as curl's `-fsSL`; nil if there are none, or if the word is one option with its
    /// value.
    private static func unknownLetters(
        _ word: String, of path: [String], having arguments: [CommandTree.Argument]
    ) -> [UnknownOption]? {
        guard !word.hasPrefix("--"), word.utf8.count > 2, word.dropFirst().allSatisfy({ $0.isASCII && $0.isLetter })
        else { return nil }
        let names = arguments.flatMap(\.names)
        var unknown: [UnknownOption] = []
        for letter in word.dropFirst() {
            let option = "-\(letter)"
            guard let known = arguments.first(where: { $0.names.contains(option) }) else {
                // An unknown letter that is no flag elsewhere may take the rest as its value, as wget's -P does.
                guard Synonyms.flags.contains(letter) else { return nil }
                unknown.append(UnknownOption(name: option, advice: advice(on: option, of: path, having: names)))
                continue
            }
            // What follows is its value.
            if known.kind == .option { break }
        }
        return unknown.isEmpty ? nil : unknown
    }

    /// `--name` of `--name=value`, `-n` of `-nvalue`; nil if the argument is no option.
    private static func optionName(_ word: String) -> String? {
        if word.hasPrefix("--") { return String(word.prefix { $0 != "=" }) }
        return word.hasPrefix("-") && word.dropFirst().first?.isLetter == true ? String(word.prefix(2)) : nil
    }

    /// Splits words such as `-n1` into the option and its value. Words that are values themselves stay unchanged.
    private static func separatingValues(of words: ArraySlice<String>, behind path: [String]) -> [String] {
        guard words.contains(where: isJoined), let arguments = arguments(of: path) else { return Array(words) }
        func option(_ name: Substring) -> CommandTree.Argument? {
            arguments.first { $0.kind == .option && $0.names.contains(String(name)) }
        }
        var separated: [String] = []
        var rest = words
        /// The end of the first letter that is an option with a value, after flags, as in `-qo-`.
        func endOfOption(_ word: String) -> String.Index? {
            guard isJoined(word) else { return nil }
            for index in word.indices.dropFirst() {
                let name = "-\(word[index])"
                guard let known = arguments.first(where: { $0.names.contains(name) }) else { return nil }
                if known.kind == .option { return word.index(after: index) }
            }
            return nil
        }
        while let word = rest.popFirst() {
            if word == "--" {
                return separated + [word] + rest
            } else if let end = endOfOption(word) {
                separated.append(String(word[..<end]))
                let value = word[end...]
                if !value.isEmpty {
                    separated.append(String(value.hasPrefix("=") ? value.dropFirst() : value))
                } else if let value = rest.popFirst() {
                    separated.append(value)
                }
            } else {
                separated.append(word)
                if word.hasPrefix("-"), option(word[...]) != nil, let value = rest.popFirst() {
                    separated.append(value)
                }
            }
        }
        return separated
    }

    /// True if the word is a short option together with its value.
    private static func isJoined(_ word: String) -> Bool {
        let start = word.prefix(2)
        return word.utf8.count > 2 && start.first == "-" && start.last?.isLetter == true
    }

    /// The arguments of a verb; nil if the parser's dump of the verbs cannot be read.
    private static func arguments(of path: [String]) -> [CommandTree.Argument]? {
        var command: any ParsableCommand.Type = RootCommand.self
        for name in path {
            guard let next = command.configuration.subcommands.first(where: { names(of: $0).contains(name) }) else {
                return nil
            }
            command = next
        }
        return (try? CommandTree(of: command))?.arguments
    }
}
