import XferModel
import XferProtocol

/// Lays the live view out for a terminal of any size.
struct WatchScreen: Sendable {
    let style: Style
    let glyphs: Glyphs
    /// True if keys are read; otherwise none are shown.
    var readsKeys = true
    let now: Timestamp

    /// Returns exactly as many lines as the terminal has rows.
    func lines(_ model: WatchModel) -> [LiveRegion.Line] {
        guard !model.isHelpShown else { return help(model) }
        let layout = model.layout
        let width = model.size.columns
        var lines = Array(WatchHead(screen: self, model: model, width: width).lines.prefix(layout.headRows))
        let table = WatchTable(screen: self, width: layout.listColumns)
        var list = table.lines(model)
        if layout.hasTitles { list.insert(table.titles(model), at: 0) }
        switch layout.pane {
        case nil: lines += list
        case .beside: lines += beside(list, details(model, layout), layout, width)
        case .below:
            lines += list
            lines.append(rule(model, width))
            lines += details(model, layout)
        case .instead:
            if layout.hasTitles { lines.append(rule(model, width)) }
            lines += details(model, layout)
        }
        if layout.hasRemark { lines.append(remark(model, width)) }
        if layout.hasFooter { lines.append(WatchFooter(screen: self, width: width).line(model)) }
        return filled(lines, model.size)
    }

    func builder(_ width: Int) -> LineBuilder { LineBuilder(width: width, style: style, glyphs: glyphs) }

    private func filled(_ lines: [LiveRegion.Line], _ size: Terminal.Size) -> [LiveRegion.Line] {
        let rows = max(1, size.rows)
        return Array(lines.prefix(rows)) + Array(repeating: LiveRegion.Line(""), count: max(0, rows - lines.count))
    }

    // MARK: Details

    /// Returns exactly as many lines as the pane has rows.
    private func details(_ model: WatchModel, _ layout: WatchLayout) -> [LiveRegion.Line] {
        guard let pane = model.pane else { return [] }
        let details = WatchDetails(pane, columns: layout.paneColumns, now: now)
        let top = min(pane.top, max(0, details.count - layout.paneRows))
        var lines = details.lines.dropFirst(top).prefix(layout.paneRows).map { name, text in
            var line = builder(layout.paneColumns)
            line.append(TextWidth.padded(glyphs.text(name), to: TaskDetails.nameWidth), .bold)
            line.append(" " + glyphs.text(text))
            return line.line
        }
        if pane.record == nil, layout.paneRows > 0 {
            var line = builder(layout.paneColumns)
            line.append(model.selected == nil ? "no task is selected" : "asking for the details", .dim)
            lines = [line.line]
        }
        return lines + Array(repeating: LiveRegion.Line(""), count: max(0, layout.paneRows - lines.count))
    }

    private func beside(
        _ list: [LiveRegion.Line], _ details: [LiveRegion.Line], _ layout: WatchLayout, _ width: Int
    ) -> [LiveRegion.Line] {
        (0..<max(list.count, details.count)).map { index in
            var line = builder(width)
            if index < list.count { line.append(list[index]) }
            line.pad(to: layout.listColumns)
            line.append(" \(glyphs.vertical) ", .dim)
            if index < details.count { line.append(details[index]) }
            return line.line
        }
    }

    /// The line above the details.
    private func rule(_ model: WatchModel, _ width: Int) -> LiveRegion.Line {
        var line = builder(width)
        let title = model.selected.map { " #\($0.id) " } ?? " "
        line.append(String(repeating: glyphs.horizontal, count: 2) + title, .dim)
        line.append(String(repeating: glyphs.horizontal, count: max(0, line.room)), .dim)
        return line.line
    }

    // MARK: The selected task

    /// Details that do not fit in the list: the whole name, the source, and the reason and end of the wait.
    private func remark(_ model: WatchModel, _ width: Int) -> LiveRegion.Line {
        var line = builder(width)
        guard let task = model.selected else { return line.line }
        let summary = task.summary
        line.append("#\(task.id) ", .bold)
        var parts: [String] = []
        if let note = WatchTable(screen: self, width: width).note(task) { parts.append(note) }
        if let until = summary.waitUntil, !summary.isTerminal {
            let isSoon = now.duration(to: until) < .seconds(86_400)
            parts.append("at \(isSoon ? TimeText.clock(until) : TimeText.local(until))")
        }
        parts.append(summary.name)
        if !task.fileName.isEmpty, task.fileName != summary.name { parts.append(task.fileName) }
        if !task.host.isEmpty { parts.append(task.host) }
        line.append(parts.map(glyphs.text).joined(separator: " \(glyphs.vertical) "), .dim)
        return line.line
    }

