import StrictJSON
import XferCore
import XferDaemon
import XferModel
import XferProtocol

/// `batch.*`, `group.*` and `queue.stats` of the fleet.
extension FleetFace {
    var batchHandlers: [Handler] {
        [
            Handler(BatchAdd.self) { params, context in try await addBatch(params, FleetCaller(context.caller)) },
            Handler(BatchGet.self) { params, context in
                BatchGet.Result(record: try await batch(FleetBatchID(params.id.rawValue), FleetCaller(context.caller)))
            },
            Handler(BatchList.self) { params, context in
                let (before, owner) = (try params.before(), FleetCaller(context.caller).visibleOwner)
                // One more than the page has is read, to know whether there is another one.
                let limit = min(params.limit, FleetTaskPage.limit - 1)
                let rows = try await attempt { () throws(FleetError) in
                    try await database.batches.list(
                        owner: owner, before: before.map { FleetBatchID($0.rawValue) }, limit: limit + 1)
                }
                return BatchList.Result(rows.map(record), limit: limit)
            },
        ]
    }

    var groupHandlers: [Handler] {
        [
            Handler(GroupList.self) { params, context in
                // The cursor is the last group of the page before.
                let rows = try await groups(FleetCaller(context.caller)).sorted { $0.place < $1.place }
                    .filter { params.cursor.map(Place.init)?.precedes($0.place) ?? true }
                let page = rows.prefix(params.limit)
                return GroupList.Result(
                    try await groupRecords(page),
                    nextCursor: rows.count > page.count ? page.last?.place.cursor : nil)
            },
            Handler(GroupGet.self) { params, context in
                GroupGet.Result(record: try await group(params.name, params.owner, FleetCaller(context.caller)))
            },
            Handler(GroupSet.self) { params, context in
                let caller = FleetCaller(context.caller)
                if params.maxReceiveRate.isChange || params.maxSendRate.isChange {
                    throw Self.unsupported("max_recv_rate", "groups of a fleet have no rates")
                }
                let owner = ownerName(params.owner, caller)
                if params.maxActive.isChange {
                    let limit = params.maxActive.applied(to: nil)
                    try await attempt { () throws(FleetError) in
                        try await database.limits.setGroup(owner: owner, name: params.name, maxActive: limit)
                    }
                    changed()
                }
                return GroupGet.Result(record: try await group(params.name, params.owner, caller))
            },
            Handler(GroupPause.self) { params, context in
                guard !params.running else {
                    throw Self.unsupported("running", "a fleet's group only pauses starts")
                }
                return try await setPaused(params.name, params.owner, isPaused: true, FleetCaller(context.caller))
            },
            Handler(GroupResume.self) { params, context in
                try await setPaused(params.name, params.owner, isPaused: false, FleetCaller(context.caller))
            },
            Handler(QueueSetLimits.self) { params, _ in
                if let field = ["max_active", "max_active_per_host", "order"].first(where: {
                    params.wire.objectValue?[$0] != nil
                }) {
                    throw Self.unsupported(field, "only max_recv_rate and max_send_rate apply to the whole fleet")
                }
                try await attempt { () throws(FleetError) in
                    try await database.limits.setRates(
                        receive: params.maxReceiveRate.isChange ? params.maxReceiveRate.applied(to: nil) ?? 0 : nil,
                        send: params.maxSendRate.isChange ? params.maxSendRate.applied(to: nil) ?? 0 : nil)
                }
                changed()
                return QueueSetLimits.Result(limits: try await queueLimits())
            },
            Handler(QueueStats.self) { _, _ in
                var result = QueueStats.Result()
                result.limits = try await queueLimits()
                result.counts = try await attempt { () throws(FleetError) in try await counts() }
                return result
            },
        ]
    }

    private func queueLimits() async throws -> QueueLimits {
        let rates = try await attempt { () throws(FleetError) in try await database.limits.rates() }
        var limits = QueueLimits()
        (limits.maxReceiveRate, limits.maxSendRate) = (rates.receive, rates.send)
        let set = [rates.receive == 0 ? nil : "max_recv_rate", rates.send == 0 ? nil : "max_send_rate"]
        limits.overridden = set.contains { $0 != nil } ? set.compactMap(\.self) : nil
        limits.maxActive = nodeStatus().nodes.filter { !$0.isDown }.map(\.description.slots).reduce(0) {
            $0.addingReportingOverflow($1).partialValue
        }
        return limits
    }

    // MARK: Batches

