/// Writes man(7) markup.
struct Roff {
    private(set) var output = ""

    /// A request line with quoted arguments: `.SH "EXIT STATUS"`.
    mutating func request(_ name: String, _ arguments: [String] = []) {
        let quoted = arguments.map { "\"\(Self.escaped($0).split(separator: "\"").joined(separator: "\\(dq"))\"" }
        output += ([".\(name)"] + quoted).joined(separator: " ") + "\n"
    }

    /// A line of text that is markup already.
    mutating func text(_ markup: String) {
        output += (markup.hasPrefix(".") || markup.hasPrefix("'") ? "\\&" : "") + markup + "\n"
    }

    /// Plain text; blank lines separate paragraphs and indented lines stay as they are.
    mutating func paragraphs(_ plain: String) {
        var isLiteral = false
        for line in plain.split(separator: "\n", omittingEmptySubsequences: false) {
            let wantsLiteral = line.hasPrefix("  ") || (line.isEmpty && isLiteral)
            if wantsLiteral != isLiteral {
                request(wantsLiteral ? "nf" : "fi")
                isLiteral = wantsLiteral
            }
            if line.isEmpty { request("PP") } else { text(Self.escaped(String(line))) }
        }
        if isLiteral { request("fi") }
    }

    /// A tagged paragraph.
    mutating func entry(term: String, _ meaning: String) {
        request("TP")
        text(term)
        text(Self.escaped(meaning))
    }

    /// Plain text with roff's own characters escaped (groff_char(7)).
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
