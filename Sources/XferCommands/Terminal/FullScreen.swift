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
