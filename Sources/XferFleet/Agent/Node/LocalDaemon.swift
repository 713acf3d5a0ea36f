import StrictJSON
import XferClient
import XferCore
import XferModel
import XferProtocol

/// The agent's conversation with the xferd of its node.
struct LocalDaemon: Sendable {
    let client: TransferClient

    /// The lease of tasks that other nodes may take over.
    static let lease = "fleet"
    /// The number of tasks in one call.
    static let chunk = 500
    /// The number of ends that are read and reported at once: each may have a result of 1 MiB.
    static let page = 100

    init(socket: String, timeout: Duration) {
        var options = TransferClient.Options()
        options.timeout = timeout
        options.reconnectLimit = .zero
        client = TransferClient(.socket(socket), options: options)
    }

    func status() async throws -> DaemonStatus.Result { try await client.call(DaemonStatus.self) }

    /// Allows the fleet's tasks to run until then.
    func renew(until end: MonotonicInstant) async throws {
        let seconds = max(0, Double(end.nanoseconds) / 1e9)
        _ = try await client.call(LeaseRenew.self, LeaseRenew.Params(name: Self.lease, until: seconds))
    }

    /// Limits all transfers of the node; nil restores the node's own limits.
    func setRates(receive: Int64?, send: Int64?) async throws {
        var params = QueueSetLimits.Params()
        params.maxReceiveRate = receive.map(Patch.set) ?? .clear
        params.maxSendRate = send.map(Patch.set) ?? .clear
        _ = try await client.call(QueueSetLimits.self, params)
    }

    /// Adds tasks, all or none.
    func add(_ tasks: [NewTask]) async throws -> TaskAdd.Many {
        guard case .many(let added) = try await client.call(TaskAdd.self, .many(tasks)), added.ids.count == tasks.count
        else {
            throw CallError.malformedResult(
                method: TaskAdd.name, WireError(.invalidValue, at: "ids", expected: "an id for each task"))
        }
        return added
    }

    /// Records of those that exist.
    func tasks(_ ids: [TaskID], fields: TaskColumns) async throws -> [TaskID: TaskRecord] {
        var records: [TaskID: TaskRecord] = [:]
        for chunk in ids.chunks(of: Self.chunk) {
            var params = TaskList.Params()
            var filter = TaskFilter()
            filter.ids = OneOrMany(chunk)
            (params.filter, params.fields, params.limit) = (filter, fields, 1000)
            repeat {
                let page = try await client.call(TaskList.self, params)
                for record in page.tasks { records[record.id] = record }
                params.cursor = page.nextCursor
            } while params.cursor != nil
        }
        return records
    }

    /// A task of the fleet in the daemon.
    struct Known: Hashable, Sendable {
        let key: FleetTaskKey
        let id: TaskID
        let state: TaskState
    }

    /// All tasks of the fleet that the daemon has, ended ones included.
    func known(ofFleet fleet: String) async throws -> [Known] {
        var found: [Known] = []
        var params = TaskList.Params()
        (params.fields, params.order, params.limit) = (TaskColumns(["state", "client_key"]), .ascending, 1000)
        repeat {
            let page = try await client.call(TaskList.self, params)
            found += page.tasks.compactMap { task in
                guard let key = task.clientKey.flatMap({ FleetTaskKey($0, fleet: fleet) }),
                    let state = task.state?.value
                else { return nil }
                return Known(key: key, id: task.id, state: state)
            }
            params.cursor = page.nextCursor
        } while params.cursor != nil
        return found
    }

    /// The number of the newest event.
    func newestEvent() async throws -> Int64 {
        var params = EventsSince.Params(seq: EventsSince.sequenceNumbers.upperBound)
        params.limit = 1
        switch try await client.call(EventsSince.self, params) {
        case .events(let page): return page.lastSeq
        case .gap(let gap): return max(0, gap.firstSeq - 1)
        }
    }

    /// Events about ended or staged tasks, after one number; nil if some of them are no longer stored.
    func ends(since seq: Int64) async throws -> EventsSince.Page? {
        var params = EventsSince.Params(seq: seq)
        params.types = OneOrMany(Self.endings)
        params.limit = Self.page
        guard case .events(let page) = try await client.call(EventsSince.self, params) else { return nil }
        return page
    }

    /// Types of events after which a task of the fleet is over on this node, or waits for a permit.
    static let endings: [EventName] = [
        .durable(.taskStaged),
        .durable(.taskCompleted), .durable(.taskFailed), .durable(.taskCancelled), .durable(.taskSuperseded),
        .durable(.taskRemoved),
    ]

    /// Stops tasks and removes them, in any state.
    func discard(_ ids: [TaskID]) async throws {
        for chunk in ids.chunks(of: Self.chunk) {
            try await client.cancel(TaskSelection(ids: chunk))
            try await client.remove(TaskSelection(ids: chunk))
        }
    }

    /// Publishes staged tasks.
    func commit(_ ids: [TaskID]) async throws {
        _ = try await client.call(TaskCommit.self, TaskSelection(ids: ids))
    }

    func remove(_ ids: [TaskID]) async throws {
        for chunk in ids.chunks(of: Self.chunk) { try await client.remove(TaskSelection(ids: chunk)) }
    }

    /// The whole kept response; nil if it is longer than the fleet keeps, or there is none.
    func result(of id: TaskID) async throws -> [UInt8]? {
        let page: TaskResult.Result
        do {
            page = try await client.call(TaskResult.self, TaskResult.Params(id: id))
        } catch CallError.refused(_) {
            return nil
        }
        guard page.eof, let bytes = page.bytes, bytes.count <= FleetEnd.resultLimit else { return nil }
        return bytes
    }
}
