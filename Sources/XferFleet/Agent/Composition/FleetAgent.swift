import Glibc
import JSONRPC
import Logging
import NIOConcurrencyHelpers
import ServiceLifecycle
import UnixSignals
public import XferDaemon
import XferGateway
import XferManager
import XferModel
import XferProtocol
import XferSystem

/// The composition root of `xfer-fleet`: all parts are made and connected here, once.
public enum FleetAgent {
    static let program = "xfer-fleet"

    /// Runs the agent until it is stopped. Call it from the main thread of a program that runs nothing asynchronous
    /// itself.
    public static func run(_ options: DaemonOptions) -> DaemonExit {
        MemoryCare.keepHeapSmall()
        DescriptorLimit.raise()
        return asynchronously { await service(options) }
    }

    /// Creates the fleet's tables, or migrates them to this program's schema.
    public static func migrate(_ options: DaemonOptions) -> DaemonExit {
        asynchronously {
            do {
                let configuration = try AgentConfiguration(options)
                let (from, to) = try await FleetDatabase.migrate(configuration.database)
                try StandardOutput.write(
                    from == to
                        ? "the fleet's database has schema \(to) already\n"
                        : "the fleet's database was migrated from schema \(from) to \(to)\n")
                return .success
            } catch {
                Daemon.complain("\(error)", of: program)
                return error is SettingsRejection ? .badConfiguration : .failure
            }
        }
    }

    /// Checks the configuration; prints its faults with line and column.
    public static func checkConfiguration(_ options: DaemonOptions) -> DaemonExit {
        do {
            let configuration = try AgentConfiguration(options)
            let instance = configuration.instance
            for warning in instance.loaded.warnings + instance.missing.map(\.description) {
                Daemon.complain("warning: \(warning)", of: program)
            }
            try StandardOutput.write("\(instance.paths.configurationFile): the configuration is valid\n")
            return .success
        } catch let error as StandardOutputError {
            error.report()
            return .failure
        } catch {
            Daemon.complain("\(error)", of: program)
            return .badConfiguration
        }
    }

    private static func asynchronously(_ body: @escaping @Sendable () async -> DaemonExit) -> DaemonExit {
        do {
            return try ServiceExecutors.run(body) ?? .failure
        } catch {
            Daemon.complain("\(error)", of: program)
            return .failure
        }
    }

    private static func service(_ options: DaemonOptions) async -> DaemonExit {
        let configuration: AgentConfiguration
        do {
            configuration = try AgentConfiguration(options)
        } catch {
            Daemon.complain("\(error)", of: program)
            return .needsAttention
        }
        let format = options.logsToForeground ? .text : configuration.settings.log.format
        let log = ServiceLog(
            level: configuration.settings.log.level,
            format: format.resolved(environment: configuration.instance.environment))
        log.bootstrap()
        let logger = Logger(label: program)
        signal(SIGPIPE, SIG_IGN)
        for warning in configuration.instance.loaded.warnings { logger.warning("\(warning)") }
        do {
            try await serve(configuration, logger)
            return .success
        } catch {
            logger.critical("\(error)")
            return (error as? FleetError).map(needsAttention) == true ? .needsAttention : .failure
        }
    }

    private static func serve(_ configuration: AgentConfiguration, _ logger: Logger) async throws {
        let socket = configuration.fleet.socket
        guard let lock = try SocketLock.acquire(forSocket: socket) else {
            throw RPCServerError.alreadyListening(path: socket)
        }
        defer { lock.release() }
        let notifier = ServiceNotifier(environment: configuration.instance.environment)
        guard let database = try await open(configuration, notifier, logger) else { return }
        let changes = WakeSignals()
        let tokens = FleetTokens(database)
        let listeners = configuration.fleet.listen
        let daemon = LocalDaemon(socket: configuration.fleet.daemon, timeout: AgentConfiguration.daemonTimeout)
        let context = NodeContext(
            configuration, database: database, daemon: daemon, changes: changes, logger: logger)
        let node = NodeAgent(context, tokens: listeners.isEmpty ? nil : tokens)
        let face = FleetFace(
            configuration: configuration, database: database, daemon: daemon, changes: changes, tokens: tokens,
            storages: context.storages, nodeStatus: { context.nodeStatus.withLockedValue { $0 } },
            ring: {
                context.wakeSignal.ring()
                context.announcer.announce()
            })
        let (access, warnings) = AccessPolicy.load(configuration.settings, ownUID: geteuid())
        for warning in warnings { logger.warning("\(warning)") }
        let service = DaemonService(
            handlers: face.handlers, access: access, memory: MemoryCare(), required: MethodRegistry.documented)
        let routes = routes(face, service, context)
        let limits = RPCLimits(configuration.settings)
        let turns = RequestTurns(limits)
        let server = RPCServer(service: service, routes: routes, limits: limits, turns: turns)
        let endpoint = RPCEndpoint(path: socket, settings: configuration.settings)
        var services: [NamedService] = [
            ("socket", SocketService(server: server, endpoints: [endpoint], notifier: notifier, logger: logger))
        ]
        var gateway: Gateway?
        if !listeners.isEmpty {
            try await tokens.refresh()
            let made = Gateway(
                service, routes, tokens.remote, configuration.settings, turns: turns,
                storeID: try await database.nodes.fleetID(), logger)
            tokens.registry.onRevocation { made.revoke(tokenID: $0) }
            services.append(("listeners", GatewayService(gateway: made, listeners: listeners, logger: logger)))
            gateway = made
        }
        services += [
            ("node", NodeService(node: node)),
            ("certificates", CertificateService(gateway: gateway, tokens: tokens)),
            ("watchdog", AliveService(watchdog: Watchdog(environment: configuration.instance.environment))),
        ]
        let group = ServiceGroup(services, logger: logger)
        do {
            try await group.run()
        } catch {
            database.close()
            throw error
        }
        database.close()
    }

