/// A command line up to the cursor, split as in bash, and the part of a completion that bash inserts.
///
/// bash passes quotes and backslashes to a completion as they were typed, and inserts its answer unchanged. It replaces
/// only the text after the last of its word breaks, `=` and `:` among them.
struct BashLine {
    /// The words without quotes and backslashes, the program's name first; the last is at the cursor and may be empty.
    private(set) var words = [""]
    /// The quote that is open at the cursor.
    private var quote: Character?
    /// The beginning of the last word that remains on the line.
    private var kept = ""

    /// - Parameter breaks: the characters that end a word of readline, `COMP_WORDBREAKS`.
    init(_ line: String, breaks: String) {
        let separators = Set(breaks).subtracting(" \t\n\"'\\")
        var isEscaped = false
        var hasWord = false
        for character in line {
            if isEscaped {
                isEscaped = false
                // Within double quotes a backslash stays before what needs none (bash(1), QUOTING).
                if quote == "\"", !"$`\"\\\n".contains(character) { append("\\") }
                append(character)
            } else if character == "\\", quote != "'" {
                isEscaped = true
            } else if character == quote {
                quote = nil
            } else if quote == nil, character == "\"" || character == "'" {
                quote = character
                kept = words.last ?? ""
            } else if quote == nil, character == " " || character == "\t" || character == "\n" {
                if hasWord { words.append("") }
                kept = ""
                hasWord = false
                continue
            } else {
                append(character)
                if quote == nil, separators.contains(character) { kept = words.last ?? "" }
            }
            hasWord = true
        }
    }

    private mutating func append(_ character: Character) { words[words.count - 1].append(character) }

    /// The text that bash inserts for a word; nil if it cannot be inside the quotes that are open.
    func replacement(for word: String) -> String? {
        guard word.hasPrefix(kept) else { return nil }
        let rest = word.dropFirst(kept.count)
        switch quote {
        case "'": return String(rest.replacing("'", with: "'\\''"))
        case "\"":
            // An exclamation mark asks for the history here, and a backslash before it would stay.
            guard !rest.contains("!") else { return nil }
            return rest.reduce(into: "") { $0 += "$`\"\\".contains($1) ? "\\\($1)" : "\($1)" }
        default: return rest.reduce(into: "") { $0 += Self.isPlain($1) ? "\($1)" : "\\\($1)" }
        }
    }

    /// True if a character means itself without quotes.
    private static func isPlain(_ character: Character) -> Bool {
        !character.isASCII || character.isLetter || character.isNumber || "_@%+=:,./-".contains(character)
    }
}
