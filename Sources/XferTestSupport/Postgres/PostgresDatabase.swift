import NIOConcurrencyHelpers

/// An empty database of a server that all tests of this process share. The server ends with the last of them.
public final class PostgresDatabase: Sendable {
    public let cluster: PostgresCluster
    public let name: String

    public init() async throws {
        cluster = try await SharedCluster.instance.cluster()
        name = await SharedCluster.instance.nextName()
        try await cluster.makeDatabase(name)
    }

    /// The connection string for libpq.
    public var connection: String { cluster.connection(name) }

    /// Runs a statement with psql and returns its output.
    @discardableResult
    public func sql(_ statement: String) async throws -> String { try await cluster.sql(statement, in: name) }
}

private actor SharedCluster {
    static let instance = SharedCluster()

    private weak var current: PostgresCluster?
    private var start: Task<PostgresCluster, any Error>?
    private var names = 0

    func cluster() async throws -> PostgresCluster {
        if let current { return current }
        if let start { return try await start.value }
        let task = Task { try await PostgresCluster(["max_connections": "300"]) }
        start = task
        defer { start = nil }
        let made = try await task.value
        current = made
        return made
    }

    func nextName() -> String {
        names += 1
        return "test\(names)"
    }
}
