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

/// `xferctl complete`: what may stand at the cursor, for the scripts that `xferctl completions` prints.
struct CompleteCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "complete", abstract: "Say what may stand at the cursor.", shouldDisplay: false)

    @Argument(help: "The shell.")
    var shell: Shell

    @Argument(parsing: .postTerminator, help: "The words typed so far; the last is at the cursor.")
    var words: [String] = []

    func run() throws {
        let words = shell == .bash ? Self.joined(words) : self.words
        var completion = Completion(words, in: try CommandTree.ofThisProgram())
        // bash puts back what is before the equals sign by itself.
        if shell == .bash, case .words(let found) = completion, let option = words.last, option.hasPrefix("--"),
            let equals = option.firstIndex(of: "=")
        {
            let length = option.distance(from: option.startIndex, to: equals) + 1
            completion = .words(
                found.map { Completion.Word(text: String($0.text.dropFirst(length)), meaning: $0.meaning) })
        }
        for line in completion.lines { Output.standard.line(line) }
    }

    /// `--option`, `=` and `value`, as bash splits them, in one word again.
    static func joined(_ words: [String]) -> [String] {
        var joined: [String] = []
        var isBehindEquals = false
        for word in words {
            if word == "=", let last = joined.last, last.hasPrefix("--") {
                joined[joined.count - 1] += "="
                isBehindEquals = true
            } else if isBehindEquals {
                joined[joined.count - 1] += word
                isBehindEquals = false
            } else {
                joined.append(word)
            }
        }
        return joined
    }
}
