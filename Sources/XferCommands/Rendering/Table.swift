/// Rows of cells under headings, columns aligned, for terminals of any width.
struct Table: Sendable {
    struct Column: Sendable {
        var title: String
        var alignment: TextWidth.Alignment = .left
        /// True if it is cut when the rows do not fit; the widest is cut first.
        var isFlexible = false
        var cut = Cut.middle
    }

    /// The part of a text that is left out if the text does not fit.
    enum Cut: Sendable {
        /// The middle, for names, so that a file's extension stays.
        case middle
        /// The end, for sentences, which begin with the important part.
        case end
    }

    struct Cell: Sendable, ExpressibleByStringInterpolation {
        var text: String
        var attribute: Style.Attribute?

        init(_ text: String, _ attribute: Style.Attribute? = nil) {
            self.text = text
            self.attribute = attribute
        }

        init(stringLiteral value: String) { self.init(value) }
    }

    var columns: [Column]
    var rows: [[Cell]] = []

    private static let gap = "  "
    /// The smallest width of a flexible column, in columns.
    private static let narrowest = 12

    /// Puts a column before the others that numbers the rows from 1.
    mutating func number(_ title: String) {
        columns.insert(Column(title: title, alignment: .right), at: 0)
        for index in rows.indices { rows[index].insert(Cell("\(index + 1)"), at: 0) }
    }

    /// The lines without trailing blanks. Text is sanitised here.
    /// - Parameters:
    ///   - width: columns to fit into; nil when piped, where nothing is cut.
    ///   - hasHeading: true if the first line has the columns' names.
    func lines(style: Style, width: Int?, hasHeading: Bool = true) -> [String] {
        let cells = rows.map { row in row.map { Cell(SafeText.sanitised($0.text), $0.attribute) } }
        let widths = fitted(natural(cells, hasHeading), into: width)
        let heading = hasHeading ? [columns.map { Cell($0.title, .bold) }] : []
        return (heading + cells).map { line($0, widths, style) }
    }

    /// The lines for a terminal, fitted into its width. For an empty table a terminal gets a text, and other outputs
    /// nothing.
    ///
    /// - Parameter emptiness: such as `no groups`.
    func lines(on terminal: Terminal, orElse emptiness: String, hasHeading: Bool = true) -> [String] {
        guard !rows.isEmpty else { return terminal.isInteractive ? [emptiness] : [] }
        let width = terminal.isInteractive ? terminal.size.columns : nil
        return lines(style: terminal.style, width: width, hasHeading: hasHeading)
    }

    private func natural(_ cells: [[Cell]], _ hasHeading: Bool) -> [Int] {
        columns.indices.map { index in
            cells.reduce(hasHeading ? TextWidth.columns(of: columns[index].title) : 0) {
                max($0, TextWidth.columns(of: $1[index].text))
            }
        }
    }

    private func fitted(_ widths: [Int], into limit: Int?) -> [Int] {
        var widths = widths
        guard let limit else { return widths }
        var excess = widths.reduce(0, +) + Self.gap.count * (widths.count - 1) - limit
        let flexible = columns.indices.filter { columns[$0].isFlexible }
        while excess > 0, let widest = flexible.max(by: { widths[$0] < widths[$1] }), widths[widest] > Self.narrowest {
            // Down to the next one at once: a URL may have thousands of columns.
            let next = flexible.map { widths[$0] }.filter { $0 < widths[widest] }.max() ?? 0
            let cut = min(excess, max(1, widths[widest] - max(next, Self.narrowest)))
            widths[widest] -= cut
            excess -= cut
        }
        return widths
    }

    private func line(_ cells: [Cell], _ widths: [Int], _ style: Style) -> String {
        var result = ""
        for (index, cell) in cells.enumerated() {
            let text = TextWidth.fitted(
                cell.text, to: widths[index], keepingEnd: columns[index].cut == .middle)
            let padding = String(repeating: " ", count: max(0, widths[index] - TextWidth.columns(of: text)))
            let styled = style(cell.attribute, text)
            let isLast = index == cells.count - 1
            switch columns[index].alignment {
            case .right: result += padding + styled
            case .left: result += isLast ? styled : styled + padding
            }
            if !isLast { result += Self.gap }
        }
        while result.last == " " { result.removeLast() }
        return result
    }
}
