import XferModel
import XferProtocol

/// The parts of the live view's list, from the top.
enum WatchSection: Int, CaseIterable, Sendable {
    case running, queued, waiting, paused, ended

    /// Creates the section that lists tasks in this state; unknown states come last.
    init(of state: String) {
        let known = TaskState(rawValue: state)
        self = Self.allCases.first { section in known.map(section.states.contains) ?? false } ?? .ended
    }

    var states: [TaskState] {
        switch self {
        case .running: [.running]
        case .queued: [.queued]
        case .waiting: [.waiting]
        case .paused: [.paused, .staged]
        case .ended: [.completed, .failed, .cancelled]
        }
    }

    /// The text of the row in place of tasks that are not loaded.
    var words: String {
        switch self {
        case .paused: "paused or staged"
        default: "\(self)"
        }
    }

    var order: TaskList.Order {
        switch self {
        case .queued: .queue
        case .ended: .descending
        default: .ascending
        }
    }
}

/// A row of the live view's list.
enum WatchRow: Hashable, Sendable {
    case task(WatchTask)
    /// A row in place of tasks that are not loaded; nil when their number is unknown.
    case more(WatchSection, Int64?)

    var id: Int64? { if case .task(let task) = self { task.id } else { nil } }
}

/// The identity of a page: its section and its cursor.
struct WatchPageKey: Hashable, Sendable {
    var section: WatchSection
    var index: Int
    /// The cursor; nil is the first page.
    var cursor: String?
    var filter: WatchFilter
}

/// The loaded tasks of the live view, page by page. It is a value: pages and events are applied to it.
struct WatchList: Sendable {
    private struct Page: Sendable {
        var cursor: String?
        var tasks: [WatchTask]
        /// The cursor of the next page; nil after the last page.
        var next: String?
        /// The `generation` in which it was requested; negative once its beginning has moved.
        var generation: Int

        /// True if this page and those after it are wrong until it is requested again.
        var isMisplaced: Bool { generation < 0 }
    }

    private var pages: [WatchSection: [Page]] = [:]
    /// A counter of changes that only a new listing can show.
    private(set) var generation = 0
    private(set) var filter = WatchFilter()

    /// Increases the generation, which makes the present pages outdated.
    mutating func invalidate() { generation += 1 }

    /// Sets the filter. Tasks that do not match disappear at once; the pages are requested again.
    mutating func setFilter(_ filter: WatchFilter) {
        guard filter != self.filter else { return }
        self.filter = filter
        for section in WatchSection.allCases { restart(section) }
        invalidate()
    }

    /// Removes all pages but the first, which is requested again.
    mutating func restart(_ section: WatchSection) {
        guard let first = pages[section]?.first else { return }
        pages[section] = [Page(cursor: nil, tasks: first.tasks, next: first.next, generation: -1)]
    }

    // MARK: Rows

    /// All loaded tasks, each once.
    /// - Parameter counts: how many tasks there are.
    func rows(_ counts: StateCounts?) -> [WatchRow] {
        var rows: [WatchRow] = []
        var seen: Set<Int64> = []
        for section in WatchSection.allCases where isShown(section) {
            guard let pages = pages[section] else { continue }
            var loaded: Int64 = 0
            for task in pages.lazy.flatMap(\.tasks) {
                loaded += 1
                guard filter.matches(task), seen.insert(task.id).inserted else { continue }
                rows.append(.task(task))
            }
            guard pages.last?.next != nil else { continue }
            let total = counts.map { counts in section.states.map { counts[$0] }.saturatedSum }
            let isExact = !filter.isSearch && (filter.states == nil)
            rows.append(.more(section, isExact ? total.map { max(1, $0 - loaded) } : nil))
        }
        return rows
    }

    /// Pages of a section that are loaded.
    func pageCount(_ section: WatchSection) -> Int { pages[section, default: []].count }

    /// True if the first page of every shown section has arrived, except for these sections.
    func isLoaded(except refused: Set<WatchSection>) -> Bool {
        WatchSection.allCases.allSatisfy { section in
            !isShown(section) || refused.contains(section) || pageCount(section) > 0
        }
    }

    var running: [WatchTask] { pages[.running, default: []].flatMap(\.tasks) }

    func task(_ id: Int64) -> WatchTask? {
        for section in WatchSection.allCases {
            for page in pages[section, default: []] {
                if let task = page.tasks.first(where: { $0.id == id }) { return task }
            }
        }
        return nil
    }

    /// True if the filter leaves anything of the section.
    func isShown(_ section: WatchSection) -> Bool {
        filter.states.map { !$0.isDisjoint(with: section.states) } ?? true
    }

