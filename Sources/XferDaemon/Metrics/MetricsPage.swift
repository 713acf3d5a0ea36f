import JSONRPC
import NIOConcurrencyHelpers
import XferGateway
import XferManager
import XferModel

/// `GET /metrics`: recorded metrics, and those that are computed now.
struct MetricsPage: Sendable {
    let registry: PrometheusRegistry
    let manager: TransferManager
    let service: DaemonService
    let process: ProcessFigures
    let tokens: TokenCommands
    /// Connections of clients by their transport.
    let clients: @Sendable () -> (unix: Int, network: Int)
    /// True if the whole configuration file is in force as it was last read.
    let isConfigurationInForce: @Sendable () -> Bool

    func text(for connection: RPCConnection) async -> String {
        let clients = clients()
        let callers = [
            Metric.rpcClients.sample(Int64(clamping: clients.unix), "unix"),
            Metric.rpcClients.sample(Int64(clamping: clients.network), "network"),
            Metric.reloadSuccess.sample(isConfigurationInForce() ? 1.0 : 0.0),
        ]
        let samples = await manager.metricSamples() + service.samples + process.samples + callers
        return registry.render(samples, showsNames: mayShowNames(to: connection))
    }

    /// Groups, hosts and directories belong to users: they are shown to operators and to holders of an operator's token
    /// for metrics.
    private func mayShowNames(to connection: RPCConnection) -> Bool {
        guard service.isPrivileged(connection.peer) else { return false }
        guard let remote = connection.remote else { return true }
        return remote.isPrivileged || tokens.token(remote.tokenID)?.scope == .metrics
    }
}

/// Counts the connections of servers that are created later than the page that shows the counts.
final class ClientCounts: Sendable {
    private struct Servers {
        weak var unix: RPCServer?
        weak var network: Gateway?
    }

    private let servers = NIOLockedValueBox(Servers())

    func follow(_ unix: RPCServer, _ network: Gateway?) {
        servers.withLockedValue { $0 = Servers(unix: unix, network: network) }
    }

    var current: (unix: Int, network: Int) {
        servers.withLockedValue { ($0.unix?.clientCount ?? 0, $0.network?.clientCount ?? 0) }
    }
}
