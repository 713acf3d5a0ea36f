import XferModel
import XferProtocol

/// The state of the live view of the queue. It is a value: answers, events and keys change it, it returns requests, and
/// `WatchScreen` lays it out.
struct WatchModel: Sendable {
    // What the daemon says.
    private(set) var counts: StateCounts?
    private(set) var stats: QueueStats.Result?
    private(set) var list = WatchList()
    private(set) var history = RateHistory()
    private(set) var totals = WatchTotals()
    /// True if the caller is not an operator. Then it may not call `queue.stats`.
    private var isGuest = false

    // What the user sees.
    var size: Terminal.Size { didSet { if size != oldValue { scroll() } } }
    private(set) var rows: [WatchRow] = []
    /// The selected task; its row moves with it.
    private(set) var selected: WatchTask?
    /// The position of the selected task's row, or its last one.
    private(set) var cursor = 0
    /// The first row on the screen.
    private(set) var top = 0
    /// True if the first row stays selected: until the user has pressed a key, or every section has arrived. Otherwise
    /// the section that the daemon answers first would decide.
    private var isSelectionOpen = true
    var pane: WatchPane?
    var isHelpShown = false
    var helpTop = 0
    var prompt: WatchPrompt?
    var message: WatchMessage?
    /// The reason why nothing is current; nil while the daemon answers.
    var notice: String?

    // The pending requests.
    private var isSubscribed = false
    private var pagesRequested: Set<WatchSection> = []
    /// Sections whose last page was refused: they are no longer urgent.
    private var pagesRefused: Set<WatchSection> = []
    private var statsRequested = false
    private var detailsRequested = false
    private var statsGeneration = -1
    private var nextStats: ContinuousClock.Instant?
    private var nextPages: [WatchSection: ContinuousClock.Instant] = [:]
    private var nextDetails: ContinuousClock.Instant?

    /// The shortest time between two listings of the same.
    static let interval = Duration.seconds(1)

    init(size: Terminal.Size = Terminal.Size(columns: 80, rows: 24)) { self.size = size }

    var layout: WatchLayout { WatchLayout(size: size, hasPane: pane != nil) }

    var filter: WatchFilter { list.filter }

    /// Bytes per second over all tasks by the daemon's count: the tasks' own rates would count shared bytes several
    /// times.
    var rate: Int64 {
        guard let stats else { return list.running.map(\.summary.rate).saturatedSum }
        return stats.rates.received.addingSaturated(stats.rates.sent)
    }

    /// True if figures change without an event.
    var isMoving: Bool { rate > 0 || (counts?.running ?? 0) > 0 || !list.running.isEmpty }

    /// The rows on the screen.
    var visible: ArraySlice<WatchRow> { rows[min(top, rows.count)..<min(rows.count, top + layout.listRows)] }

    /// True if something on the screen counts down.
    private var hasCountdown: Bool {
        visible.contains { row in
            if case .task(let task) = row { !task.summary.isRunning && task.summary.waitUntil != nil } else { false }
        }
    }

    // MARK: Asking

    /// The requests to send now. Each is sent once until its answer arrives.
    mutating func requests(at now: ContinuousClock.Instant) -> [WatchRequest] {
        var requests: [WatchRequest] = []
        if !isSubscribed {
            // First, so that nothing happens unseen between a listing and the subscription.
            isSubscribed = true
            requests.append(.subscribe)
        }
        if !statsRequested, wantsStats, isDue(nextStats, now) {
            statsRequested = true
            statsGeneration = list.generation
            nextStats = now + Self.interval
            requests.append(isGuest ? .status : .stats)
        }
        for (key, isUrgent) in outdated where isUrgent || isDue(nextPages[key.section], now) {
            pagesRequested.insert(key.section)
            nextPages[key.section] = now + interval(of: key.section)
            requests.append(.page(key, generation: list.generation))
        }
        if let id = selected?.id, wantsDetails, pane?.id != id || isDue(nextDetails, now) {
            detailsRequested = true
            nextDetails = now + Self.interval
            requests.append(.details(id))
        }
        return requests
    }

