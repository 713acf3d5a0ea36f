import StrictJSON

/// Help texts with the most used options. ArgumentParser's complete help is shown by `--help-all`.
enum ShortHelp {
    /// The help that a command line requests; nil if it requests none, or all.
    static func text(for words: [String], width: Int = 80) -> String? {
        if words.isEmpty { return root }
        let words = words.prefix { $0 != "--" }
        let verbs = words.filter { !$0.hasPrefix("-") }
        guard !words.contains("--help-all") else { return nil }
        let asks = words.contains("--help") || words.contains("-h") || words.first == "help"
        let verb = words.first == "help" ? verbs.dropFirst().first : verbs.first
        return asks && verb == "add" ? add(width: width) : nil
    }

    /// The command line with the spelling of `--help-all` that the parser knows.
    static func spelled(_ words: [String]) -> [String] {
        let end = words.firstIndex(of: "--") ?? words.endIndex
        return words[..<end].map { $0 == "--help-all" ? "--help" : $0 } + words[end...]
    }

    static let root = """
        xferctl commands xferd, which downloads in the background.

          add URL       Download; --wait shows the progress, -o FILE sets the file.
          list          Show what runs, what waits and why, and what ended.
          watch         Follow the queue on the whole screen; keys command it.
          show ID       Show one task: why it waits or failed, and what to do.
          pause ID      Pause it; `resume ID` continues from the bytes it has.
          cancel ID     Cancel it; `retry ID` starts it again.
          remove ID     Remove it from the list; --files deletes its file, too.
          limit         Show and set the rate and how many run at a time.
          log ID        Show the events of a task.
          doctor        Examine the machine and the daemon, and give advice.

        `xferctl --help` lists every command, `xferctl COMMAND --help` explains one.
        """

    /// The options of `add` that are used most, in the order in which they are shown.
    static let optionsOfAdd = [
        "--output", "--dir", "--remote-name", "--input-file", "--wait", "--checksum", "--checksums", "--on-conflict",
        "--limit-rate", "--max-retries", "--not-before", "--login", "--cookie", "--header", "--mirror", "--proxy",
    ]

    private static func add(width: Int) -> String? {
        guard let command = try? CommandTree.ofThisProgram().subcommand("add") else { return nil }
        let options = optionsOfAdd.compactMap { name in command.arguments.first { $0.names.contains(name) } }
        let rows = options.map { option in
            let value = option.kind == .option ? " <\(option.raw["valueName"]?.stringValue ?? "value")>" : ""
            return (option.names.joined(separator: ", ") + value, option.abstract)
        }
        var lines = [
            "Add downloads, uploads and requests: xferctl add [<options>] <url> ...", "",
            "When this returns, the daemon has the tasks on disk: they survive crashes and",
            "power cuts. Without -d, -o and -O files go to the daemon's own directory.", "",
            "  xferctl add https://example.org/file.iso",
            "  xferctl add --wait -o file.iso --checksum HEX https://example.org/file.iso",
            "  xferctl add -d ~/mirror -i urls.txt", "",
        ]
        for (term, meaning) in rows { lines += entry(term, meaning, width: width) }
        return (lines + ["", "`xferctl add --help-all` has every option, `xferctl man` the manual."])
            .joined(separator: "\n")
    }

    private static let indent = 26

    /// An option and its effect, in two columns.
    static func entry(_ term: String, _ meaning: String, width: Int) -> [String] {
        let wrapped = wrap(meaning, width: max(20, width - indent))
        let head = "  " + term
        guard head.count < indent, let first = wrapped.first else {
            return [head] + wrapped.map { String(repeating: " ", count: indent) + $0 }
        }
        let padding = String(repeating: " ", count: indent - head.count)
        return [head + padding + first] + wrapped.dropFirst().map { String(repeating: " ", count: indent) + $0 }
    }

    private static func wrap(_ text: String, width: Int) -> [String] {
        var lines: [String] = []
        for word in text.split(separator: " ") {
            if let last = lines.last, last.count + 1 + word.count <= width {
                lines[lines.count - 1] = "\(last) \(word)"
            } else {
                lines.append(String(word))
            }
        }
        return lines
    }
}