    // MARK: Help

    private func help(_ model: WatchModel) -> [LiveRegion.Line] {
        var title = builder(model.size.columns)
        let all = WatchHelp.lines(columns: model.size.columns)
        title.append("xferctl watch: the keys", .bold)
        if all.count > model.size.rows - 1 { title.append("  (Down shows more)", .dim) }
        let lines = all.dropFirst(model.helpTop).map { keys, text in
            var line = builder(model.size.columns)
            line.append(keys, .bold)
            if !keys.isEmpty { line.append("  ") }
            line.append(text)
            return line.line
        }
        return filled([title.line] + lines, model.size)
    }
}

/// The figures above the list.
struct WatchHead: Sendable {
    let screen: WatchScreen
    let model: WatchModel
    let width: Int

    /// Counts, progress, rates.
    var lines: [LiveRegion.Line] { [counts, progress, rates] }

    private var counts: LiveRegion.Line {
        var line = screen.builder(width)
        if model.stats?.paused == true { line.append("PAUSED  ", .yellow) }
        if !model.layout.hasTitles, !model.filter.isEmpty {
            line.append("/\(screen.glyphs.text(model.filter.text))  ", .yellow)
        }
        guard let counts = model.counts else {
            line.append("asking the daemon", .dim)
            return line.line
        }
        let order: [TaskState] = [.running, .queued, .waiting, .paused, .staged, .failed, .completed, .cancelled]
        let shown = order.filter { counts[$0] > 0 || $0 == .running }
        func number(_ state: TaskState) -> String {
            guard state == .running, let most = model.stats?.limits.maxActive else { return "\(counts[state])" }
            return "\(counts[state])/\(most)"
        }
        let long = shown.map { "\($0.rawValue) \(number($0))" }
        let isLong = long.reduce(0) { $0 + $1.count + 2 } - 2 <= line.room
        for (index, state) in shown.enumerated() {
            let text = isLong ? long[index] : "\(WatchTable.shortState(state.rawValue)) \(number(state))"
            // What does not fit is left out whole: half a number would be another one.
            guard line.appendWhole((index == 0 ? "" : "  ") + text, StateStyle.attribute(state.rawValue)) else { break }
        }
        return line.line
    }

    private var progress: LiveRegion.Line {
        var line = screen.builder(width)
        let totals = model.totals
        guard totals.total > 0 || model.rate > 0 else {
            line.append(model.counts == nil ? "" : model.isMoving ? "connecting" : "nothing runs", .dim)
            return line.line
        }
        var figures: [String] = []
        if totals.total > 0 {
            figures.append(TextWidth.padded(Bar.percent(totals.done, of: totals.total), to: 4, alignment: .right))
        }
        figures.append(TextWidth.padded(ByteText.rate(model.rate), to: 10, alignment: .right))
        if let left = totals.timeLeft(rate: model.rate) {
            // The sizes of queued tasks are unknown.
            let bound = (model.counts?.queued ?? 0) > 0 ? ">" : ""
            figures.append("\(bound)\(DurationText.short(left)) left")
        }
        if totals.total > 0 {
            figures.append("\(ByteText.size(totals.done)) of \(ByteText.size(totals.total))")
        }
        var text = ""
        for figure in figures where text.count + figure.count + 2 <= width {
            text += (text.isEmpty ? "" : "  ") + figure
        }
        let barWidth = min(80, width - text.count - 1)
        if barWidth >= 5, totals.total > 0 {
            line.append(Bar(usesUnicode: screen.glyphs.usesUnicode).text(totals.fraction, width: barWidth), .cyan)
            line.append(" ")
        }
        line.append(text, .bold)
        return line.line
    }