    /// The time to request or draw again without an event; nil while nothing changes.
    func wakeUp(at now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        var times: [ContinuousClock.Instant] = []
        if !statsRequested, wantsStats { times.append(nextStats ?? now) }
        times += outdated.map { $0.isUrgent ? now : nextPages[$0.key.section] ?? now }
        if wantsDetails { times.append(nextDetails ?? now) }
        if hasCountdown { times.append(now + .seconds(1)) }
        return times.min()
    }

    private var wantsStats: Bool {
        statsGeneration < list.generation || isMoving || !history.isQuiet(for: RateHistory.capacity)
    }

    private var wantsDetails: Bool {
        guard let pane, !detailsRequested, let selected else { return false }
        return pane.id != selected.id || pane.generation < list.generation || selected.summary.isRunning
    }

    private var outdated: [(key: WatchPageKey, isUrgent: Bool)] {
        let ids = Set(visible.compactMap(\.id))
        // Tasks that follow are requested a screen ahead. Those above the selection are not: a row for more stays in
        // sight there, however many tasks come.
        let ahead = rows[min(top, rows.count)..<min(rows.count, top + 2 * max(1, layout.listRows))]
        let more = zip(ahead.indices, ahead).compactMap { index, row -> WatchSection? in
            guard case .more(let section, _) = row, index >= cursor || filter.isSearch else { return nil }
            return section
        }
        return list.outdated(visible: ids, more: Set(more)).filter { !pagesRequested.contains($0.key.section) }
            .map { ($0.key, $0.isUrgent && !pagesRefused.contains($0.key.section)) }
    }

    /// The time for which pages are valid. A search reads many pages, and all of them when the first one shifts: the
    /// more there are, the longer they are valid.
    private func interval(of section: WatchSection) -> Duration {
        filter.isSearch ? Self.interval + .milliseconds(100) * list.pageCount(section) : Self.interval
    }

    private func isDue(_ time: ContinuousClock.Instant?, _ now: ContinuousClock.Instant) -> Bool {
        time.map { $0 <= now } ?? true
    }

    // MARK: What comes

    /// Requests everything again for a new connection. It may lead to a restarted daemon.
    mutating func onConnection() {
        (isSubscribed, statsRequested, detailsRequested, pagesRequested) = (false, false, false, [])
        requestAgain()
    }

    /// Requests lists and counts at once, because they have changed.
    mutating func requestAgain() {
        list.invalidate()
        (nextStats, nextPages, nextDetails) = (nil, [:], nil)
    }

    mutating func onEvent(_ event: EventMessage) { onEvents([event]) }

    /// Applies several events together: rows and sums are computed once, which takes as long as there are tasks.
    mutating func onEvents(_ events: [EventMessage]) {
        for event in events {
            if event.type == .known(.overflow) {
                isSubscribed = false
                list.invalidate()
                continue
            }
            totals.onEvent(event, list)
            if list.onEvent(event) { list.invalidate() }
        }
        totals.update(list.running, isIdle: !isMoving && counts?.queued == 0)
        refresh()
    }

    mutating func onAnswer(_ answer: WatchAnswer, to request: WatchRequest, at now: ContinuousClock.Instant) {
        switch request {
        case .stats, .status: statsRequested = false
        case .page(let key, _): pagesRequested.remove(key.section)
        case .details: detailsRequested = false
        default: break
        }
        switch (answer, request) {
        case (.stats(let result), _):
            (stats, counts) = (result, result.counts)
            history.record(rate, at: now)
        case (.status(let status), _):
            counts = status.counts
            history.record(rate, at: now)
        case (.page(let tasks, let next), .page(let key, let generation)):
            pagesRefused.remove(key.section)
            list.onPage(key, tasks, next: next, generation: generation)
        case (.details(let record), _): showDetails(record)
        case (.refused(let reason, let code), _): onRefusal(reason, code, of: request)
        case (.acted(let result), .act(let verb, let id)):
            message = WatchMessage(result, verb, id)
            requestAgain()
        case (.limited, .limitTask(let id, let rate, _)):
            message = WatchMessage("limit of #\(id): \(ByteText.limit(rate))", isRefusal: false)
            requestAgain()
        case (.limited, .limitAll(let rate)):
            let text = rate.map(ByteText.limit) ?? "as configured"
            message = WatchMessage("limit of all transfers: \(text)", isRefusal: false)
            requestAgain()
        default: break
        }
        totals.update(list.running, isIdle: !isMoving && counts?.queued == 0)
        refresh()
    }

