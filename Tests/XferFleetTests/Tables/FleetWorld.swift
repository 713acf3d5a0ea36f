import XferCore
import XferModel
import XferTestSupport

@testable import XferFleet

/// A migrated fleet in a database of its own.
struct FleetWorld {
    let postgres: PostgresDatabase
    let fleet: FleetDatabase

    init() async throws {
        postgres = try await PostgresDatabase()
        let settings = PostgresSettings(connection: postgres.connection)
        try await FleetDatabase.migrate(settings)
        fleet = try await FleetDatabase.open(settings).0
    }

    /// Another agent's connections to the same fleet.
    func anotherAgent() async throws -> FleetDatabase {
        try await FleetDatabase.open(PostgresSettings(connection: postgres.connection)).0
    }

    /// An agent that reaches the server by another socket.
    func agent(host: String, timeout: Duration = .seconds(30)) async throws -> FleetDatabase {
        let connection = "host=\(host) port=5432 user=\(PostgresCluster.user) dbname=\(postgres.name)"
        return try await FleetDatabase.open(
            PostgresSettings(connection: connection, statementTimeout: timeout)
        ).0
    }

    func join(
        _ name: String = "one", labels: Set<String> = [], storages: Set<String> = [], slots: Int = 10
    ) async throws -> FleetRegistration {
        try await fleet.nodes.register(Self.node(name, labels: labels, storages: storages, slots: slots))
    }

    static func node(
        _ name: String, labels: Set<String> = [], storages: Set<String> = [], slots: Int = 10, store: String? = nil
    ) -> FleetNodeDescription {
        FleetNodeDescription(
            name: name, labels: labels, storages: storages, slots: slots, storeID: store ?? "store-\(name)",
            digests: ["policy:a": "1"],
            version: "1.0.0")
    }

    /// Adds a task and gives its id.
    @discardableResult
    func add(_ change: (inout FleetNewTask) -> Void = { _ in }) async throws -> FleetTaskID {
        var task = Self.task()
        change(&task)
        return try await fleet.tasks.add([task])[0].task
    }

    static func task(_ host: String = "a.example") -> FleetNewTask {
        FleetNewTask(owner: "ada", fingerprint: "f", host: host, spec: #"{"url":"https://a.example/x"}"#)
    }

    func claim(_ node: FleetRegistration, _ want: Int = 100) async throws -> [FleetClaim] {
        var cursor = FleetClaimCursor()
        return try await fleet.leases.claim(node, want: want, cursor: &cursor)
    }

    func end(_ node: FleetRegistration, _ claims: [FleetClaim], _ ending: FleetEnding = .completed) async throws
        -> FleetReportOutcome
    {
        var report = FleetReport()
        report.ends = claims.map { FleetEnd(claimKey: $0.claimKey, ending: ending) }
        return try await fleet.leases.report(node, report)
    }

    func state(_ id: FleetTaskID) async throws -> FleetTaskState? { try await fleet.tasks.get(id)?.state }

    /// The node's row, as an observer reads it.
    func row(_ node: FleetRegistration) async throws -> FleetNodeRow? {
        try await fleet.nodes.list().first { $0.id == node.node }
    }
}
