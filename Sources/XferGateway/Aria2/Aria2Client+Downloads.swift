import JSONRPC
import StrictJSON
import XferAria2
import XferModel
import XferProtocol

// Downloads by their GIDs.
extension Aria2Client {
    /// The download of the first parameter, with the columns for the keys.
    func download(_ params: Aria2Parameters, _ keys: Set<Aria2Status.Key>) async throws -> Aria2Status {
        try await download(try params.string(0), Aria2Status.Key.columns(for: keys))
    }

    /// The download with this GID, or the only one whose GID begins with this text.
    func download(_ text: String, _ columns: Aria2Columns) async throws -> Aria2Status {
        guard Aria2GID.isPrefix(text) else { throw Aria2Fault("Invalid GID \(text.prefix(40))") }
        guard let gid = Aria2GID(text) else { return try await download(prefix: text.lowercased(), columns) }
        guard let found = try await find(gid, columns) else { throw Aria2Fault("GID \(gid) is not found") }
        return found
    }

    /// The download with this GID; nil if none is shown.
    func find(_ gid: Aria2GID, _ columns: Aria2Columns) async throws -> Aria2Status? {
        if let id = gid.task(seed: seed), let status = try await download(id, columns), status.gid == gid {
            return status
        }
        // Chosen GIDs are labels, too, since tasks can be listed by label.
        var params = TaskList.Params()
        params.filter = filter()
        params.filter?.label = [gid.description]
        params.fields = columns.fields
        return try await call(TaskList.self, params).tasks.filter { shows($0) }
            .map { Aria2Status($0, seed: seed) }.first { $0.gid == gid }
    }

    /// The download of a task; nil if it is not shown.
    func download(_ id: TaskID, _ columns: Aria2Columns) async throws -> Aria2Status? {
        do {
            let result = try await attempt(TaskGet.self, TaskGet.Params(id: id, fields: columns.fields))
            return shows(result.task) ? Aria2Status(result.task, seed: seed) : nil
        } catch let error as RPCError {
            guard error.knownCode == .notFound else { throw Aria2Fault(error) }
            return nil
        }
    }

    /// The only one of the newest downloads whose GID begins with this prefix. A call reads no more than one page.
    private func download(prefix: String, _ columns: Aria2Columns) async throws -> Aria2Status {
        var found: [TaskID] = []
        let all = try await list(filter(), .descending, .keys, limit: Int(clamping: Aria2Slice.maxCount))
        for task in all where shows(task) && Aria2Status(task, seed: seed).gid.description.hasPrefix(prefix) {
            found.append(task.id)
        }
        guard found.count < 2 else { throw Aria2Fault("GID \(prefix) is not unique") }
        guard let id = found.first, let status = try await download(id, columns) else {
            throw Aria2Fault("GID \(prefix) is not found")
        }
        return status
    }

    // MARK: Lists

    /// Tasks page by page, at most `limit`.
    func list(
        _ filter: TaskFilter, _ order: TaskList.Order, _ columns: Aria2Columns, limit: Int
    ) async throws -> [TaskRecord] {
        var params = TaskList.Params()
        params.filter = filter
        params.order = order
        params.fields = columns.fields
        var tasks: [TaskRecord] = []
        while tasks.count < limit {
            params.limit = min(1000, limit - tasks.count)
            let page = try await call(TaskList.self, params)
            tasks += page.tasks
            guard let cursor = page.nextCursor else { break }
            params.cursor = cursor
        }
        return tasks
    }

    func tellStatus(_ params: Aria2Parameters) async throws -> JSONValue {
        let keys = try params.keys(1)
        return try await download(params, keys).object(keys)
    }

    func tellActive(_ params: Aria2Parameters) async throws -> JSONValue {
        let keys = try params.keys(0)
        return objects(try await active(keys), keys)
    }

    func active(_ keys: Set<Aria2Status.Key>) async throws -> [TaskRecord] {
        try await list(
            filter([.running]), .ascending, Aria2Status.Key.columns(for: keys),
            limit: Int(clamping: Aria2Slice.maxCount))
    }

    func tellWaiting(_ params: Aria2Parameters) async throws -> JSONValue {
        let (slice, keys) = (try params.slice(0), try params.keys(2))
        let columns = Aria2Status.Key.columns(for: keys)
        return objects(slice.apply(to: try await waiting(columns, limit: slice.needed)), keys)
    }

    /// Returns queued tasks in the order of their starts, then waiting and paused ones, by id.
    func waiting(_ columns: Aria2Columns, limit: Int) async throws -> [TaskRecord] {
        let queued = try await list(filter([.queued]), .queue, columns, limit: limit)
        let suspended = try await list(filter(Aria2State.suspended), .ascending, columns, limit: limit - queued.count)
        // A task that was started and stopped between the two calls is in both.
        let ids = Set(queued.map(\.id))
        return queued + suspended.filter { !ids.contains($0.id) }
    }

    func tellStopped(_ params: Aria2Parameters) async throws -> JSONValue {
        let (slice, keys) = (try params.slice(0), try params.keys(2))
        let columns = Aria2Status.Key.columns(for: keys)
        return objects(slice.apply(to: try await stopped(columns)), keys)
    }

    /// Returns the shown results, oldest first, at most the newest 1,000, which is aria2's default.
    func stopped(_ columns: Aria2Columns) async throws -> [TaskRecord] {
        let limit = Int(clamping: Aria2Slice.maxCount)
        return try await list(filter(Aria2State.stopped), .descending, columns, limit: limit)
            .filter { shows($0) }.reversed()
    }

    private func objects(_ tasks: [TaskRecord], _ keys: Set<Aria2Status.Key>) -> JSONValue {
        .array(tasks.map { Aria2Status($0, seed: seed).object(keys) })
    }

    func getServers(_ params: Aria2Parameters) async throws -> JSONValue {
        let status = try await download(try params.string(0), .servers)
        guard status.state == .active else { throw Aria2Fault("No active download for GID#\(status.gid)") }
        return status.servers
    }

    /// Answers that a download has no peers: only BitTorrent has them.
    func getPeers(_ params: Aria2Parameters) async throws -> JSONValue {
        _ = try await download(params, [.gid])
        return []
    }
}

extension Aria2Columns {
    /// The columns that identify a download and decide whether it is shown.
    static let keys = Aria2Status.Key.columns(for: [.gid])
}
