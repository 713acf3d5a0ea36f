import XferModel

/// An effect of a key besides another picture.
enum WatchAction: Hashable, Sendable {
    case quit
    case send(WatchRequest)
}

extension WatchModel {
    /// Handles a key: moves, opens and closes panes, and returns the request to the daemon.
    mutating func onKey(_ key: Key) -> WatchAction? {
        message = nil
        settleSelection()
        if prompt != nil { return answerPrompt(key) }
        if isHelpShown { return onHelpKey(key) }
        return onMovement(key) ? nil : onCommand(key)
    }

    // MARK: Moving

    /// Handles a key that moves the selection or the details.
    ///
    /// - Returns: true if the key moves something.
    private mutating func onMovement(_ key: Key) -> Bool {
        let page = max(1, layout.listRows - 1)
        switch key {
        case .up, .character("k"), .control("p"): moveSelection(by: -1)
        case .down, .character("j"), .control("n"): moveSelection(by: 1)
        case .pageUp, .control("b"): if !scrollPane(by: -max(1, layout.paneRows - 1)) { moveSelection(by: -page) }
        case .pageDown, .control("f"): if !scrollPane(by: max(1, layout.paneRows - 1)) { moveSelection(by: page) }
        case .home, .character("g"): if !scrollPane(by: -.max) { selectFirst() }
        case .end, .character("G"): if !scrollPane(by: .max) { selectLast() }
        default: return false
        }
        return true
    }

    /// Pages go through the details while they are open.
    /// - Returns: true if they are.
    private mutating func scrollPane(by distance: Int) -> Bool {
        guard let pane else { return false }
        let last = max(0, WatchDetails(pane, columns: layout.paneColumns).count - layout.paneRows)
        let (top, overflow) = pane.top.addingReportingOverflow(distance)
        self.pane?.top = overflow ? last : min(last, max(0, top))
        return true
    }

    // MARK: Commands

    private mutating func onCommand(_ key: Key) -> WatchAction? {
        switch key {
        case .character("q"), .character("Q"), .control("c"), .control("d"): return .quit
        case .character("?"), .character("h"), .function(1): (isHelpShown, helpTop) = (true, 0)
        case .character("/"): prompt = .filter(TypedLine(filter.text), before: filter.text)
        case .character("o"), .enter: pane = pane == nil ? WatchPane(id: selected?.id ?? 0, generation: -1) : nil
        case .character("L"): prompt = .limitAll(TypedLine())
        case .escape: if pane != nil { pane = nil } else { setFilter("") }
        default: return onTaskCommand(key)
        }
        return nil
    }

    /// Commands about the selected task.
    private mutating func onTaskCommand(_ key: Key) -> WatchAction? {
        let keys: Set<Key> = [" ", "c", "r", "t", "b", "l"].map { .character($0) }.reduce(into: []) { $0.insert($1) }
        guard keys.contains(key) else { return nil }
        guard let task = selected else {
            message = WatchMessage("no task is selected", isRefusal: true)
            return nil
        }
        switch key {
        case .character(" "): return toggle(task)
        // A waiting task tries now, which is what its retry would do later.
        case .character("r"): return .send(.act(task.state == .waiting ? .resume : .retry, task.id))
        case .character("t"): return .send(.act(.moveToTop, task.id))
        case .character("b"): return .send(.act(.moveToBottom, task.id))
        case .character("c"):
            guard !refusesEnded(task, "cancelled") else { return nil }
            prompt = .cancel(task.id, name: task.summary.name)
        default:
            guard !refusesEnded(task, "limited") else { return nil }
            prompt = .limitTask(task.id, isUpload: task.summary.isUpload, TypedLine())
        }
        return nil
    }

    private mutating func toggle(_ task: WatchTask) -> WatchAction? {
        guard !refusesEnded(task, "paused") else { return nil }
        return .send(.act(task.state == .paused ? .resume : .pause, task.id))
    }

    private mutating func refusesEnded(_ task: WatchTask, _ effect: String) -> Bool {
        guard task.summary.isTerminal else { return false }
        message = WatchMessage("not \(effect): #\(task.id) is \(task.summary.state)", isRefusal: true)
        return true
    }

    // MARK: Help

    private mutating func onHelpKey(_ key: Key) -> WatchAction? {
        let room = max(1, size.rows - 1)
        let last = max(0, WatchHelp.lines(columns: size.columns).count - room)
        switch key {
        case .character("q"), .character("Q"), .control("c"), .control("d"): return .quit
        case .up, .character("k"): helpTop = max(0, helpTop - 1)
        case .down, .character("j"): helpTop = min(last, helpTop + 1)
        case .pageUp, .home: helpTop = 0
        case .pageDown, .end: helpTop = last
        default: isHelpShown = false
        }
        return nil
    }

    // MARK: Prompts

