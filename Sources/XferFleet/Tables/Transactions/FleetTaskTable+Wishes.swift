import XferCore
import XferModel

extension FleetTaskTable {
    /// Applies a wish to tasks that no node has, and keeps it for the nodes that have the others.
    ///
    /// Each task is judged by the rows read before. A task that has changed since is read and judged again.
    ///
    /// - Returns: an outcome for each task, by id.
    func wish(_ wish: FleetWish, by caller: WishRules.Caller, for selection: FleetSelection)
        async throws(FleetError) -> [FleetWishOutcome]
    {
        var tasks = try await selected(selection, by: caller)
        var outcomes: [FleetTaskID: FleetWishOutcome] = [:]
        for _ in 0..<Self.wishRounds where !tasks.isEmpty {
            let states = try await judgeable(tasks)
            var judged: [(FleetTaskID, FleetTaskState, WishRules.Verdict)] = []
            for id in tasks {
                guard let found = states[id] else {
                    outcomes[id] = FleetWishOutcome(task: id, verdict: .noSuchTask, state: nil)
                    continue
                }
                let verdict = WishRules.judge(
                    wish, by: caller, owner: found.owner, place: found.place, state: found.state,
                    isCancelling: found.isCancelling, mayBePublished: found.mayBePublished)
                outcomes[id] = FleetWishOutcome(
                    task: id, verdict: verdict, state: verdict == .noSuchTask ? nil : found.state)
                if verdict == .apply || verdict == .deliver { judged.append((id, found.state, verdict)) }
            }
            let done = try await apply(wish, judged)
            tasks = judged.map(\.0).filter { !done.contains($0) }
        }
        // It changes faster than it can be read.
        for id in tasks { outcomes[id] = FleetWishOutcome(task: id, verdict: .wrongState, state: outcomes[id]?.state) }
        return outcomes.values.sorted { $0.task < $1.task }
    }

    private static let wishRounds = 10

    private func selected(_ selection: FleetSelection, by caller: WishRules.Caller) async throws(FleetError)
        -> [FleetTaskID]
    {
        switch selection {
        case .tasks(let ids):
            guard ids.count <= FleetTaskPage.limit else {
                throw .invalid(field: "tasks", reason: "\(ids.count) at once, at most \(FleetTaskPage.limit)")
            }
            return Array(Set(ids)).sorted()
        case .matching(var filter, let after):
            if case .owner(let name) = caller {
                if let owner = filter.owner, owner != name { return [] }
                filter.owner = name
            }
            return try await list(filter, after: after, newestFirst: false, limit: FleetTaskPage.limit).tasks
                .map(\.id)
        }
    }

    private struct Judgeable {
        let owner: String
        let place: FleetPlace
        let state: FleetTaskState
        let isCancelling: Bool
        let mayBePublished: Bool
    }

    private func judgeable(_ tasks: [FleetTaskID]) async throws(FleetError) -> [FleetTaskID: Judgeable] {
        let rows = try await calls.run(
            """
            SELECT t.id, o.name, \(FleetTaskQuery.state), coalesce(s.is_cancelling, false), l.place,
                EXISTS (SELECT 1 FROM fleet_permit m WHERE m.task = t.id AND m.is_open AND NOT m.was_cancelling)
            FROM unnest($1::bigint[]) AS u(id) JOIN fleet_task t ON t.id = u.id JOIN fleet_owner o ON o.id = t.owner
            JOIN fleet_lane l ON l.id = t.lane
            \(FleetTaskQuery.positions)
            """, [PostgresArray.integers(tasks.map(\.rawValue))]
        ).map { (row) throws(PostgresError) in
            (
                FleetTaskID(try row.integer(0)),
                Judgeable(
                    owner: try row.text(1), place: try row.place(4), state: try row.state(2),
                    isCancelling: try row.bool(3), mayBePublished: try row.bool(5))
            )
        }
        return Dictionary(rows) { $1 }
    }

