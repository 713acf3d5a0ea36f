import XferModel

/// The list of the live view: one row for each task.
struct WatchTable: Sendable {
    let screen: WatchScreen
    let width: Int

    /// True from the width on at which states are written out and figures have room.
    private var isWide: Bool { width >= 60 }

    private var stateWidth: Int { isWide ? 9 : 6 }

    /// Returns exactly as many lines as the layout has.
    func lines(_ model: WatchModel) -> [LiveRegion.Line] {
        let idWidth = idWidth(model)
        let rows = model.visible.map { row in
            switch row {
            case .task(let task): line(task, idWidth, isSelected: task.id == model.selected?.id)
            case .more(let section, let count): more(section, count, isSearch: model.filter.isSearch)
            }
        }
        let room = model.layout.listRows
        guard rows.isEmpty, room > 0 else {
            return rows + Array(repeating: LiveRegion.Line(""), count: max(0, room - rows.count))
        }
        var notice = screen.builder(width)
        if model.counts != nil { notice.append(model.filter.isEmpty ? "no tasks" : "no task matches", .dim) }
        return [notice.line] + Array(repeating: LiveRegion.Line(""), count: room - 1)
    }

    func titles(_ model: WatchModel) -> LiveRegion.Line {
        var line = screen.builder(width)
        let idWidth = idWidth(model)
        line.append("  " + TextWidth.padded("ID", to: idWidth, alignment: .right), .bold)
        line.append(" " + TextWidth.padded("STATE", to: stateWidth) + " ", .bold)
        line.append(TextWidth.padded("NAME", to: nameWidth(idWidth)), .bold)
        if isWide { line.append(" PROGRESS", .bold) }
        if !model.filter.isEmpty {
            let text = "filter: " + screen.glyphs.text(model.filter.text)
            line.append(String(repeating: " ", count: max(1, line.room - TextWidth.columns(of: text))))
            line.append(text, .yellow)
        }
        return line.line
    }

    // MARK: Rows

    private func idWidth(_ model: WatchModel) -> Int {
        max(2, model.visible.compactMap(\.id).map { "\($0)".count }.max() ?? 2)
    }

    private func nameWidth(_ idWidth: Int) -> Int {
        let rest = width - 2 - idWidth - 1 - stateWidth - 1
        return isWide ? min(60, max(12, rest * 2 / 5)) : max(0, rest - 7)
    }

    private func line(_ task: WatchTask, _ idWidth: Int, isSelected: Bool) -> LiveRegion.Line {
        let summary = task.summary
        let attribute = StateStyle.attribute(summary.state)
        // The colours within a row that is shown in reverse would end its being in reverse.
        var line = LineBuilder(width: width, style: isSelected ? .plain : screen.style, glyphs: screen.glyphs)
        line.append(isSelected ? "> " : "  ")
        line.append(TextWidth.padded("\(task.id)", to: idWidth, alignment: .right) + " ")
        let state = isWide ? screen.glyphs.text(summary.state) : Self.shortState(summary.state)
        line.append(TextWidth.padded(TextWidth.fitted(state, to: stateWidth, ellipsis: "."), to: stateWidth), attribute)
        line.append(" ")
        let nameWidth = nameWidth(idWidth)
        let name = screen.glyphs.text(summary.name)
        line.append(
            TextWidth.padded(
                TextWidth.fitted(name, to: nameWidth, keepingEnd: true, ellipsis: screen.glyphs.ellipsis), to: nameWidth
            ))
        line.append(" ")
        let isPlain = summary.waitReason == nil && !summary.isRunning && !summary.isTerminal
        line.append(status(task, line.room), isPlain ? .dim : attribute)
        guard isSelected else { return line.line }
        line.pad(to: width)
        return LiveRegion.Line(text: screen.style(.reverse, line.line.text), columns: line.line.columns)
    }

    private func more(_ section: WatchSection, _ count: Int64?, isSearch: Bool) -> LiveRegion.Line {
        var line = screen.builder(width)
        let words = isSearch ? "searching for more" : count.map { "\($0) more" } ?? "more"
        line.append("  \(screen.glyphs.ellipsis) \(words) \(section.words)", .dim)
        return line.line
    }

    /// The text right of the name: figures of running tasks, states of the others.
    private func status(_ task: WatchTask, _ room: Int) -> String {
        let summary = task.summary
        guard isWide else { return narrowStatus(summary) }
        let bar = Bar(usesUnicode: screen.glyphs.usesUnicode)
        if summary.isRunning, summary.waitReason == nil {
            return ProgressLine(style: .plain, bar: bar, width: room, now: screen.now).running(summary, room)
        }
        return note(task).map(screen.glyphs.text) ?? screen.glyphs.text(task.host)
    }

    /// Returns the size or the remaining wait in six columns.
    private func narrowStatus(_ task: TaskSummary) -> String {
        if !task.isTerminal, !task.isRunning, let until = task.waitUntil {
            let seconds = Int64(saturating: screen.now.duration(to: until).inSeconds.rounded(.up))
            return TextWidth.padded(DurationText.short(seconds), to: 6, alignment: .right)
        }
        guard task.isRunning || (!task.isTerminal && task.received > 0) else { return "" }
        let text = task.total == nil ? ByteText.size(task.received) : Bar.percent(task.received, of: task.total)
        return TextWidth.padded(TextWidth.fitted(text, to: 6, ellipsis: "."), to: 6, alignment: .right)
    }

    /// The explanation of a task's state; nil if the state alone is clear.
    func note(_ task: WatchTask) -> String? {
        let summary = task.summary
        let amount = summary.total.map { "\(ByteText.size(summary.received)) of \(ByteText.size($0))" }
        switch task.state {
        case .running, .queued, .waiting:
            if let sentence = WaitText.sentence(summary, now: screen.now) { return sentence }
            return summary.received > 0 && !summary.isRunning ? "at \(amount ?? ByteText.size(summary.received))" : nil
        case .paused: return summary.received > 0 ? "at \(amount ?? ByteText.size(summary.received))" : nil
        case .staged: return "waits for `xferctl commit \(task.id)`"
        case .completed:
            let kind = summary.isSkipped ? "skipped" : summary.isNotModified ? "not modified" : ""
            let size = kind.isEmpty ? ByteText.size(summary.total ?? summary.received) : kind
            return [size, task.finishedAt.map { "at \(TimeText.clock($0))" }].compactMap(\.self).joined(separator: " ")
        case .failed: return summary.failure.map(FailureText.cause)
        case .cancelled: return task.finishedAt.map { "at \(TimeText.clock($0))" }
        case nil: return nil
        }
    }

    /// A state's name of at most six columns.
    static func shortState(_ state: String) -> String {
        switch TaskState(rawValue: state) {
        case .running: "run"
        case .queued: "queued"
        case .waiting: "wait"
        case .paused: "paused"
        case .staged: "staged"
        case .completed: "done"
        case .failed: "failed"
        case .cancelled: "cancel"
        case nil: String(SafeText.sanitised(state).prefix(6))
        }
    }
}
