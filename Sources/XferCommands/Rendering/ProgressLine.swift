import XferModel

/// One task on one row of the terminal: its name, and a bar with figures or a text about its state.
struct ProgressLine: Sendable {
    let style: Style
    let bar: Bar
    /// The highest number of columns.
    let width: Int
    /// The time from which remaining waits are counted.
    let now: Timestamp

    init(terminal: Terminal, now: Timestamp) {
        self.init(
            style: terminal.style, bar: Bar(usesUnicode: terminal.usesUnicode), width: terminal.size.columns, now: now)
    }

    init(style: Style, bar: Bar, width: Int, now: Timestamp) {
        self.style = style
        self.bar = bar
        self.width = width
        self.now = now
    }

    func line(_ task: TaskSummary) -> LiveRegion.Line {
        let nameWidth = min(40, max(min(width, 12), width / 3))
        let ellipsis = bar.usesUnicode ? "…" : ".."
        let name = TextWidth.padded(
            TextWidth.fitted(SafeText.sanitised(task.name), to: nameWidth, keepingEnd: true, ellipsis: ellipsis),
            to: nameWidth)
        let room = width - nameWidth - 2
        guard room >= 4 else { return LiveRegion.Line(name) }
        let status =
            task.isRunning && task.waitReason == nil
            ? running(task, room)
            : TextWidth.fitted(Self.stateText(task, now: now), to: room, ellipsis: ellipsis)
        return LiveRegion.Line(
            text: name + "  " + style(StateStyle.attribute(task.state), status),
            columns: nameWidth + 2 + TextWidth.columns(of: status))
    }

    /// The figures that fit, the most informative first; the rest of the room is the bar's.
    func running(_ task: TaskSummary, _ room: Int) -> String {
        let eta = task.eta.map { DurationText.short($0) } ?? ""
        let amount = task.total.map { "\(ByteText.size(task.received))/\(ByteText.size($0))" }
        let figures = [
            TextWidth.padded(Bar.percent(task.received, of: task.total), to: 4, alignment: .right),
            TextWidth.padded(ByteText.rate(task.rate), to: 10, alignment: .right),
            TextWidth.padded(eta, to: 6, alignment: .right),
            TextWidth.padded(amount ?? ByteText.size(task.received), to: 17, alignment: .right),
        ]
        if let phase = task.phase, phase != TaskPhase.transferring.rawValue {
            return TextWidth.fitted(
                "\(WaitText.words(phase)) \(amount ?? "")", to: room, ellipsis: bar.usesUnicode ? "…" : "..")
        }
        var text = ""
        for figure in figures where TextWidth.columns(of: text) + figure.count + 1 <= room {
            text += text.isEmpty ? figure : " " + figure
        }
        let barWidth = min(50, room - TextWidth.columns(of: text) - 1)
        guard barWidth >= 5 else { return text }
        return bar.text(task.fraction, width: barWidth) + " " + text
    }

    /// The state of a task that is not running, as text.
    static func stateText(_ task: TaskSummary, now: Timestamp) -> String {
        guard !task.isTerminal, let sentence = WaitText.sentence(task, now: now) else {
            return task.received > 0 && !task.isTerminal
                ? "\(SafeText.sanitised(task.state)) at \(ByteText.size(task.received))"
                : SafeText.sanitised(task.state)
        }
        let stateText = task.state == TaskState.queued.rawValue ? TaskState.queued : .waiting
        return "\(stateText.rawValue) \(sentence)"
    }
}

/// A bar that fills from left to right, in eighths of a column where the terminal can draw them.
struct Bar: Sendable {
    let usesUnicode: Bool

    /// The bar as text.
    ///
    /// - Parameter fraction: 0 … 1, clamped; nil draws an empty bar for a length that is not known.
    func text(_ fraction: Double?, width: Int) -> String {
        guard width > 0 else { return "" }
        let fraction = min(1, max(0, fraction ?? 0))
        return usesUnicode ? blocks(fraction, width) : ascii(fraction, width)
    }

    private func blocks(_ fraction: Double, _ width: Int) -> String {
        let eighths = Int(saturating: fraction * Double(width) * 8)
        let full = eighths / 8
        let partial = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths % 8]
        let rest = width - full - (partial.isEmpty ? 0 : 1)
        return String(repeating: "█", count: full) + partial + String(repeating: "░", count: rest)
    }

    private func ascii(_ fraction: Double, _ width: Int) -> String {
        let full = Int(saturating: fraction * Double(width))
        let head = full > 0 && full < width ? ">" : ""
        return String(repeating: "=", count: full - head.count) + head + String(repeating: "-", count: width - full)
    }

    /// Returns whole percents, rounded down: 100 % means all of it.
    static func percent(_ received: Int64, of total: Int64?) -> String {
        guard let total else { return "" }
        guard total > 0 else { return "100%" }
        return "\(Int(saturating: min(1, max(0, Double(received) / Double(total))) * 100))%"
    }
}
