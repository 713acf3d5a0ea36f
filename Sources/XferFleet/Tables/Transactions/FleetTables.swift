/// The connections of an agent to the fleet's database.
struct FleetConnections: Sendable {
    /// A beat waits for no other call.
    let beats: PostgresConnection
    /// The agent's own loop.
    let work: PostgresConnection
    /// The connection for clients' calls.
    let calls: PostgresConnection
}

/// The transactions about one concern: every method is one, and has committed when it returns.
protocol FleetTransactions: Sendable {
    var connections: FleetConnections { get }
}

extension FleetTransactions {
    var beats: PostgresConnection { connections.beats }
    var work: PostgresConnection { connections.work }
    var calls: PostgresConnection { connections.calls }
}

/// Tasks: adding them, lists, and the wishes of owners and operators.
public struct FleetTaskTable: FleetTransactions { let connections: FleetConnections }

/// Batches of tasks.
struct FleetBatchTable: FleetTransactions { let connections: FleetConnections }

/// Nodes: registrations, beats, and the signals that wake an idle agent.
public struct FleetNodeTable: FleetTransactions { let connections: FleetConnections }

/// The tasks that nodes have claimed: claims, reports, and the wishes for them.
public struct FleetLeaseTable: FleetTransactions { let connections: FleetConnections }

/// Permits to publish on shared storage.
struct FleetPermitTable: FleetTransactions { let connections: FleetConnections }

/// Takeovers of the leases of nodes that are down or removed.
struct FleetTakeovers: FleetTransactions { let connections: FleetConnections }

/// Limits of groups, hosts and owners, and the fleet's rates.
public struct FleetLimitTable: FleetTransactions { let connections: FleetConnections }

/// Tokens of clients on the network.
struct FleetTokenTable: FleetTransactions { let connections: FleetConnections }

/// The fleet's events.
public struct FleetEventTable: FleetTransactions { let connections: FleetConnections }
