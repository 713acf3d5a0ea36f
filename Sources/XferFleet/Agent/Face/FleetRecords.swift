import NIOConcurrencyHelpers
import StrictJSON
import XferCore
import XferDaemon
import XferModel
import XferProtocol

/// The fleet's tasks and events in the form in which `xferd` shows its own.
struct FleetRecords: Sendable {
    /// Users of this machine by name; a name that this machine does not know has the overflow uid.
    private let users = NIOLockedValueBox<[String: Owner]>([:])

    func owner(_ name: String) -> Owner {
        if let known = users.withLockedValue({ $0[name] }) { return known }
        let uid = AccountDirectory.system.uid(name) ?? UInt32(name, radix: 10) ?? AccessPolicy.overflowUID
        let owner = Owner(uid: uid)
        users.withLockedValue { users in
            if users.count >= 10_000 { users = [:] }
            users[name] = owner
        }
        return owner
    }

    // MARK: Tasks

    /// Fields of the specification that the record has in the same form.
    private static let shared = [
        "url", "urls", "kind", "method", "source", "upload", "spool", "chunk_size",
        "creation_with_upload", "upload_parts", "output", "dir", "on_conflict", "mode",
        "remote_time", "allow_hidden", "checksum", "max_retries", "retry_for", "max_recv_rate", "max_send_rate",
        "segments", "range", "max_size", "resume",
        "parse", "meta", "window", "deadline",
    ]

    func record(_ task: FleetTask, _ nodeStatus: NodeStatus) -> TaskRecord {
        var fields = JSONObject()
        let specification = task.spec.flatMap { try? JSONValue(parsing: $0.utf8) }
        for name in Self.shared { fields[name] = specification?[name] }
        for (name, value) in task.detail.flatMap({ try? JSONValue(parsing: $0.utf8) })?.objectValue?.members ?? [] {
            fields[name] = value
        }
        fields["id"] = .integer(task.id.rawValue)
        var record = (try? TaskRecord(lenient: .object(fields))) ?? TaskRecord()
        record.id = TaskID(task.id.rawValue)
        record.owner = owner(task.owner)
        record.state = OpenEnum(task.state.local)
        record.priority = OpenEnum(task.priority)
        (record.group, record.label, record.clientKey) = (task.group, task.label, task.clientKey)
        record.batch = task.batch.map { BatchID($0.rawValue) }
        record.url = record.url.map { Redaction.url($0) }
        record.urls = record.urls.map { $0.map { Redaction.url($0) } }
        record.createdAt = task.addedAt
        record.finishedAt = task.endedAt
        if let notBefore = task.notBefore { record.schedule.notBefore = .set(notBefore) }
        if let received = task.received, !task.state.isEnd {
            record.progress = ProgressRecord(received: received, total: task.total)
        }
        record.wait = wait(task, nodeStatus)
        return record
    }

    /// The reason for which the task waits.
    private func wait(_ task: FleetTask, _ nodeStatus: NodeStatus) -> WaitRecord? {
        var wait = WaitRecord()
        switch task.state {
        case .delayed:
            wait.reason = OpenEnum(.schedule)
            wait.until = task.notBefore
        case .queued:
            let serving = nodeStatus.nodes.filter { $0.serves(task.place) }
            let able = serving.filter { !$0.isDown && !$0.isDraining }
            let refusals = task.refusals.filter { refusal in able.contains { $0.id == refusal.node } }
            guard refusals.count == able.count else { return nil }
            let isDown = serving.contains { $0.isDown }
            wait.reason = OpenEnum(isDown && task.place.isPinned ? .nodeDown : .noNode)
            if !refusals.isEmpty { wait.detail = refusals.map(\.reason).joined(separator: "; ") }
        case .leased where task.isNodeDown: wait.reason = OpenEnum(.nodeDown)
        default: return nil
        }
        return wait
    }

    // MARK: Events

    /// The type of the event for clients.
    private static func type(_ event: FleetEvent, _ detail: JSONValue) -> EventName {
        switch (event.kind, ending(detail)) {
        case (.ended, .completed): .durable(.taskCompleted)
        case (.ended, .cancelled): .durable(.taskCancelled)
        default: event.kind.names[0]
        }
    }

    private static func ending(_ detail: JSONValue) -> FleetEnding? {
        (detail["ending"] ?? detail["state"])?.stringValue.flatMap { FleetEnding(rawValue: $0) }
    }

    /// The kinds of a client's types; nil for all.
    static func kinds(_ types: [EventName]?) -> Set<FleetEvent.Kind>? {
        types.map { types in Set(FleetEvent.Kind.allCases.filter { !Set($0.names).isDisjoint(with: types) }) }
    }