    private mutating func onRefusal(_ reason: String, _ code: ErrorCode?, of request: WatchRequest) {
        switch request {
        case .stats where code == .permissionDenied:
            isGuest = true
            (nextStats, statsGeneration) = (nil, -1)
        case .details(let id):
            // Not requested again before something happens.
            pane = pane.map { _ in WatchPane(id: id, generation: list.generation) }
            if code != .notFound { message = WatchMessage(reason, isRefusal: true) }
        case .page(let key, _) where code == .invalidParams && key.cursor != nil:
            // The queue's order was changed, and places in the former one mean nothing now.
            pagesRefused.insert(key.section)
            list.restart(key.section)
        case .page(let key, _):
            pagesRefused.insert(key.section)
            message = WatchMessage(reason, isRefusal: true)
        default: message = WatchMessage(reason, isRefusal: true)
        }
    }

    private mutating func showDetails(_ record: TaskRecord) {
        guard let pane else { return }
        let id = record.id.rawValue
        self.pane = WatchPane(
            id: id, record: record, generation: list.generation, top: pane.id == id ? pane.top : 0)
    }

    // MARK: Rows and selection

    mutating func setFilter(_ text: String) {
        list.setFilter(WatchFilter(text))
        // The first task that matches takes the place of one that does not.
        if let task = selected, !filter.matches(task) { (selected, cursor, top) = (nil, 0, 0) }
        refresh()
    }

    /// Moves the selection by this many rows. Downwards it stops before a row that stands for more tasks, and requests
    /// them. A search may take long to find some. Then, and while the daemon is away, the next move continues after the
    /// row.
    mutating func moveSelection(by distance: Int) {
        let target = cursor + distance
        let first = filter.isSearch || notice != nil ? cursor + 2 : cursor + 1
        let gap = rows.indices.first { $0 >= first && $0 <= target && rows[$0].id == nil }
        if distance > 0, let gap { select(near: gap - 1, towards: -1) } else { select(near: target, towards: distance) }
    }

    /// Keeps the selection with its task from now on, because the user has seen it.
    mutating func settleSelection() { isSelectionOpen = false }

    mutating func selectFirst() { select(near: 0, towards: 1) }

    mutating func selectLast() { select(near: rows.count - 1, towards: -1) }

    /// Selects the task at the row, else the next one in this direction, else the nearest one before it.
    private mutating func select(near row: Int, towards direction: Int) {
        guard !rows.isEmpty else { return }
        let row = min(max(0, row), rows.count - 1)
        let ahead = direction < 0 ? Array((0...row).reversed()) : Array(row..<rows.count)
        let behind = direction < 0 ? Array(row..<rows.count) : Array((0...row).reversed())
        for index in ahead + behind {
            guard case .task(let task) = rows[index] else { continue }
            (selected, cursor) = (task, index)
            break
        }
        // A row for more is reached by scrolling: its tasks come when it is on the screen.
        scroll(showing: row)
    }

    /// Computes the rows again and finds the selected task among them.
    private mutating func refresh() {
        let (before, isAtTop) = (cursor, top == 0)
        rows = list.rows(counts)
        if isSelectionOpen {
            selectFirst()
            isSelectionOpen = !list.isLoaded(except: pagesRefused)
        }
        if let id = selected?.id, let index = rows.firstIndex(where: { $0.id == id }) {
            if case .task(let task) = rows[index] { selected = task }
            cursor = index
            // What comes above it does not move it on the screen.
            if !isAtTop { top = max(0, top + cursor - before) }
        } else if selected == nil || (pagesRequested.isEmpty && outdated.isEmpty) {
            // It is not only on its way from one section to another: its neighbour takes its place.
            selected = nil
            select(near: cursor, towards: 1)
        }
        scroll()
    }

    private mutating func scroll(showing row: Int? = nil) {
        let room = max(1, layout.listRows)
        top = min(top, max(0, rows.count - room))
        // The selected task may be missing for a moment, and its row with it.
        for row in [row, cursor].compactMap(\.self).map({ min($0, rows.count - 1) }) {
            if row < top { top = row }
            if row >= top + room { top = row - room + 1 }
        }
        top = max(0, top)
    }
}
