/// Writes man(7) markup.
struct Roff {
    private(set) var output = ""

    /// A request line with quoted arguments: `.SH "EXIT STATUS"`.
    mutating func request(_ name: String, _ arguments: [String] = []) {
        let quoted = arguments.map { "\"\(Self.escaped($0).split(separator: "\"").joined(separator: "\\(dq"))\"" }
        output += ([".\(name)"] + quoted).joined(separator: " ") + "\n"
    }

    /// Appends a line of text that is markup already.
    mutating func text(_ markup: String) {
        output += (markup.hasPrefix(".") || markup.hasPrefix("'") ? "\\&" : "") + markup + "\n"
    }

    /// Appends plain text; blank lines separate paragraphs and indented lines stay unchanged.
    mutating func paragraphs(_ plain: String) {
        var isLiteral = false
        var isFirst = true
        var followsBlank = false
        for line in plain.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
            guard !line.isEmpty else {
                followsBlank = !isFirst
                continue
            }
            let wantsLiteral = line.hasPrefix("  ")
            if followsBlank, !(isLiteral && wantsLiteral) { request("PP") }
            if wantsLiteral != isLiteral { request(wantsLiteral ? "nf" : "fi") }
            isLiteral = wantsLiteral
            isFirst = false
            followsBlank = false
            if isLiteral { text(Self.escaped(line)) } else { filled(Self.escaped(line)) }
        }
        if isLiteral { request("fi") }
    }

    /// Appends markup whose lines may be broken between words.
    private mutating func filled(_ markup: String) {
        for line in Self.lines(markup) { text(line) }
    }

    /// Breaks markup into lines of at most 78 characters, each sentence on lines of its own, as mandoc(1) requires.
    static func lines(_ markup: String) -> [String] {
        var lines: [String] = []
        var line = ""
        for word in markup.split(separator: " ") {
            if !line.isEmpty, line.count + word.count > 76 {
                lines.append(line)
                line = ""
            }
            line += (line.isEmpty ? "" : " ") + word
            if word.hasSuffix("."), !word.hasSuffix("..") {
                lines.append(line)
                line = ""
            }
        }
        return line.isEmpty ? lines : lines + [line]
    }

    /// A tagged paragraph.
    mutating func entry(term: String, _ meaning: String) {
        request("TP")
        text(term)
        filled(Self.escaped(meaning))
    }

    /// Escapes roff's own characters in plain text (groff_char(7)).
    static func escaped(_ plain: String) -> String {
        var result = ""
        for character in plain {
            switch character {
            case "\\": result += "\\e"
            case "-": result += "\\-"
            case "`": result += "\\(ga"
            case "~": result += "\\(ti"
            case "^": result += "\\(ha"
            default: result.append(character)
            }
        }
        return result
    }
}