    private mutating func answerPrompt(_ key: Key) -> WatchAction? {
        guard let prompt else { return nil }
        switch prompt {
        case .cancel(let id, _):
            self.prompt = nil
            switch key {
            case .character("y"), .character("Y"): return .send(.act(.cancel, id))
            default: message = WatchMessage("not cancelled: #\(id)", isRefusal: false)
            }
            return nil
        case .limitTask(let id, let isUpload, var line):
            return edit(&line, key) {
                .limitTask(id, isUpload: isUpload, $0)
            } enter: { text in
                ByteAmount(parsing: text).map { .limitTask(id, rate: $0.bytes, isUpload: isUpload) }
            }
        case .limitAll(var line):
            return edit(&line, key) {
                .limitAll($0)
            } enter: { text in
                text == "default" ? .limitAll(rate: nil) : ByteAmount(parsing: text).map { .limitAll(rate: $0.bytes) }
            }
        case .filter(var line, let before):
            editFilter(&line, key, before)
            return nil
        }
    }

    /// Edits a rate. If it cannot be parsed, a message is shown, and the text stays to be corrected.
    private mutating func edit(
        _ line: inout TypedLine, _ key: Key, _ prompt: (TypedLine) -> WatchPrompt, enter: (String) -> WatchRequest?
    ) -> WatchAction? {
        switch key {
        case .escape, .control("c"): self.prompt = nil
        case .enter where line.text.trimmingBlanks.isEmpty: self.prompt = nil
        case .enter:
            guard let request = enter(String(line.text.trimmingBlanks)) else {
                message = WatchMessage(
                    "expected a rate such as 500K or 2Mi, found \"\(SafeText.sanitised(line.text))\"", isRefusal: true)
                return nil
            }
            self.prompt = nil
            return .send(request)
        default:
            if line.onKey(key) { self.prompt = prompt(line) }
        }
        return nil
    }

    /// Handles a key in the filter: each letter filters at once; Escape restores the previous filter.
    private mutating func editFilter(_ line: inout TypedLine, _ key: Key, _ before: String) {
        switch key {
        case .enter: prompt = nil
        case .escape, .control("c"):
            prompt = nil
            setFilter(before)
        case .up: moveSelection(by: -1)
        case .down: moveSelection(by: 1)
        default:
            guard line.onKey(key) else { return }
            prompt = .filter(line, before: before)
            setFilter(line.text)
        }
    }
}

/// The description of the keys, on a screen of its own.
enum WatchHelp {
    private static let entries: [(keys: String, effect: String)] = [
        ("Up Down, k j", "select a task"),
        ("PgUp PgDn", "move by a page"),
        ("Home End, g G", "first and last task"),
        ("Space", "pause the selected task, or resume it"),
        ("c", "cancel it, after a question"),
        ("r", "retry a failed task, or start a waiting one now"),
        ("t b", "start it first or last among those of its host"),
        ("l", "limit its rate"),
        ("L", "limit the rate of all transfers together"),
        ("o, Enter", "show or hide its details; PgUp PgDn read on"),
        ("/", "show only tasks with these words in id, name, label, host, state or reason"),
        ("Esc", "close the details, or end the filter"),
        ("?, h", "this help"),
        ("q", "quit; the transfers continue"),
        ("Ctrl-Z", "suspend"),
    ]

    /// Keys and their effects, wrapped.
    static func lines(columns: Int) -> [(keys: String, text: String)] {
        let width = 16
        var lines: [(keys: String, text: String)] = [("", "")]
        for entry in entries {
            let parts = WatchDetails.wrapped(entry.effect, to: max(8, columns - width - 2))
            for (index, part) in parts.enumerated() {
                lines.append((TextWidth.padded(index == 0 ? entry.keys : "", to: width), part))
            }
        }
        lines += [("", ""), ("", "Esc or any other key closes this.")]
        return lines
    }
}

/// The details of a task as lines of a pane.
struct WatchDetails: Sendable {
    /// The name of a field, empty where its value continues, and a part of the value.
    private(set) var lines: [(name: String, text: String)] = []

    var count: Int { lines.count }

    init(_ pane: WatchPane, columns: Int, now: Timestamp = .now) {
        guard let record = pane.record else { return }
        let width = max(1, columns - TaskDetails.nameWidth - 1)
        for (name, text) in TaskDetails(style: .plain, now: now).entries(record) {
            for (index, part) in Self.wrapped(text, to: width).enumerated() {
                lines.append((index == 0 ? name : "", part))
            }
        }
    }

    /// The text in parts of at most this many columns, broken at blanks where possible.
    static func wrapped(_ text: String, to columns: Int) -> [String] {
        var pieces: [String] = []
        var rest = text[...]
        while TextWidth.columns(of: rest) > columns {
            var used = 0
            var end = rest.prefix { character in
                used += TextWidth.columns(of: String(character))
                return used <= columns
            }.endIndex
            if end == rest.startIndex { end = rest.index(after: end) }
            let blank = rest[..<end].lastIndex(of: " ").flatMap { $0 > rest.startIndex ? $0 : nil }
            if let blank, rest[end] != " " { end = blank }
            pieces.append(String(rest[..<end]))
            rest = rest[end...].drop { $0 == " " }
        }
        return rest.isEmpty && !pieces.isEmpty ? pieces : pieces + [String(rest)]
    }
}