    private var rates: LiveRegion.Line {
        var facts: [String] = []
        if let limits = model.stats?.limits {
            facts.append(limits.maxReceiveRate == 0 ? "no limit" : "limit \(ByteText.limit(limits.maxReceiveRate))")
            if limits.maxSendRate > 0 { facts.append("send limit \(ByteText.limit(limits.maxSendRate))") }
            facts.append("\(limits.maxActivePerHost) per host")
        }
        facts.append("peak \(ByteText.rate(model.history.peak))")
        let least = max(10, width / 3)
        var text = ""
        for fact in facts where text.count + fact.count + 2 + least <= width { text += "  " + fact }
        var line = screen.builder(width)
        let columns = min(RateHistory.capacity, width - text.count)
        let spark = Sparkline(usesUnicode: screen.glyphs.usesUnicode)
        line.append(spark.text(model.history.rates, width: columns), .cyan)
        line.append(text, .dim)
        return line.line
    }
}

/// The last line: the typed text, the message about the last key, or the keys.
struct WatchFooter: Sendable {
    let screen: WatchScreen
    let width: Int

    func line(_ model: WatchModel) -> LiveRegion.Line {
        var line = screen.builder(width)
        if let prompt = model.prompt {
            // A refused answer stays beside what it is about.
            if let message = model.message { line.append(screen.glyphs.text(message.text) + "  ", .red) }
            append(prompt, to: &line)
        } else if let notice = model.notice {
            line.append(screen.glyphs.text(notice), .yellow)
        } else if let message = model.message {
            line.append(screen.glyphs.text(message.text), message.isRefusal ? .red : .green)
        } else {
            appendKeys(to: &line)
        }
        return line.line
    }

    private func append(_ prompt: WatchPrompt, to line: inout LineBuilder) {
        switch prompt {
        case .cancel(let id, let name):
            let question = "cancel #\(id) and delete its bytes? (y/n) "
            let room = line.room - question.count
            if room >= 12 {
                let name = screen.glyphs.text(name)
                line.append("cancel #\(id) ", .yellow)
                line.append(TextWidth.fitted(name, to: room, keepingEnd: true, ellipsis: screen.glyphs.ellipsis))
                line.append(" and delete its bytes? (y/n) ", .yellow)
            } else {
                line.append(TextWidth.columns(of: question) <= line.room ? question : "cancel #\(id)? (y/n) ", .yellow)
            }
        case .limitTask(let id, let isUpload, let typed):
            let name = isUpload ? "send limit of #\(id): " : "limit of #\(id): "
            append(typed, after: name, hint: "such as 500K, 2Mi; 0 is unlimited", to: &line)
        case .limitAll(let typed):
            append(typed, after: "limit of all: ", hint: "such as 500K, 2Mi; 0 is unlimited; default", to: &line)
        case .filter(let typed, _):
            append(typed, after: "/", hint: "name, label, host, state; Enter keeps, Esc ends", to: &line)
        }
    }

    /// Appends the typed text, whose end is always visible.
    private func append(_ typed: TypedLine, after name: String, hint: String, to line: inout LineBuilder) {
        line.append(name, .yellow)
        var text = screen.glyphs.text(typed.text)
        while !text.isEmpty, TextWidth.columns(of: text) + 1 > line.room { text.removeFirst() }
        line.append(text)
        line.append(screen.style.isEnabled ? " " : "_", .reverse)
        if text.isEmpty { line.appendWhole(" (\(hint))", .dim) }
    }

    private func appendKeys(to line: inout LineBuilder) {
        guard screen.readsKeys else { return line.append("Ctrl-C quits; the transfers continue", .dim) }
        // In the order of the line, with what is left out first where there is little room.
        let keys: [(key: String, effect: String, rank: Int)] = [
            (screen.glyphs.vertically, "select", 8), ("space", "pause", 2), ("c", "cancel", 3), ("r", "retry", 5),
            ("t/b", "top/bottom", 9), ("l", "limit", 7), ("/", "filter", 6), ("o", "details", 4), ("?", "help", 1),
            ("q", "quit", 0),
        ]
        var shown: Set<Int> = []
        var used = -2
        for (index, entry) in keys.enumerated().sorted(by: { $0.element.rank < $1.element.rank }) {
            let columns = TextWidth.columns(of: entry.key) + entry.effect.count + 3
            guard used + columns <= line.room else { break }
            used += columns
            shown.insert(index)
        }
        for (index, entry) in keys.enumerated() where shown.contains(index) {
            if line.room < width { line.append("  ") }
            line.append(entry.key, .bold)
            line.append(" " + entry.effect, .dim)
        }
    }
}
