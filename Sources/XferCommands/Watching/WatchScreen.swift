import XferModel
import XferProtocol

/// Lays the live view out for a terminal of any size.
struct WatchScreen: Sendable {
    let style: Style
    let bar: Bar
    let size: Terminal.Size
    let now: Timestamp

    /// At most as many lines as the terminal has rows.
    func lines(_ model: WatchModel, notice: String? = nil) -> [LiveRegion.Line] {
        let footer = notice ?? "q quits; the transfers go on"
        var lines = header(model)
        let body = max(0, size.rows - lines.count - 2)
        let running = model.active.filter(\.isRunning)
        let waiting = model.active.filter { !$0.isRunning }
        // Recent ends keep a third of the room if they need it, waiting tasks a quarter of what is left.
        let recentRows = min(model.recent.count + 1, max(body / 3, body - running.count - waiting.count - 2))
        let waitingRows = min(waiting.count, max((body - recentRows) / 4, body - recentRows - running.count))
        let renderer = ProgressLine(style: style, bar: bar, width: size.columns, now: now)
        lines += section(running, rows: body - recentRows - waitingRows, renderer)
        lines += section(waiting, rows: waitingRows, renderer)
        if !model.recent.isEmpty && recentRows >= 2 {
            lines.append(plain("ended last:", .dim))
            lines += model.recent.prefix(recentRows - 1).map(ended)
        }
        lines.append(plain("", nil))
        lines.append(plain(footer, notice == nil ? .dim : .yellow))
        return Array(lines.prefix(max(1, size.rows)))
    }

    private func header(_ model: WatchModel) -> [LiveRegion.Line] {
        let counts = QueueText(style: .plain).counts(model.stats.counts)
        let paused = model.stats.paused ? "PAUSED  " : ""
        let text = "\(paused)\(ByteText.rate(model.rate))  \(counts)"
        return [plain(text, .bold), plain("", nil)]
    }

    /// The last row says how many more there are when not all fit.
    private func section(_ tasks: [TaskSummary], rows: Int, _ renderer: ProgressLine) -> [LiveRegion.Line] {
        guard rows > 0, !tasks.isEmpty else { return [] }
        guard tasks.count > rows else { return tasks.map { renderer.line($0) } }
        return tasks.prefix(rows - 1).map { renderer.line($0) }
            + [plain("and \(tasks.count - rows + 1) more", .dim)]
    }

    private func ended(_ task: TaskSummary) -> LiveRegion.Line {
        let note = task.failure.map { " \(WaitText.words($0.reason))" } ?? " \(ByteText.size(task.received))"
        let text =
            "\(TextWidth.padded(SafeText.sanitised(task.state), to: 9)) #\(task.id) \(SafeText.sanitised(task.name))"
        return plain(text + (task.state == TaskState.cancelled.rawValue ? "" : note), StateStyle.attribute(task.state))
    }

    private func plain(_ text: String, _ attribute: Style.Attribute?) -> LiveRegion.Line {
        let fitted = TextWidth.fitted(text, to: size.columns, ellipsis: bar.usesUnicode ? "…" : "..")
        return LiveRegion.Line(text: style(attribute, fitted), columns: TextWidth.columns(of: fitted))
    }
}
