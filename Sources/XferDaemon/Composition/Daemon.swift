import CoreMetrics
import Glibc
import JSONRPC
import Logging
import NIOConcurrencyHelpers
import ServiceLifecycle
import StrictJSON
import UnixSignals
import XferGateway
import XferManager
import XferModel
import XferProtocol
import XferSystem

/// The composition root: all parts are made and connected here, once.
public enum Daemon {
    /// Runs the service until it is stopped. Call it from the main thread of a program that runs nothing asynchronous
    /// itself.
    public static func run(_ options: DaemonOptions) -> DaemonExit {
        MemoryCare.keepHeapSmall()
        DescriptorLimit.raise()
        do {
            return try ServiceExecutors.run { await service(options) } ?? .failure
        } catch {
            complain("\(error)")
            return .failure
        }
    }

    private static func service(_ options: DaemonOptions) async -> DaemonExit {
        let instance: Instance
        do {
            instance = try Instance(options)
        } catch {
            complain("\(error)")
            return .needsAttention
        }
        let log = makeLog(instance)
        log.bootstrap()
        let logger = Logger(label: "xferd")
        // Writing to a client that went away is an error of that write, not the end of the process.
        signal(SIGPIPE, SIG_IGN)
        for warning in instance.loaded.warnings + instance.missing.map(\.description) { logger.warning("\(warning)") }
        do {
            return try await serve(instance, log: log, logger: logger)
        } catch {
            logger.critical("\(error)")
            let state = instance.paths.stateDirectory
            if let advice = TransferManager.advice(for: error, stateDirectory: state) { logger.critical("\(advice)") }
            if StartFailure.needsAttention(error) { return .needsAttention }
            if let advice = StartFailure.advice(stateDirectory: state) {
                logger.critical("\(advice)")
            }
            return .failure
        }
    }

    private static func serve(_ instance: Instance, log: ServiceLog, logger: Logger) async throws -> DaemonExit {
        let startedAt = Clocks.monotonic()
        let process = ProcessFigures(version: instance.options.programVersion, startedAt: Clocks.wall())
        let sockets = try SocketActivation.sockets(environment: instance.environment)
        let lock = sockets.isEmpty ? try lockSocket(instance.paths.socket) : nil
        defer { lock?.release() }
        let metrics = PrometheusRegistry()
        MetricsSystem.bootstrap(metrics)

        let settings = instance.loaded.settings
        let manager = try await TransferManager.open(
            stateDirectory: instance.paths.stateDirectory, settings: instance.managerSettings(instance.loaded),
            version: instance.options.programVersion, logger: logger, reader: ResponseObjects.reader,
            accounts: AccountDirectory.account)
        let configuration = LiveConfiguration(instance, manager: manager, log: log, logger: logger)
        let shutdown = ShutdownRequest()
        let endpoints = RPCEndpoint.all(sockets, path: instance.paths.socket, settings: settings)
        let leases = EventLeases(
            perConnection: Int(clamping: settings.rpc.maxWaiting),
            perUser: Int(clamping: settings.rpc.maxWaitingPerUser))
        let owners = TaskOwners { configuration.access }
        var handlers: [Handler] = []
        handlers +=
            TaskHandlers(
                tasks: manager.tasks, queries: manager.queries, bytes: manager.bytes, staging: manager.staging,
                operations: manager.operations, owners: owners, defaults: { configuration.taskDefaults }
            ).all
        handlers += OperationHandlers(operations: manager.operations).all
        handlers += QueueHandlers(queue: manager.queue).all
        handlers +=
            BatchHandlers(batches: manager.batches, owners: owners, defaults: { configuration.taskDefaults }).all
        handlers += GroupHandlers(groups: manager.groups).all
        handlers += SlotHandlers(slots: manager.slots, queries: manager.queries).all
        handlers += FailedURLHandlers(failedURLs: manager.failedURLs).all
        handlers += StrictTransportHandlers(hosts: manager.strictTransport).all
        handlers += CacheHandlers(cache: manager.cache).all
        handlers += HookHandlers(hooks: { manager.hooks }).all
        handlers += WebhookHandlers(webhooks: manager.webhooks).all
        handlers += PolicyHandlers(policies: manager.policies).all
        handlers += ProfileHandlers(profiles: manager.profiles).all
        handlers += NetworkHandlers(network: manager.network).all
        handlers += LeaseHandlers(leases: manager.leases).all
        handlers +=
            EventHandlers(
                hub: manager.hub, queries: manager.queries, subscriptions: ConnectionSubscriptions(), leases: leases
            ).all
        handlers +=
            DaemonHandlers(
                manager: manager, version: instance.options.programVersion,
                stateDirectory: instance.paths.stateDirectory,
                socket: sockets.first?.path ?? instance.paths.socket, startedAt: startedAt,
                configuration: { configuration.loaded }, configurationFile: configuration.path,
                configurationProblem: { configuration.rejection },
                configurationConflicts: { configuration.conflicts },
                keysWaitingForRestart: { configuration.keysWaitingForRestart },
                shutDown: { mode in Task { await shutdown.perform(mode, on: manager) } }
            ).all
        let tokens = RemoteTokens(manager.tokens.registry, clock: Clocks.wall)
        let hasListeners = !settings.listen.isEmpty
        handlers += TokenHandlers(tokens: manager.tokens, learn: { if hasListeners { tokens.learn($0) } }).all
        let memory = MemoryCare()
        let service = DaemonService(handlers: handlers, access: configuration.access, memory: memory)
        let ownSocket = sockets.isEmpty ? instance.paths.socket : nil
        configuration.onAccessChange { [weak configuration] policy in
            service.setAccess(policy)
            guard let ownSocket, let settings = configuration?.loaded.settings else { return }
            do throws(SystemCallError) {
                try RPCEndpoint.setPermissions(ofSocket: ownSocket, settings)
            } catch {
                logger.warning("the socket keeps its permissions: \(error)")
            }
        }
        let clients = ClientCounts()
        let page = MetricsPage(
            registry: metrics, manager: manager, service: service, process: process, tokens: manager.tokens,
            clients: { clients.current }, isConfigurationInForce: { configuration.isInForce })
        let routes = HTTPRoutes(
            hub: manager.hub, queries: manager.queries, service: service, metrics: page, leases: leases,
            bytes: manager.bytes
        ).all
        let limits = RPCLimits(settings)
        let turns = RequestTurns(limits)
        let server = RPCServer(service: service, routes: routes, limits: limits, turns: turns)
        let gateway =
            hasListeners
            ? Gateway(service, routes, tokens, settings, turns: turns, storeID: manager.storeID, logger) : nil
        clients.follow(server, gateway)
        if let gateway {
            configuration.onReload {
                gateway.reloadCertificates()
                tokens.refresh()
            }
        }

        // The state of the last process is restored before the first client can call.
        try await manager.start()
        logger.notice(
            "started",
            metadata: [
                "version": "\(instance.options.programVersion)", "configuration": "\(instance.loaded.fileDescription)",
                "state_directory": "\(instance.paths.stateDirectory)",
            ])
        try WallClockWatch.start { Task { await manager.onClockSet() } }
        let notifier = ServiceNotifier(environment: instance.environment)
        var listening: [NamedService] = [
            (
                "socket",
                SocketService(server: server, endpoints: endpoints, notifier: notifier, logger: logger) {
                    manager.endWaits()
                }
            )
        ]
        if let gateway {
            try await manager.tokens.load()
            tokens.refresh()
            manager.tokens.onRevocation { gateway.revoke(tokenID: $0) }
            let service = GatewayService(gateway: gateway, listeners: settings.listen, logger: logger) {
                manager.endWaits()
            }
            listening.append(("listeners", service))
        }
        let watchdog = Watchdog(environment: instance.environment)
        let first: [NamedService] = [("manager", ManagerService(manager: manager, shutdown: shutdown))]
        let others: [NamedService] = [
            ("watchdog", WatchdogService(watchdog: watchdog, manager: manager)),
            ("reload", ReloadService(configuration: configuration, notifier: notifier)),
            ("status", StatusService(manager: manager, notifier: notifier)),
            ("memory", MemoryService(manager: manager, memory: memory)),
        ]
        let group = ServiceGroup(first + listening + others, logger: logger)
        shutdown.onRequest { await group.triggerGracefulShutdown() }
        let check = Task {
            guard await manager.findsDamageAfterUncleanStop() else { return false }
            await group.triggerGracefulShutdown()
            return true
        }
        try await group.run()
        check.cancel()
        return await check.value ? .needsAttention : .success
    }