    private static func routes(_ face: FleetFace, _ service: DaemonService, _ node: NodeContext) -> [HTTPRoute] {
        let metrics = FleetMetrics(face: face)
        return [
            HTTPRoute("/openrpc.json") { _, _ in
                HTTPAnswer(contentType: "application/json", body: .bytes(Array(OpenRPCDocument.text.utf8)))
            },
            HTTPRoute("/metrics") { _, _ in
                HTTPAnswer(
                    contentType: "text/plain; version=0.0.4; charset=utf-8",
                    body: .bytes(Array(await metrics.text().utf8)))
            },
            EventStreamRoute { params, connection in
                try await face.stream(params, on: connection, for: service.caller(connection))
            }.route,
            HTTPRoute("/healthz") { _, _ in
                let nodeStatus = node.nodeStatus.withLockedValue { $0 }
                return (nodeStatus.databaseProblem ?? nodeStatus.daemonProblem).map {
                    .text("degraded: \($0)\n", status: 503)
                }
                    ?? .text("ok\n")
            },
        ]
    }

    // MARK: The database at the start

    /// Connects, and waits for a database that cannot be reached. Returns nil if the agent was stopped meanwhile.
    ///
    /// - Throws: errors that an operator has to repair.
    private static func open(
        _ configuration: AgentConfiguration, _ notifier: ServiceNotifier, _ logger: Logger
    ) async throws -> FleetDatabase? {
        let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
        let wakeSignal = WakeSignal()
        let isStopped = NIOLockedValueBox(false)
        let listener = Task {
            for await _ in signals {
                isStopped.withLockedValue { $0 = true }
                wakeSignal.ring()
            }
        }
        defer { listener.cancel() }
        var last = ""
        while !isStopped.withLockedValue({ $0 }) {
            do {
                let (database, warnings) = try await FleetDatabase.open(configuration.database)
                for warning in warnings { logger.warning("\(warning)") }
                return database
            } catch {
                if needsAttention(error) { throw error }
                let problem = "\(error)"
                if problem != last { logger.warning("waiting for the fleet's database: \(problem)") }
                last = problem
                notifier.send(.status("waiting for the fleet's database: \(problem)"), .extendTimeout(by: .seconds(60)))
            }
            await wakeSignal.wait(atMost: max(configuration.interval * 2, .milliseconds(100)))
        }
        return nil
    }

    /// True if a restart without a repair would fail again.
    private static func needsAttention(_ error: FleetError) -> Bool {
        switch error {
        case .unsuitable, .newerSchema, .olderSchema, .notMigrated, .superseded, .nodeNameTaken: true
        case .database(let error): error.kind == .settings
        default: false
        }
    }
}

/// Works for the fleet until everything else has stopped.
struct NodeService: Service {
    let node: NodeAgent

    func run() async throws { try await cancelWhenGracefulShutdown { try await node.run() } }
}

/// Reads the listeners' certificates and the groups of the tokens' users again on SIGHUP.
struct CertificateService: Service {
    let gateway: Gateway?
    let tokens: FleetTokens

    func run() async throws {
        let signals = await UnixSignalsSequence(trapping: .sighup)
        await cancelWhenGracefulShutdown {
            for await _ in signals {
                gateway?.reloadCertificates()
                tokens.remote.refresh()
            }
        }
    }
}

/// Notifies the service manager's watchdog while Swift tasks run.
struct AliveService: Service {
    let watchdog: Watchdog?

    func run() async throws {
        guard let watchdog else {
            try? await gracefulShutdown()
            return
        }
        await cancelWhenGracefulShutdown { await watchdog.run { true } }
    }
}
