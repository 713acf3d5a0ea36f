/// The fleet's tables in PostgreSQL, with the transactions of each: every method is one transaction, and has committed
/// when it returns.
///
/// Nearly every transaction is one call of a function of the schema (`Schema`), so that no lock is kept while an
/// answer travels to an agent or while an agent hangs.
///
/// An error with `isOutcomeUnknown` means that the connection broke during the commit. Read before you repeat, or
/// repeat only calls that are safe to repeat (adds with a `client_key`, reports, beats). After such an error of
/// `leases.claim`, `leases.list` contains claims that are unknown to the agent.
public final class FleetDatabase: Sendable {
    let connections: FleetConnections

    private init(_ settings: PostgresSettings) throws(FleetError) {
        do throws(PostgresError) {
            connections = FleetConnections(
                beats: try PostgresConnection(settings, name: "fleet-beats"),
                work: try PostgresConnection(settings, name: "fleet-work"),
                calls: try PostgresConnection(settings, name: "fleet-calls"))
        } catch {
            throw .database(error)
        }
    }

    /// Connects and checks that the server makes its answers durable: version 15 or later, no standby, `fsync`,
    /// `full_page_writes` and `synchronous_commit` on, UTF-8, a schema that this program may use.
    ///
    /// - Returns: the database, and warnings for the log, for example of an asynchronous standby.
    public static func open(_ settings: PostgresSettings) async throws(FleetError)
        -> (FleetDatabase, warnings: [String])
    {
        let database = try FleetDatabase(settings)
        do throws(FleetError) {
            let warnings = try await ServerCheck.check(database.connections.work)
            try await FleetSchema.check(database.connections.work)
            return (database, warnings)
        } catch {
            database.close()
            throw error
        }
    }

    /// Creates the tables, or migrates them to this program's schema. Simultaneous calls wait for each other.
    ///
    /// - Returns: the schema's number before and after; 0 is none.
    @discardableResult
    public static func migrate(_ settings: PostgresSettings) async throws(FleetError) -> (from: Int, to: Int) {
        let connection: PostgresConnection
        do throws(PostgresError) {
            connection = try PostgresConnection(settings, name: "fleet-migrate")
        } catch {
            throw .database(error)
        }
        defer { connection.close() }
        _ = try await ServerCheck.check(connection)
        return try await FleetSchema.migrate(connection)
    }

    /// Ends the connections. Calls that wait fail.
    func close() {
        for connection in [connections.beats, connections.work, connections.calls] { connection.close() }
    }

    public var tasks: FleetTaskTable { FleetTaskTable(connections: connections) }
    var batches: FleetBatchTable { FleetBatchTable(connections: connections) }
    public var nodes: FleetNodeTable { FleetNodeTable(connections: connections) }
    public var leases: FleetLeaseTable { FleetLeaseTable(connections: connections) }
    var permits: FleetPermitTable { FleetPermitTable(connections: connections) }
    var takeovers: FleetTakeovers { FleetTakeovers(connections: connections) }
    public var limits: FleetLimitTable { FleetLimitTable(connections: connections) }
    var tokens: FleetTokenTable { FleetTokenTable(connections: connections) }
    public var events: FleetEventTable { FleetEventTable(connections: connections) }
}

extension PostgresConnection {
    /// Executes a statement, and throws the errors that the schema's functions raise.
    func run(_ sql: String, _ parameters: [String?] = [], node: String = "") async throws(FleetError) -> PostgresResult
    {
        do throws(PostgresError) {
            return try await execute(sql, parameters)
        } catch {
            throw error.sqlState == "XF001" ? .superseded(node: node) : .database(error)
        }
    }
}

extension PostgresResult {
    /// The rows as values.
    func map<Value>(_ read: (PostgresRow) throws(PostgresError) -> Value) throws(FleetError) -> [Value] {
        do throws(PostgresError) {
            var values: [Value] = []
            values.reserveCapacity(count)
            for row in rows { values.append(try read(row)) }
            return values
        } catch {
            throw .database(error)
        }
    }

    /// The only row as a value.
    func one<Value>(_ read: (PostgresRow) throws(PostgresError) -> Value) throws(FleetError) -> Value {
        guard let value = try map(read).first else { throw .database(PostgresError(.form, "the answer has no row")) }
        return value
    }
}
