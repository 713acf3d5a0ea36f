import ArgumentParser

enum Shell: String, CaseIterable, ExpressibleByArgument {
    case bash, zsh, fish
}

/// `xferctl completions`: a script for the shell.
struct CompletionsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "completions", abstract: "Print a completion script for a shell.",
        discussion: """
            xferctl completions bash > ~/.local/share/bash-completion/completions/xferctl

            xferctl completions zsh > ~/.local/share/zsh/site-functions/_xferctl    # a directory of fpath

            xferctl completions fish > ~/.config/fish/completions/xferctl.fish
            """)

    @Argument(help: "The shell.")
    var shell: Shell

    func run() {
        switch shell {
        case .bash: Output.standard.line(CompletionScript.bash)
        case .zsh: Output.standard.line(CompletionScript.zsh)
        case .fish: Output.standard.line(CompletionScript.fish)
        }
    }
}

/// `xferctl complete`: the possible words at the cursor, for the scripts that `xferctl completions` prints.
struct CompleteCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "complete", abstract: "Print the completions at the cursor.", shouldDisplay: false)

    @Argument(help: "The shell.")
    var shell: Shell

    @Argument(
        parsing: .postTerminator,
        help: "The words typed so far, the last at the cursor; for bash the line up to the cursor.")
    var words: [String] = []

    @Option(help: ArgumentHelp("bash's COMP_TYPE.", valueName: "number"))
    var type = 9

    @Option(help: ArgumentHelp("bash's COMP_WORDBREAKS.", valueName: "characters"))
    var breaks = "\"'@><=;|&(:"

    func run() throws {
        let tree = try CommandTree.ofThisProgram()
        for line in shell == .bash ? bashLines(tree) : Completion(plainWords, in: tree).lines {
            Output.standard.line(line)
        }
    }

    /// The completions for bash. The line is one argument: bash splits its own words at `=` and `:`.
    private func bashLines(_ tree: CommandTree) -> [String] {
        let line = BashLine(words.joined(separator: " "), breaks: breaks)
        let completion = Completion(Array(line.words.dropFirst()), in: tree)
        guard case .words(let found) = completion.resolved() else { return completion.lines }
        var areNumbers = false
        if case .query(let query) = completion { areNumbers = query.values.areNumbers }
        let isListing = areNumbers && found.count > 1 && Self.listingTypes.contains(type)
        return ["words"]
            + found.compactMap { word in
                line.replacement(for: word.text).map { isListing ? "\($0)  (\(word.meaning))" : $0 }
            }
    }

    /// The types of completion with which bash shows the words without inserting one: `?` and `!` of bash(1). A number
    /// without its name means nothing to a person.
    private static let listingTypes = [63, 33]

    /// The words without quotes: fish leaves quotes in the word at the cursor.
    private var plainWords: [String] {
        guard shell == .fish, let last = words.last else { return words }
        return words.dropLast() + [BashLine(last, breaks: "").words.joined(separator: " ")]
    }
}
