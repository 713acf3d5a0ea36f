/// Some lines at the bottom of a terminal that are redrawn in place, above which finished lines scroll away.
///
/// Every frame is one write, so that a slow terminal never shows half of one. Afterwards only the finished lines and
/// the last frame remain on the screen: the scroll-back looks as if it had been printed once.
struct LiveRegion {
    private let terminal: Terminal
    /// Widths, in columns, of the lines now on the screen, at the time they were drawn.
    private var drawn: [Int] = []
    private var isCursorHidden = false

    init(_ terminal: Terminal) { self.terminal = terminal }

    /// Replaces the region by `lines`, each already at most as wide as the terminal and possibly styled.
    /// - Parameter finished: lines that scroll away above the region and are never touched again.
    mutating func show(_ lines: [Line], finished: [Line] = []) {
        let size = terminal.size
        var frame = isCursorHidden ? "" : "\u{1b}[?25l"
        isCursorHidden = true
        frame += returnToTop(columns: size.columns)
        for line in finished { frame += line.text + "\u{1b}[K\n" }
        // One row is kept free: a region as tall as the screen could not be found again after it has scrolled.
        let visible = lines.prefix(max(1, size.rows - 1))
        frame += visible.map { $0.text + "\u{1b}[K" }.joined(separator: "\n")
        frame += "\u{1b}[J"
        drawn = visible.map(\.columns)
        terminal.output.write(frame)
    }

    /// Leaves the last frame on the screen, puts the cursor below it and shows the cursor again.
    mutating func finish() {
        guard isCursorHidden else { return }
        terminal.output.write((drawn.isEmpty ? "" : "\n") + "\u{1b}[?25h")
        drawn = []
        isCursorHidden = false
    }

    /// Takes the region off the screen and shows the cursor again.
    mutating func clear() {
        guard isCursorHidden else { return }
        terminal.output.write(returnToTop(columns: terminal.size.columns) + "\u{1b}[J\u{1b}[?25h")
        drawn = []
        isCursorHidden = false
    }

    /// The sequence that moves to the first column of the region's first row. A terminal that became narrower has
    /// wrapped the lines, so rows are counted with the current width.
    private func returnToTop(columns: Int) -> String {
        guard !drawn.isEmpty else { return "" }
        let rows = drawn.reduce(0) { $0 + max(1, ($1 + columns - 1) / max(1, columns)) }
        return rows > 1 ? "\r\u{1b}[\(rows - 1)A" : "\r"
    }

    /// One row: its text, possibly styled, and how many columns it takes.
    struct Line: Hashable, Sendable {
        var text: String
        var columns: Int

        init(text: String, columns: Int) {
            self.text = text
            self.columns = columns
        }

        init(_ plain: String) { self.init(text: plain, columns: TextWidth.columns(of: plain)) }
    }
}

/// The terminal's alternate screen (xterm's `1049`): the previous contents are restored at the end.
struct FullScreen {
    let terminal: Terminal
    /// The present contents of the screen, row by row; empty when they are unknown.
    private var drawn: [LiveRegion.Line] = []
    private var size = Terminal.Size(columns: 0, rows: 0)

    init(terminal: Terminal) { self.terminal = terminal }

    /// Switches to the full screen, hides the cursor and keeps lines from wrapping.
    mutating func enter() {
        drawn = []
        terminal.output.write("\u{1b}[?1049h\u{1b}[?25l\u{1b}[?7l\u{1b}[2J")
    }

    /// Draws a frame in one write: the rows that changed, or all of them after another size. Lines that do not fit are
    /// left out.
    mutating func show(_ lines: [LiveRegion.Line]) {
        let size = terminal.size
        let visible = Array(lines.prefix(max(1, size.rows)))
        let isKnown = size == self.size && drawn.count == visible.count
        var frame = isKnown ? "" : "\u{1b}[H\u{1b}[2J"
        for (row, line) in visible.enumerated() where !isKnown || drawn[row] != line {
            // A full row is not cleared behind its end: the cursor stays on its last character.
            let end = line.columns < size.columns ? "\u{1b}[K" : ""
            frame += "\u{1b}[\(row + 1);1H\(line.text)\(end)"
        }
        if !frame.isEmpty { terminal.output.write(frame) }
        (drawn, self.size) = (visible, size)
    }

    func leave() { terminal.output.write("\u{1b}[?7h\u{1b}[?25h\u{1b}[?1049l") }
}