    /// Takes the lock for which clients wait while the daemon starts. Returns nil if the file cannot be created. Then
    /// the socket cannot be created either, and its error states the reason.
    private static func lockSocket(_ path: String) throws(RPCServerError) -> SocketLock? {
        do throws(SystemCallError) {
            guard let lock = try SocketLock.acquire(forSocket: path) else {
                throw SystemCallError("fcntl", code: EAGAIN)
            }
            return lock
        } catch {
            if error.code == EAGAIN { throw RPCServerError.alreadyListening(path: path) }
            return nil
        }
    }

    private static func makeLog(_ instance: Instance) -> ServiceLog {
        let settings = instance.loaded.settings.log
        let format = instance.options.logsToForeground ? .text : settings.format
        return ServiceLog(level: settings.level, format: format.resolved(environment: instance.environment))
    }

    /// Reports errors before there is a log, and for commands that only print. Each line names the program.
    package static func complain(_ message: String, of program: String = "xferd") {
        let lines = message.split(separator: "\n", omittingEmptySubsequences: false)
        let line = Array(lines.map { "\(program): \($0)\n" }.joined().utf8)
        _ = line.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}

/// The command-line options of `xferd`.
public struct DaemonOptions: Hashable, Sendable {
    public var paths: InstancePaths.Flags
    /// Settings by key path, from `--set queue.max_active=3`.
    public var settings: [String: String]
    /// True for text with timestamps on standard error, regardless of the configuration.
    public var logsToForeground: Bool
    /// The text of the program's `--version`, which status, metrics, events and the log report, too.
    public var programVersion: String

    public init(
        paths: InstancePaths.Flags, settings: [String: String] = [:], logsToForeground: Bool = false,
        programVersion: String
    ) {
        self.paths = paths
        self.settings = settings
        self.logsToForeground = logsToForeground
        self.programVersion = programVersion
    }
}

/// Exit codes of `xferd`.
public enum DaemonExit: Int32, Sendable {
    case success = 0
    /// An external failure; another start may succeed.
    case failure = 1
    /// `--check-config` found a fault, or the command line is wrong.
    case badConfiguration = 2
    /// An operator has to repair the configuration or the database (EX_CONFIG, sysexits.h): the unit does not restart
    /// after it.
    case needsAttention = 78
}

/// The limit on open files and sockets of the process (RLIMIT_NOFILE, getrlimit(2)).
package enum DescriptorLimit {
    /// The limit that the system's unit sets; a daemon started by hand has 1,024 otherwise.
    private static let wanted: rlim_t = 65_536

    /// Raises the limit to `wanted`, as far as the hard limit allows. A higher one stays.
    ///
    /// Clients, connections, partial files and the database's readers all use descriptors.
    package static func raise() {
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0, limit.rlim_cur < wanted else { return }
        limit.rlim_cur = min(wanted, limit.rlim_max)
        _ = setrlimit(resource, &limit)
    }
}