    /// Applies wishes to tasks.
    ///
    /// - Returns: the tasks that had not changed since they were judged.
    private func apply(
        _ wish: FleetWish, _ judged: [(id: FleetTaskID, state: FleetTaskState, verdict: WishRules.Verdict)]
    ) async throws(FleetError) -> Set<FleetTaskID> {
        var done: Set<FleetTaskID> = []
        let leased = judged.filter { $0.state == .leased }
        let ended = judged.filter { $0.state.isEnd }
        let waiting = judged.filter { $0.state != .leased && !$0.state.isEnd && $0.verdict == .apply }
        let watched = judged.filter { $0.state == .queued && $0.verdict == .deliver }
        done.formUnion(try await cancelAfterCheck(watched.map(\.id)))
        let resting = judged.filter { $0.state == .paused && $0.verdict == .deliver }
        done.formUnion(try await cancelPausedAfterCheck(resting.map(\.id)))
        for (function, part) in [("leased", leased), ("ended", ended), ("waiting", waiting)] where !part.isEmpty {
            let ids = PostgresArray.integers(part.map(\.id.rawValue))
            let states = PostgresArray.texts(part.map(\.state.rawValue))
            let answer: PostgresResult
            switch function {
            case "leased":
                answer = try await calls.run(
                    "SELECT done FROM fleet_wish_leased($1, $2, $3::bigint[])", [wish.name, wish.argument, ids])
            case "ended":
                answer = try await calls.run(
                    "SELECT done FROM fleet_wish_ended($1, $2::bigint[], $3::text[])", [wish.name, ids, states])
            default:
                answer = try await calls.run(
                    "SELECT done FROM fleet_wish_waiting($1, $2, $3::bigint[], $4::text[])",
                    [wish.name, wish.argument, ids, states])
            }
            done.formUnion(try answer.map { (row) throws(PostgresError) in FleetTaskID(try row.integer(0)) })
        }
        return done
    }
}

extension FleetTaskTable {
    /// Makes the next node that claims these queued tasks end them, unless it finds that their files are published.
    ///
    /// The rows are locked, so that a claim happens before, or reads the change.
    ///
    /// - Returns: the tasks that were still queued.
    private func cancelAfterCheck(_ tasks: [FleetTaskID]) async throws(FleetError) -> Set<FleetTaskID> {
        guard !tasks.isEmpty else { return [] }
        return Set(
            try await calls.run(
                """
                WITH waiting AS (
                    SELECT q.task FROM fleet_task t
                    JOIN fleet_queue q ON q.lane = t.lane AND q.rank = t.rank AND q.task = t.id
                    WHERE t.id = ANY ($1::bigint[]) FOR UPDATE OF q
                ), marked AS (
                    UPDATE fleet_permit p SET was_cancelling = true FROM waiting w
                    WHERE p.task = w.task AND p.is_open RETURNING p.task
                ) SELECT DISTINCT task FROM marked
                """, [PostgresArray.integers(tasks.map(\.rawValue))]
            ).map { (row) throws(PostgresError) in FleetTaskID(try row.integer(0)) })
    }

    /// Does the same for paused tasks, which are queued for that purpose.
    ///
    /// - Returns: the tasks that were still paused.
    private func cancelPausedAfterCheck(_ tasks: [FleetTaskID]) async throws(FleetError) -> Set<FleetTaskID> {
        guard !tasks.isEmpty else { return [] }
        return Set(
            try await calls.run(
                "SELECT done FROM fleet_cancel_paused($1::bigint[])", [PostgresArray.integers(tasks.map(\.rawValue))]
            ).map { (row) throws(PostgresError) in FleetTaskID(try row.integer(0)) })
    }
}

extension FleetWish {
    /// The argument that rows store together with the name.
    var argument: String? {
        switch self {
        case .pause, .resume, .cancel, .retry, .remove: nil
        case .reorder(let end): end.rawValue
        case .move(let place): place.description
        case .priority(let priority): String(priority.rawValue)
        case .limits(let fields): fields
        }
    }

    /// Reads a stored request. Returns nil if this program does not know it.
    init?(name: String, argument: String?) {
        switch name {
        case "pause": self = .pause
        case "resume": self = .resume
        case "cancel": self = .cancel
        case "retry": self = .retry
        case "remove": self = .remove
        case "reorder":
            guard let end = argument.flatMap(FleetLaneEnd.init(rawValue:)) else { return nil }
            self = .reorder(end)
        case "move":
            guard let place = argument.flatMap(FleetPlace.init) else { return nil }
            self = .move(place)
        case "priority":
            guard let number = argument.flatMap({ Int($0, radix: 10) }), let priority = Priority(rawValue: number)
            else {
                return nil
            }
            self = .priority(priority)
        case "limits":
            guard let argument else { return nil }
            self = .limits(argument)
        default: return nil
        }
    }
}
