/// The characters that a terminal can show: Unicode, or ASCII alone.
struct Glyphs: Hashable, Sendable {
    let usesUnicode: Bool

    var ellipsis: String { usesUnicode ? "…" : ".." }
    var vertical: String { usesUnicode ? "│" : "|" }
    var horizontal: String { usesUnicode ? "─" : "-" }
    var vertically: String { usesUnicode ? "↑↓" : "up/down" }

    /// Appends text from outside: control characters are removed, and characters that the terminal lacks become
    /// question marks of the same width.
    func text(_ text: String) -> String {
        let safe = SafeText.sanitised(text)
        guard !usesUnicode, !safe.utf8.allSatisfy({ $0 < 0x80 }) else { return safe }
        return safe.map { character in
            character.isASCII
                ? String(character) : String(repeating: "?", count: TextWidth.columns(of: String(character)))
        }.joined()
    }
}

/// One row of a screen that is composed of pieces and never exceeds its width.
struct LineBuilder: Sendable {
    let width: Int
    let style: Style
    let glyphs: Glyphs
    private var text = ""
    private var columns = 0

    init(width: Int, style: Style, glyphs: Glyphs) {
        (self.width, self.style, self.glyphs) = (max(0, width), style, glyphs)
    }

    /// The number of columns that are left.
    var room: Int { width - columns }

    /// Appends text, cut where it does not fit.
    mutating func append(_ piece: String, _ attribute: Style.Attribute? = nil) {
        let fitted = TextWidth.fitted(piece, to: room, ellipsis: glyphs.ellipsis)
        text += style(attribute, fitted)
        columns += TextWidth.columns(of: fitted)
    }

    /// Appends text if all of it fits.
    /// - Returns: true if it did.
    @discardableResult
    mutating func appendWhole(_ piece: String, _ attribute: Style.Attribute? = nil) -> Bool {
        guard TextWidth.columns(of: piece) <= room else { return false }
        append(piece, attribute)
        return true
    }

    /// Appends blanks up to this column.
    mutating func pad(to column: Int) {
        let blanks = min(column, width) - columns
        if blanks > 0 { append(String(repeating: " ", count: blanks)) }
    }

    /// Appends a line that was composed for at most the remaining width.
    mutating func append(_ line: LiveRegion.Line) {
        text += line.text
        columns += line.columns
    }

    var line: LiveRegion.Line { LiveRegion.Line(text: text, columns: columns) }
}