    private func addBatch(_ params: BatchAdd.Params, _ caller: FleetCaller) async throws -> BatchAdd.Result {
        var result = BatchAdd.Result()
        var tasks: [(index: Int, task: NewTask)] = []
        for index in params.tasks.indices {
            do {
                let task = try params.task(at: index)
                _ = try admission.admit(task, at: nil, for: caller, path: "tasks[\(index)].")
                tasks.append((index, task))
            } catch {
                let failure =
                    (error as? RPCFailure) ?? (error as? WireError).map { RPCFailure($0) }
                    ?? RPCFailure(.internalError, "\(error)")
                if params.atomic { throw failure }
                result.errors.append(BatchRefusal(index: index, failure))
            }
        }
        let fingerprint = try FleetAdmission.digest(params.canonicalText)
        let outcome = try await attempt { () throws(FleetError) in
            try await database.batches.add(
                owner: caller.name, name: nil, clientKey: params.clientKey, fingerprint: fingerprint)
        }
        let id: FleetBatchID
        switch outcome {
        case .added(let added): id = added
        case .existing(let found): (id, result.existing) = (found, true)
        case .conflict(let other):
            throw RPCFailure(
                .conflict, "client_key: batch \(other) has it with other parameters",
                data: ErrorData(reason: "key_reused", path: "client_key"))
        }
        // Each member has a key of its own: a repeated call finds those of the first.
        let group = "batch-\(id)"
        try await attempt { () throws(FleetError) in
            try await database.limits.setGroup(owner: caller.name, name: group, maxActive: params.maxActive)
        }
        var admitted: [FleetNewTask] = []
        for (index, task) in tasks {
            var member = try admission.admit(task, at: nil, batch: id, for: caller, path: "tasks[\(index)].")
            (member.group, member.clientKey) = (group, "batch:\(id):\(index)")
            admitted.append(member)
        }
        try await addNamedSettings(of: tasks.map(\.task), to: &admitted) { "tasks[\(tasks[$0].index)]." }
        let added = try await insert(admitted, caller) { "tasks[\(tasks[$0].index)]." }
        (result.ids, result.seq) = (added.ids, added.seq)
        result.batch = try await batch(id, caller)
        return result
    }

    private func batch(_ id: FleetBatchID, _ caller: FleetCaller) async throws -> BatchRecord {
        let row = try await attempt { () throws(FleetError) in try await database.batches.get(id) }
        guard let row, caller.isOperator || row.owner == caller.name else {
            throw RPCFailure(.notFound, "there is no batch \(id)", data: ErrorData(reason: "not_found", path: "id"))
        }
        return record(row)
    }

    private func record(_ row: FleetBatchRow) -> BatchRecord {
        var record = BatchRecord()
        record.id = BatchID(row.id.rawValue)
        record.owner = records.owner(row.owner)
        record.group = "batch-\(row.id)"
        record.counts = row.counts.record
        record.total = row.counts.byState.values.reduce(0) { $0.addingSaturated($1) }
        record.finished = row.counts.byState.reduce(0) { $1.key.isEnd ? $0.addingSaturated($1.value) : $0 }
        record.skipped = row.counts[.failed].addingSaturated(row.counts[.outcomeUnknown])
        record.failed = record.skipped
        record.createdAt = row.createdAt
        return record
    }

    // MARK: Groups

    private func ownerName(_ owner: Owner?, _ caller: FleetCaller) -> String {
        guard let owner, caller.isOperator else { return caller.name }
        return AccountDirectory.name(of: owner.rawValue) ?? String(owner.rawValue)
    }

    private func groups(_ caller: FleetCaller) async throws -> [FleetGroupRow] {
        try await attempt { () throws(FleetError) in try await database.limits.groups(owner: caller.visibleOwner) }
    }

    private func group(_ name: String, _ owner: Owner?, _ caller: FleetCaller) async throws -> GroupRecord {
        let wanted = ownerName(owner, caller)
        let rows = try await attempt { () throws(FleetError) in try await database.limits.groups(owner: wanted) }
        if let row = rows.first(where: { $0.name == name }), let record = try await groupRecords([row]).first {
            return record
        }
        var record = GroupRecord()
        record.name = name
        record.owner = records.owner(wanted)
        return record
    }

    private func groupRecords(_ rows: some Collection<FleetGroupRow>) async throws -> [GroupRecord] {
        var found: [GroupRecord] = []
        for row in rows {
            var filter = FleetTaskFilter()
            (filter.owner, filter.group) = (row.owner, row.name)
            let wanted = filter
            var record = GroupRecord()
            record.name = row.name
            record.owner = records.owner(row.owner)
            record.paused = row.isPaused
            record.maxActive = row.maxActive
            record.counts = try await attempt { () throws(FleetError) in try await database.tasks.counts(wanted) }
                .record
            found.append(record)
        }
        return found
    }

    private func setPaused(
        _ name: String, _ owner: Owner?, isPaused: Bool, _ caller: FleetCaller
    ) async throws -> GroupGet.Result {
        let wanted = ownerName(owner, caller)
        try await attempt { () throws(FleetError) in
            try await database.limits.setGroup(owner: wanted, name: name, isPaused: isPaused)
        }
        changed()
        return GroupGet.Result(record: try await group(name, owner, caller))
    }
}

extension GroupGet.Result {
    fileprivate init(record: GroupRecord) {
        self.init()
        group = record
    }
}

extension BatchGet.Result {
    fileprivate init(record: BatchRecord) {
        self.init()
        batch = record
    }
}

/// The place of a group in the list of all: by owner, then by name, in the order of bytes.
private struct Place: Comparable {
    let owner: String
    let name: String

    init(owner: String, name: String) { (self.owner, self.name) = (owner, name) }

    /// - Parameter cursor: owner and name with a tab between them, which neither may have.
    init(_ cursor: String) {
        let parts = cursor.split(separator: "\t", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        self.init(owner: parts[0], name: parts.count > 1 ? parts[1] : "")
    }

    var cursor: String { owner + "\t" + name }

    func precedes(_ other: Place) -> Bool { self < other }

    static func < (left: Place, right: Place) -> Bool {
        left.owner == right.owner
            ? left.name.utf8.lexicographicallyPrecedes(right.name.utf8)
            : left.owner.utf8.lexicographicallyPrecedes(right.owner.utf8)
    }
}

extension FleetGroupRow {
    fileprivate var place: Place { Place(owner: owner, name: name) }
}
