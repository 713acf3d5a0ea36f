import XferSystem

/// Commands that messages suggest. They lead to the daemon that the reader's own command line led to: `xferctl retry 1`
/// would be about another task than `xferctl --fleet retry 1`.
enum SuggestedCommand {
    private static let words = Locked("xferctl")
    /// The options of `ConnectionOptions`. A test compares them: querying the parser would cost time at each start.
    static let flags: Set<Substring> = ["--user", "--system", "--fleet"]
    static let options: Set<Substring> = ["--socket", "--server", "--token-file", "--server-ca"]

    /// Keeps the options of this command line that choose the daemon. Called once, by `main`.
    static func follow(_ arguments: [String]) {
        let prefix = prefix(for: arguments)
        words.withLock { $0 = prefix }
    }

    /// The text that the reader has to type for `retry 1`, between backquotes.
    static func text(_ command: String) -> String { "`\(words.withLock { $0 }) \(command)`" }

    /// The text for a command that only operators of the daemon may run. A task's reader may be another user: neither
    /// the record nor a token tells.
    static func ofOperator(_ command: String) -> String { "\(text(command)) (for operators: else ask one to run it)" }

    static func prefix(for arguments: [String]) -> String {
        var chosen = ["xferctl"]
        var rest = arguments.prefix { $0 != "--" }[...]
        while let word = rest.popFirst() {
            let name = word.prefix { $0 != "=" }
            if flags.contains(name) {
                chosen.append(word)
            } else if options.contains(name) {
                chosen.append(quoted(word))
                if name.count == word.count, let value = rest.popFirst() { chosen.append(quoted(value)) }
            }
        }
        return SafeText.sanitised(chosen.joined(separator: " "))
    }

    /// The text as one word of a POSIX shell.
    static func quoted(_ word: String) -> String {
        let isPlain = word.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_./:=@%+,".contains($0)) }
        if isPlain, !word.isEmpty { return word }
        return "'" + word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
}