    /// True if a client that requested these types gets the event: ends of several types are of one kind.
    static func isWanted(_ message: EventMessage, _ types: [EventName]?) -> Bool {
        guard let types else { return true }
        return message.type.value.map(types.contains) ?? false
    }

    func message(_ event: FleetEvent) -> EventMessage {
        let detail = (try? JSONValue(parsing: event.detail.utf8)) ?? [:]
        let type = Self.type(event, detail)
        var fields: JSONObject = ["time": event.at.wire]
        fields["type"] = type.wire
        fields["seq"] = .integer(event.seq)
        if let task = event.task { fields["task_id"] = .integer(task.rawValue) }
        if let name = event.owner { fields["owner"] = owner(name).wire }
        if let node = event.node { fields["node"] = .string(node) }
        for (name, value) in Self.content(type, detail).members where fields[name] == nil { fields[name] = value }
        return (try? EventMessage(lenient: .object(fields))) ?? EventMessage(overflowAfter: event.seq, at: event.at)
    }

    /// The fields of the type in `xferd`, from the fleet's stored details.
    private static func content(_ type: EventName, _ detail: JSONValue) -> JSONObject {
        guard var object = detail.objectValue else { return JSONObject() }
        object["detail"] = nil
        let result = detail["detail"] ?? detail
        switch type {
        case .durable(.taskCompleted):
            object["terminal"] = true
            object["state"] = TaskState.completed.wire
            object["path"] = result["final_path"]
            object["size"] = result["progress"]?["received"] ?? 0
            object["warning"] = result["warning"]
        case .durable(.taskFailed):
            object["terminal"] = true
            object["state"] = TaskState.failed.wire
            object["error"] = result["error"] ?? FailureRecord().wire
        case .durable(.taskCancelled):
            object["terminal"] = true
            object["state"] = TaskState.cancelled.wire
        case .durable(.taskAdded):
            if object["url"] == nil { object["url"] = "" }
        case .durable(.taskStarted):
            if object["attempt"] == nil { object["attempt"] = 1 }
            object["offset"] = 0
        case .durable(.taskPaused): object = ["received": 0]
        case .durable(.taskResumed), .durable(.taskRemoved): object = [:]
        default: break
        }
        return object
    }
}

extension FleetEvent.Kind {
    /// The types under which clients know it, at least one: ends are of several.
    fileprivate var names: [EventName] {
        switch self {
        case .added: [.durable(.taskAdded)]
        case .leased: [.durable(.taskStarted)]
        case .paused: [.durable(.taskPaused)]
        case .resumed, .retried: [.durable(.taskResumed)]
        case .removed: [.durable(.taskRemoved)]
        case .ended: [.durable(.taskFailed), .durable(.taskCompleted), .durable(.taskCancelled)]
        case .released: [.fleet(.taskReleased)]
        case .changed: [.fleet(.taskChanged)]
        case .nodeJoined: [.fleet(.nodeJoined)]
        case .nodeDown: [.fleet(.nodeDown)]
        case .nodeDraining: [.fleet(.nodeDraining)]
        case .nodeUndrained: [.fleet(.nodeUndrained)]
        case .nodeForgotten: [.fleet(.nodeForgotten)]
        case .limitChanged: [.fleet(.limitChanged)]
        case .fleetCreated: [.fleet(.created)]
        }
    }
}

extension FleetTaskState {
    /// The state under which clients of `xferd` know it.
    var local: TaskState {
        switch self {
        case .queued: .queued
        case .delayed: .waiting
        case .leased: .running
        case .paused: .paused
        case .completed: .completed
        case .failed, .outcomeUnknown: .failed
        case .cancelled: .cancelled
        }
    }

    /// The fleet's states that one of `xferd`'s represents.
    static func states(_ state: TaskState) -> Set<FleetTaskState> { Set(allCases.filter { $0.local == state }) }
}

extension FleetCounts {
    var record: StateCounts {
        byState.reduce(into: StateCounts()) { counts, entry in
            counts[entry.key.local] = counts[entry.key.local].addingSaturated(entry.value)
        }
    }
}

extension FleetNodeRow {
    func serves(_ place: FleetPlace) -> Bool {
        description.places.contains(place)
    }

    func record(_ observer: BeatObserver, _ rules: LeaseRules, at now: MonotonicInstant) -> FleetNodeRecord {
        var record = FleetNodeRecord()
        record.name = description.name
        record.state = OpenEnum(
            isDown ? .down : observer.liveness(of: description.name, rules, at: now) == .live ? .live : .silent)
        record.draining = isDraining
        record.places = description.places.map(\.description)
        record.slots = description.slots
        record.leases = Int64(clamping: leases)
        record.pinned = Int64(clamping: pinned)
        record.version = description.version
        record.beat = beat
        return record
    }
}
