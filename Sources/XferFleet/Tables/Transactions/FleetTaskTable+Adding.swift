import XferCore
import XferModel

extension FleetTaskTable {
    /// The highest number of tasks in one `add`.
    static let addLimit = 1000

    /// Adds tasks in one transaction, at most `addLimit`.
    ///
    /// - Returns: an outcome for each, in their order.
    public func add(_ tasks: [FleetNewTask]) async throws(FleetError) -> [FleetAddOutcome] {
        guard !tasks.isEmpty else { return [] }
        guard tasks.count <= Self.addLimit else {
            throw .invalid(field: "tasks", reason: "\(tasks.count) at once, at most \(Self.addLimit)")
        }
        var numbers: [LaneKey: Int] = [:]
        var lanes: [LaneKey] = []
        let laneNumbers = tasks.map { task in
            let key = LaneKey(task)
            if let number = numbers[key] { return number }
            lanes.append(key)
            numbers[key] = lanes.count
            return lanes.count
        }
        let answer = try await calls.run(
            """
            SELECT a.ordinal, a.task, a.outcome FROM fleet_add(
                $1::smallint[], $2::text[], $3::text[], $4::text[], $5::text[],
                $6::integer[], $7::text[], $8::text[], $9::boolean[], $10::bigint[],
                $11::boolean[], $12::boolean[], $13::bigint[], $14::text[], $15::text[], $16::text[]) a
            """,
            [
                PostgresArray.integers(lanes.map { Int64(clamping: $0.priority) }),
                PostgresArray.texts(lanes.map(\.owner)), PostgresArray.texts(lanes.map(\.group)),
                PostgresArray.texts(lanes.map(\.host)), PostgresArray.texts(lanes.map(\.place)),
                PostgresArray.integers(laneNumbers.map { Int64(clamping: $0) }),
                PostgresArray.texts(tasks.map(\.clientKey)), PostgresArray.texts(tasks.map(\.fingerprint)),
                PostgresArray.bools(tasks.map { $0.order == .lifo }),
                PostgresArray.integers(tasks.map { $0.notBefore?.rawValue }),
                PostgresArray.bools(tasks.map(\.isRepeatable)), PostgresArray.bools(tasks.map(\.startsPaused)),
                PostgresArray.integers(tasks.map { $0.batch?.rawValue }), PostgresArray.texts(tasks.map(\.label)),
                PostgresArray.texts(tasks.map(\.spec)), PostgresArray.texts(tasks.map(\.summary)),
            ])
        var outcomes: [FleetAddOutcome?] = Array(repeating: nil, count: tasks.count)
        for (ordinal, outcome) in try answer.map(Self.outcome) where outcomes.indices.contains(ordinal) {
            outcomes[ordinal] = outcome
        }
        let complete = outcomes.compactMap { $0 }
        guard complete.count == tasks.count else {
            throw .database(PostgresError(.form, "\(complete.count) outcomes for \(tasks.count) tasks"))
        }
        return complete
    }

    private static func outcome(_ row: PostgresRow) throws(PostgresError) -> (ordinal: Int, FleetAddOutcome) {
        let id = FleetTaskID(try row.integer(1))
        let outcome: FleetAddOutcome
        switch try row.text(2) {
        case "added": outcome = .added(id)
        case "existing": outcome = .existing(id)
        default: outcome = .conflict(id)
        }
        return (Int(clamping: try row.integer(0)) - 1, outcome)
    }

    /// Moves delayed tasks whose time has passed into their lanes, at most 500.
    ///
    /// - Returns: the number of tasks; call again if it is 500.
    @discardableResult
    func wakeDelayed() async throws(FleetError) -> Int {
        try await work.run("SELECT fleet_wake(500)").one { (row) throws(PostgresError) in
            Int(clamping: try row.integer(0))
        }
    }
}

/// The properties that tasks of one lane have in common.
private struct LaneKey: Hashable {
    let priority: Int
    let owner: String
    /// The group; empty for no group.
    let group: String
    let host: String
    let place: String

    init(_ task: FleetNewTask) {
        priority = task.priority.rawValue
        owner = task.owner
        group = task.group ?? ""
        host = task.host
        place = task.place.description
    }
}
