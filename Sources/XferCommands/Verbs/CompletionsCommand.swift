import ArgumentParser

/// `xferctl completions`: a script for the shell.
struct CompletionsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "completions", abstract: "Print a completion script for a shell.",
        discussion: """
            For bash:

              xferctl completions bash > ~/.local/share/bash-completion/completions/xferctl
            """)

    @Argument(help: "The shell.")
    var shell: Shell

    enum Shell: String, CaseIterable, ExpressibleByArgument {
        case bash, zsh, fish

        var kind: CompletionShell {
            switch self {
            case .bash: .bash
            case .zsh: .zsh
            case .fish: .fish
            }
        }
    }

    func run() { Output.standard.line(RootCommand.completionScript(for: shell.kind)) }
}
