import Logging
import NIOConcurrencyHelpers
import XferCore
import XferDaemon

/// The parts that all work of a node's agent shares.
struct NodeContext: Sendable {
    let configuration: AgentConfiguration
    let database: FleetDatabase
    let daemon: LocalDaemon
    /// Rings for clients that wait for a change in the fleet.
    let changes: WakeSignals
    let logger: Logger
    let storages: StorageMounts
    let announcer: Announcer
    /// Wakes the agent.
    let wakeSignal = WakeSignal()
    /// The node's state for handlers and metrics.
    let nodeStatus = NIOLockedValueBox(NodeStatus())

    init(
        _ configuration: AgentConfiguration, database: FleetDatabase, daemon: LocalDaemon, changes: WakeSignals,
        logger: Logger
    ) {
        self.configuration = configuration
        self.database = database
        self.daemon = daemon
        self.changes = changes
        self.logger = logger
        storages = StorageMounts(configuration.fleet.storages)
        announcer = Announcer(database, pause: configuration.interval / 5)
    }
}

/// A part of the agent. The parts run one at a time, on the agent's actor.
protocol NodePart {
    var context: NodeContext { get }
}

extension NodePart {
    var configuration: AgentConfiguration { context.configuration }
    var rules: LeaseRules { context.configuration.rules }
    var database: FleetDatabase { context.database }
    var daemon: LocalDaemon { context.daemon }
    var changes: WakeSignals { context.changes }
    var logger: Logger { context.logger }
    var storages: StorageMounts { context.storages }
    var announcer: Announcer { context.announcer }
    var wakeSignal: WakeSignal { context.wakeSignal }
    var nodeStatus: NIOLockedValueBox<NodeStatus> { context.nodeStatus }
    /// True if the daemon answered its last call.
    var isDaemonWell: Bool { nodeStatus.withLockedValue { $0.daemonProblem == nil } }
}
