/// Errors of the fleet's database.
public enum FleetError: Error, Hashable, Sendable, CustomStringConvertible {
    /// PostgreSQL refused, could not be reached, or answered too late.
    case database(PostgresError)
    /// The server must not be used: the setting or property, its value, and the required value.
    case unsuitable(what: String, found: String, expected: String)
    /// The schema was made or migrated by a newer program: its number, the oldest program's that may use it, and this
    /// program's.
    case newerSchema(found: Int, minimum: Int, known: Int)
    /// The schema was made by a development version: its number, and the oldest that can be migrated.
    case olderSchema(found: Int, oldest: Int)
    /// The schema is old or missing, because `xfer-fleet migrate` has not been run: the schema's number (0 for none)
    /// and this program's.
    case notMigrated(found: Int, known: Int)
    /// A newer registration of the same node exists: this agent stops and releases nothing.
    case superseded(node: String)
    /// The name belongs to a node with another store that is not down.
    case nodeNameTaken(node: String)
    case noSuchNode(String)
    case noSuchBatch(FleetBatchID)
    /// The node still beats: only a node that is down can be removed.
    case nodeIsUp(String)
    /// A value of the caller's that the database cannot store: the field and the fault.
    case invalid(field: String, reason: String)

    public var description: String {
        switch self {
        case .database(let error): "\(error)"
        case .unsuitable(let what, let found, let expected):
            "the PostgreSQL server is not suitable for a fleet: \(what) is \(found), expected \(expected)"
        case .newerSchema(let found, let minimum, let known):
            "the fleet's database has schema \(found), which needs a program that knows \(minimum); this one knows "
                + "\(known): upgrade xfer-fleet on this node"
        case .olderSchema(let found, let oldest):
            "the fleet's database has schema \(found), expected \(oldest) or higher: it was made by a development version. "
                + "Drop its tables, or use another database"
        case .notMigrated(0, _):
            "the fleet's database has no tables yet: run `xfer-fleet migrate`"
        case .notMigrated(let found, let known):
            "the fleet's database has schema \(found), this program needs \(known): run `xfer-fleet migrate`"
        case .superseded(let node):
            "node \(node) was registered again by another agent: this one stops. If two machines have one state "
                + "directory or one name, give one of them its own"
        case .nodeNameTaken(let node):
            "node \(node) belongs to another store whose agent may still run: choose another name, or run "
                + "`xferctl fleet forget \(node)` if that machine no longer exists"
        case .noSuchNode(let name): "no node \(name)"
        case .noSuchBatch(let id): "no batch \(id)"
        case .nodeIsUp(let name): "node \(name) is not down: stop its agent and wait until the fleet considers it down"
        case .invalid(let field, let reason): "\(field): \(reason)"
        }
    }
}
