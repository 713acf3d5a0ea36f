import Glibc
import StrictJSON
import XferCore
import XferDaemon
import XferModel
import XferProtocol
import XferSystem

/// `fleet.*` and `daemon.status` of the agent.
extension FleetFace {
    var fleetHandlers: [Handler] {
        [
            Handler(FleetStatus.self) { _, _ in try await status() },
            Handler(
                FleetNodes.self,
                encoding: { params, _, _ in
                    PageText.named(try await nodes(), params, as: FleetNodes.Result.self, name: \.name) { $0 }
                }),
            Handler(FleetMove.self) { params, context in
                guard let place = FleetPlace(params.place) else {
                    throw RPCFailure(.invalidParams, "place: expected \(FleetPlace.expected)")
                }
                return try await apply(.move(place), to: params.ids, FleetCaller(context.caller))
            },
            Handler(FleetDrain.self) { params, _ in try await drain(params.node, true) },
            Handler(FleetUndrain.self) { params, _ in try await drain(params.node, false) },
            Handler(FleetForget.self) { params, _ in try await forget(params) },
            Handler(FleetLimit.self) { params, _ in
                try await attempt { () throws(FleetError) in
                    try await database.limits.setHost(params.host, maxActive: params.maxActive)
                }
                changed()
                return Done()
            },
        ]
    }

    var statusHandlers: [Handler] {
        let startedAt = Clocks.monotonic()
        return [
            Handler(DaemonStatus.self) { _, _ in
                let nodeStatus = nodeStatus()
                var result = DaemonStatus.Result()
                result.version = configuration.instance.options.programVersion
                result.pid = Int64(clamping: getpid())
                result.uptime = max(0, startedAt.duration(to: Clocks.monotonic()).components.seconds)
                result.stateDirectory = configuration.instance.paths.stateDirectory
                result.socket = configuration.fleet.socket
                result.storeID = nodeStatus.fleet
                result.node = configuration.node
                result.degraded = nodeStatus.databaseProblem != nil
                result.degradedReason = nodeStatus.databaseProblem
                result.counts = (try? await counts()) ?? StateCounts()
                result.activity = nodeStatus.claimed > 0
                return result
            },
            Handler(RPCDiscover.self) { _, _ in OpenRPCDocument.value.objectValue ?? JSONObject() },
        ]
    }

    private func nodes() async throws -> [FleetNodeRecord] {
        let rows = try await attempt { () throws(FleetError) in try await database.nodes.list() }
        let (observer, now) = (nodeStatus().observer, Clocks.monotonic())
        return rows.map { $0.record(observer, configuration.rules, at: now) }
    }

    private func status() async throws -> FleetStatus.Result {
        let nodes = try await nodes()
        let counts = try await attempt { () throws(FleetError) in try await self.counts() }
        let nodeStatus = nodeStatus()
        var result = FleetStatus.Result()
        result.fleet = nodeStatus.fleet
        result.node = configuration.node
        result.version = configuration.instance.options.programVersion
        result.schema = FleetSchema.known
        result.daemon = nodeStatus.daemonProblem == nil
        result.daemonProblem = nodeStatus.daemonProblem
        result.nodes = nodes.count
        result.live = nodes.count { $0.state.value == .live }
        result.counts = counts
        return result
    }

    private func node(_ name: String) async throws -> FleetNodeRecord {
        guard let node = try await nodes().first(where: { $0.name == name }) else {
            throw RPCFailure(.noSuchNode(name))
        }
        return node
    }

    private func drain(_ name: String, _ isDraining: Bool) async throws -> FleetDrain.Result {
        try await attempt { () throws(FleetError) in try await database.nodes.setDraining(name, isDraining) }
        changed()
        return FleetDrain.Result(try await node(name))
    }
}
