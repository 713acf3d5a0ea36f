import StrictJSON
import XferModel
import XferProtocol

/// A request of the live view to the daemon. The model makes it, and the watcher sends it.
enum WatchRequest: Hashable, Sendable {
    case subscribe
    /// Counts, rates and limits.
    case stats
    /// The counts alone, for callers that may not see the queue.
    case status
    /// A page of the list.
    ///
    /// - Parameter generation: the list's generation at the time of the request.
    case page(WatchPageKey, generation: Int)
    case details(Int64)
    case act(WatchVerb, Int64)
    /// The rate of a task; 0 is unlimited; for an upload the rate of sending.
    case limitTask(Int64, rate: Int64, isUpload: Bool)
    /// The limit of all transfers together; nil is the configured one.
    case limitAll(rate: Int64?)
}

/// An action on the selected task.
enum WatchVerb: Hashable, Sendable {
    case pause, resume, cancel, retry, moveToTop, moveToBottom

    /// Past participle, for "paused #3".
    var past: String {
        switch self {
        case .pause: "paused"
        case .resume: "resumed"
        case .cancel: "cancelled"
        case .retry: "retried"
        case .moveToTop: "moved to the top"
        case .moveToBottom: "moved to the bottom"
        }
    }
}

/// The daemon's answer to a `WatchRequest`.
enum WatchAnswer: Sendable {
    case subscribed
    case stats(QueueStats.Result)
    case status(DaemonStatus.Result)
    case page([WatchTask], next: String?)
    case details(TaskRecord)
    case acted(SelectionResult)
    case limited
    /// The daemon refused the request, or its answer could not be decoded.
    ///
    /// - Parameter code: nil if the answer could not be decoded.
    case refused(String, code: ErrorCode?)
}

extension WatchRequest {
    /// The number of tasks in one request.
    static let pageSize = 100
    /// The number of tasks in one request while a search reads tasks that it does not show.
    static let searchPageSize = 500

    private static let columns = TaskColumns((TaskSummary.columns?.names ?? []) + ["finished_at", "transfer"])

    var method: String {
        switch self {
        case .subscribe: EventsSubscribe.name
        case .stats: QueueStats.name
        case .status: DaemonStatus.name
        case .page: TaskList.name
        case .details: TaskGet.name
        case .act(let verb, _):
            switch verb {
            case .pause: TaskPause.name
            case .resume: TaskResume.name
            case .cancel: TaskCancel.name
            case .retry: TaskRetry.name
            case .moveToTop, .moveToBottom: TaskMove.name
            }
        case .limitTask: TaskUpdate.name
        case .limitAll: QueueSetLimits.name
        }
    }

    var params: JSONValue {
        switch self {
        case .subscribe: return EventsSubscribe.Params().wire
        case .stats, .status: return NoParams().wire
        case .page(let key, _): return Self.listing(key).wire
        case .details(let id): return TaskGet.Params(id: TaskID(id)).wire
        case .act(.moveToTop, let id): return TaskMove.Params(ids: [TaskID(id)], to: .top, target: nil).wire
        case .act(.moveToBottom, let id): return TaskMove.Params(ids: [TaskID(id)], to: .bottom, target: nil).wire
        case .act(_, let id): return TaskSelection(ids: [TaskID(id)]).wire
        case .limitTask(let id, let rate, let isUpload):
            var changes = TaskChanges()
            if isUpload { changes.limits.maxSendRate = .set(rate) } else { changes.limits.maxReceiveRate = .set(rate) }
            return TaskUpdate.Params(id: TaskID(id), changes: changes).wire
        case .limitAll(let rate):
            var params = QueueSetLimits.Params()
            params.maxReceiveRate = rate.map { .set($0) } ?? .clear
            return params.wire
        }
    }

    private static func listing(_ key: WatchPageKey) -> TaskList.Params {
        var params = TaskList.Params()
        let states = key.section.states.filter {
            key.section == .running || key.filter.states?.contains($0) ?? true
        }
        params.filter = TaskFilter()
        params.filter?.state = OneOrMany(states)
        params.fields = columns
        params.order = key.section.order
        params.cursor = key.cursor
        params.limit =
            key.section == .running ? TaskPages.largest : key.filter.isSearch ? searchPageSize : pageSize
        return params
    }

    /// The answer as values.
    func answer(_ result: JSONValue) -> WatchAnswer {
        do throws(WireError) {
            switch self {
            case .subscribe: return .subscribed
            case .stats: return .stats(try QueueStats.Result(lenient: result))
            case .status: return .status(try DaemonStatus.Result(lenient: result))
            case .page:
                let page = try TaskList.Result(lenient: result)
                return .page(page.tasks.map { WatchTask($0) }, next: page.nextCursor)
            case .details: return .details(try TaskGet.Result(lenient: result).task)
            case .act: return .acted(try SelectionResult(lenient: result))
            case .limitTask, .limitAll: return .limited
            }
        } catch {
            return .refused("the daemon's answer to \(method) is not understood: \(error)", code: nil)
        }
    }
}
