/// Some lines at the bottom of a terminal that are redrawn in place, above which finished lines scroll away.
///
/// Every frame is one write, so that a slow terminal never shows half of one. What stays on the screen afterwards is
/// the finished lines and the last frame, nothing else: the scroll-back reads as if it had been printed once.
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

    /// Leaves the last frame standing, puts the cursor below it and shows the cursor again.
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

    /// To the first column of the region's first row. A terminal that became narrower has wrapped the lines, so rows
    /// are counted with the width of now.
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

/// The terminal's alternate screen (xterm's `1049`): what was there before comes back at the end.
struct FullScreen {
    let terminal: Terminal

    /// Switches to it and hides the cursor.
    func enter() {
        terminal.output.write("\u{1b}[?1049h\u{1b}[?25l\u{1b}[2J")
    }

    /// Draws a whole frame in one write; lines that do not fit are left out.
    func show(_ lines: [LiveRegion.Line]) {
        let visible = lines.prefix(max(1, terminal.size.rows))
        let body = visible.map { $0.text + "\u{1b}[K" }.joined(separator: "\r\n")
        terminal.output.write("\u{1b}[H" + body + "\u{1b}[J")
    }

    func leave() { terminal.output.write("\u{1b}[?25h\u{1b}[?1049l") }
}