    // MARK: Pages

    /// The first page that has to be requested so that these rows are current, section by section.
    /// - Parameters:
    ///   - visible: ids of the tasks on the screen.
    ///   - more: sections whose rows for more are on the screen.
    /// - Returns: pages, each with a flag that is true if a part of the screen is empty until the page arrives.
    func outdated(visible: Set<Int64>, more: Set<WatchSection>) -> [(key: WatchPageKey, isUrgent: Bool)] {
        var keys: [(key: WatchPageKey, isUrgent: Bool)] = []
        for section in WatchSection.allCases where isShown(section) || section == .running {
            guard let pages = pages[section], !pages.isEmpty else {
                keys.append((WatchPageKey(section: section, index: 0, cursor: nil, filter: filter), true))
                continue
            }
            // The running tasks make the sums of the head, and what comes new is on a first page or on a last one.
            let index = pages.indices.first { index in
                let isWanted =
                    index == 0 && (section == .running || pages[0].tasks.isEmpty)
                    || filter.isSearch && index == pages.count - 1
                return pages[index].generation < generation
                    && (isWanted || pages[index].isMisplaced || pages[index].tasks.contains { visible.contains($0.id) })
            }
            if let index {
                let key = WatchPageKey(section: section, index: index, cursor: pages[index].cursor, filter: filter)
                keys.append((key, pages[index].isMisplaced))
            } else if more.contains(section), let next = pages.last?.next {
                keys.append((WatchPageKey(section: section, index: pages.count, cursor: next, filter: filter), true))
            }
        }
        return keys
    }

    /// Applies a page that was requested in `generation`; pages that are no longer wanted are ignored.
    mutating func onPage(_ key: WatchPageKey, _ tasks: [WatchTask], next: String?, generation: Int) {
        guard key.filter == filter else { return }
        var pages = self.pages[key.section, default: []]
        guard key.index <= pages.count, key.index == pages.count || pages[key.index].cursor == key.cursor else {
            return
        }
        // Only what matches is kept: a search may read many pages. Running tasks are few, and summed up all the same.
        var tasks = filter.isSearch && key.section != .running ? tasks.filter(filter.matches) : tasks
        // The daemon lists by id; who ended last is of interest here.
        if key.section == .ended {
            tasks.sort { ($0.finishedAt?.rawValue ?? 0, $0.id) > ($1.finishedAt?.rawValue ?? 0, $1.id) }
        }
        let page = Page(cursor: key.cursor, tasks: tasks, next: next, generation: generation)
        if key.index == pages.count { pages.append(page) } else { pages[key.index] = page }
        if key.index + 1 < pages.count, pages[key.index + 1].cursor != next {
            // The pages that follow begin elsewhere now. One of them stays until its successor comes; in a search all
            // do, because it takes long to find them again.
            let kept = next == nil ? 0 : filter.isSearch ? pages.count - key.index - 1 : 1
            pages.removeLast(pages.count - key.index - 1 - kept)
            if kept > 0 {
                pages[key.index + 1].cursor = next
                pages[key.index + 1].generation = -1
            }
        }
        self.pages[key.section] = pages
    }

    // MARK: Events

    /// Applies an event to the task it is about.
    /// - Returns: true if a new listing is needed.
    mutating func onEvent(_ event: EventMessage) -> Bool {
        let isProgress = event.type == .known(.progress)
        guard let id = event.taskID?.rawValue else { return !isProgress }
        guard let (section, page, index) = place(of: id), var task = pages[section]?[page].tasks[index] else {
            return true
        }
        if event.type == .known(.durable(.taskRemoved)) {
            pages[section]?[page].tasks.remove(at: index)
            return true
        }
        task.summary.apply(event)
        if task.summary.isTerminal { task.finishedAt = event.time }
        if task.section == section {
            pages[section]?[page].tasks[index] = task
        } else {
            pages[section]?[page].tasks.remove(at: index)
            insert(task)
        }
        return !isProgress
    }

    /// Inserts the task at a plausible place until the section is listed again.
    private mutating func insert(_ task: WatchTask) {
        let section = task.section
        guard let count = pages[section]?.count, count > 0 else { return }
        if section == .ended {
            pages[section]?[0].tasks.insert(task, at: 0)
        } else {
            pages[section]?[count - 1].tasks.append(task)
        }
    }

    private func place(of id: Int64) -> (WatchSection, page: Int, index: Int)? {
        for section in WatchSection.allCases {
            for (page, found) in pages[section, default: []].enumerated() {
                if let index = found.tasks.firstIndex(where: { $0.id == id }) { return (section, page, index) }
            }
        }
        return nil
    }
}
