import StrictJSON
import XferModel
import XferProtocol

@testable import XferCommands

/// A model of the live view beside a daemon that is a table of states, and a clock that stands still.
struct Watched {
    var model = WatchModel(size: Terminal.Size(columns: 80, rows: 24))
    var now = ContinuousClock().now
    /// States by id; ids are the order.
    var tasks: [Int64: String] = [:]
    private var pending: [WatchRequest] = []
    private(set) var pageRequests: [WatchPageKey] = []
    private let fields: JSONObject

    /// A view that has loaded what it shows.
    init(_ tasks: [(Int64, String)] = [], _ fields: JSONObject = [:]) {
        self.fields = fields
        guard !tasks.isEmpty else { return }
        self.tasks = Dictionary(uniqueKeysWithValues: tasks)
        settle()
    }

    init(_ tasks: [(Int, String)]) { self.init(tasks.map { (Int64($0.0), $0.1) }) }

    /// The tasks of the rows, from the top.
    var ids: [Int64] { model.rows.compactMap(\.id) }

    func task(_ id: Int64, _ state: String) -> WatchTask {
        var task = WatchTask(
            summary: TaskSummary(id: id, name: "file\(id).iso", state: state, total: 100), host: "host")
        // Reading JSON for thousands of tasks takes long.
        if !fields.isEmpty, let record = try? TaskRecord(lenient: Wire.task(id, state, fields)) {
            task = WatchTask(record)
        }
        return task
    }

    func sections(of requests: [WatchRequest]) -> [WatchSection] {
        requests.compactMap { if case .page(let key, _) = $0 { key.section } else { nil } }
    }

    /// Presses a key; what that leads to is not answered yet.
    mutating func pressOnly(_ key: Key) {
        if case .send(let request)? = model.onKey(key) { pending.append(request) }
    }

    /// Asks for what is wanted, and answers at most so many of the calls that are under way, in their order.
    mutating func answerPending(_ count: Int = .max) {
        pending += model.requests(at: now)
        for request in pending.prefix(count) { answer(request) }
        pending.removeFirst(min(count, pending.count))
    }

    /// Presses a key, and the daemon answers what that leads to.
    mutating func press(_ key: Key) {
        if case .send(let request)? = model.onKey(key) { answer(request) }
        settle()
    }

    mutating func advance(seconds: Int) {
        settle()
        for _ in 0..<seconds {
            now += .seconds(1)
            settle()
        }
    }

    /// Gives a section's first page.
    mutating func answer(_ section: WatchSection, _ tasks: [WatchTask]) {
        let key = WatchPageKey(section: section, index: 0, cursor: nil, filter: model.filter)
        model.onAnswer(.page(tasks, next: nil), to: .page(key, generation: model.list.generation), at: now)
    }

    /// Answers until nothing is asked for.
    private mutating func settle() {
        while !pending.isEmpty { answerPending() }
        while case let requests = model.requests(at: now), !requests.isEmpty {
            for request in requests { answer(request) }
        }
    }

    private mutating func answer(_ request: WatchRequest) {
        switch request {
        case .subscribe: model.onAnswer(.subscribed, to: request, at: now)
        case .stats:
            var stats = QueueStats.Result()
            for state in tasks.values { if let state = TaskState(rawValue: state) { stats.counts[state] += 1 } }
            model.onAnswer(.stats(stats), to: request, at: now)
        case .status: model.onAnswer(.status(DaemonStatus.Result()), to: request, at: now)
        case .page(let key, _): model.onAnswer(page(key), to: request, at: now)
        case .details(let id):
            var record = TaskRecord()
            record.id = TaskID(id)
            model.onAnswer(.details(record), to: request, at: now)
        case .act(_, let id):
            model.onAnswer(
                .acted(.ids(.init(changed: [TaskID(id)], unchanged: [], missing: []))), to: request, at: now)
        case .limitTask, .limitAll: model.onAnswer(.limited, to: request, at: now)
        }
    }

    /// As the daemon lists: cursors name the last task of the page before.
    private mutating func page(_ key: WatchPageKey) -> WatchAnswer {
        pageRequests.append(key)
        let isDescending = key.section.order == .descending
        let states = Set(key.section.states.map(\.rawValue))
        let found = tasks.filter { states.contains($0.value) }.keys.sorted(by: isDescending ? (>) : (<))
        let last = key.cursor.flatMap { Int64($0) }
        let rest = found.filter { id in last.map { isDescending ? id < $0 : id > $0 } ?? true }
        let limit = key.section == .running ? 1000 : key.filter.isSearch ? 500 : WatchRequest.pageSize
        let page = rest.prefix(limit)
        return .page(
            page.map { task($0, tasks[$0] ?? "") }, next: rest.count > limit ? page.last.map { "\($0)" } : nil)
    }
}
