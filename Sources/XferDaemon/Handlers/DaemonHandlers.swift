import Glibc
import StrictJSON
import XferManager
import XferModel
import XferProtocol
import XferSystem

/// Handles `daemon.*` and `rpc.discover`: decodes, authorises, calls and encodes.
struct DaemonHandlers: Sendable {
    let manager: TransferManager
    let version: String
    let stateDirectory: String
    let socket: String
    let startedAt: MonotonicInstant
    let configuration: @Sendable () -> LoadedSettings
    let configurationFile: String
    /// The reason why the configuration file is not in force.
    let configurationProblem: @Sendable () -> String?
    /// Entries of the configuration file that are not in force, because others were set over RPC.
    let configurationConflicts: @Sendable () -> [String]
    /// Keys whose values in the file apply after a restart only.
    let keysWaitingForRestart: @Sendable () -> [String]
    /// Called after the answer to `daemon.shutdown` was sent.
    let shutDown: @Sendable (ShutdownMode) -> Void

    var all: [Handler] {
        [
            Handler(DaemonStatus.self, status), Handler(DaemonConfig.self, config),
            Handler(DaemonBackup.self, backup), Handler(DaemonShutdown.self, shutdown),
            Handler(RPCDiscover.self) { _, _ in OpenRPCDocument.cached },
        ]
    }

    private func status(_: NoParams, _ context: CallContext) async throws -> DaemonStatus.Result {
        let stats = try await manager.queue.stats(for: context.caller.principal)
        var result = DaemonStatus.Result()
        result.version = version
        result.pid = Int64(clamping: getpid())
        result.uptime = startedAt.duration(to: Clocks.monotonic()).components.seconds
        result.stateDirectory = stateDirectory
        result.socket = socket
        result.storeID = manager.storeID
        result.degradedReason = manager.degradation
        result.degraded = result.degradedReason != nil
        let damaged = context.caller.isOperator ? manager.damagedRows : []
        result.damagedRows = damaged.isEmpty ? nil : damaged
        result.configurationProblem = context.caller.isOperator ? configurationProblem() : nil
        let conflicts = context.caller.isOperator ? configurationConflicts() : []
        result.configurationConflicts = conflicts.isEmpty ? nil : conflicts
        let failing = context.caller.isOperator ? await manager.failingWebhooks() : []
        result.failingWebhooks =
            failing.isEmpty ? nil : failing.map { $0.name + ($0.reason.map { ": \($0)" } ?? "") }
        result.queuePaused = stats.paused
        let waiting = context.caller.isOperator ? keysWaitingForRestart() : []
        result.keysWaitingForRestart = waiting.isEmpty ? nil : waiting
        result.fileSystems = context.caller.isOperator ? manager.queries.fileSystems : nil
        result.shuttingDown = manager.isShuttingDown
        result.counts = stats.counts
        result.network = OpenEnum(manager.network.state)
        result.activity = manager.isActive
        return result
    }

    private func config(_: NoParams, _: CallContext) -> DaemonConfig.Result {
        let loaded = configuration()
        let settings = SettingKey.all.map { key in
            DaemonConfig.Setting(
                key: key.path, value: .string(key.write(loaded.settings)),
                origin: loaded.origin(of: key).description, reloadable: key.appliesOnReload)
        }
        return DaemonConfig.Result(file: configurationFile, settings: settings)
    }

    private func backup(_ params: DaemonBackup.Params, _: CallContext) async throws -> DaemonBackup.Result {
        try await manager.backup.write(to: params.file)
    }

    private func shutdown(_ params: DaemonShutdown.Params, _: CallContext) async -> DaemonShutdown.Result {
        manager.beginShutdown()
        shutDown(params.mode)
        return DaemonShutdown.Result(mode: params.mode)
    }
}

extension OpenRPCDocument {
    /// The document as a value, made once.
    static let cached = value.objectValue ?? JSONObject()
}
