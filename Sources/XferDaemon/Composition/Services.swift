import Glibc
package import JSONRPC
package import Logging
import NIOConcurrencyHelpers
package import ServiceLifecycle
import UnixSignals
import XferManager
import XferModel

// The parts of the running service, in the order in which they start; they stop in the reverse order.

/// A part of the running service, with its name in the log. Without one the library prints everything that the part
/// refers to, at each start.
package typealias NamedService = (name: String, service: any Service)

extension ServiceGroup {
    /// Creates a group that ends with SIGTERM and SIGINT.
    package init(_ services: [NamedService], logger: Logger) {
        let configurations = services.map {
            ServiceGroupConfiguration.ServiceConfiguration(service: $0.service, serviceName: $0.name)
        }
        self.init(
            configuration: ServiceGroupConfiguration(
                services: configurations, gracefulShutdownSignals: [.sigterm, .sigint], logger: logger))
    }
}

/// Keeps the manager running until everything else has stopped, then checkpoints and closes it.
struct ManagerService: Service {
    let manager: TransferManager
    let shutdown: ShutdownRequest

    func run() async throws {
        try? await gracefulShutdown()
        await manager.shutdown(shutdown.mode)
    }
}

/// The service that answers on the sockets.
package struct SocketService: Service {
    let server: RPCServer
    let endpoints: [RPCEndpoint]
    let notifier: ServiceNotifier
    let logger: Logger
    /// Called when the service stops, while calls in progress are still answered.
    let onStopping: @Sendable () -> Void

    package init(
        server: RPCServer, endpoints: [RPCEndpoint], notifier: ServiceNotifier, logger: Logger,
        onStopping: @escaping @Sendable () -> Void = {}
    ) {
        self.onStopping = onStopping
        self.server = server
        self.endpoints = endpoints
        self.notifier = notifier
        self.logger = logger
    }

    /// The time that running calls have to end when the service stops.
    private static let grace = Duration.milliseconds(300)

    package func run() async throws {
        do {
            for endpoint in endpoints { try await server.start(on: endpoint) }
        } catch {
            await server.shutdown(grace: .zero)
            throw error
        }
        notifier.send(.ready, .status("ready"), .mainProcess(getpid()))
        logger.notice("ready", metadata: ["socket": "\(endpoints.map(\.description).joined(separator: ", "))"])
        try? await gracefulShutdown()
        notifier.send(.stopping, .status("stopping"))
        onStopping()
        await server.shutdown(grace: Self.grace)
    }
}

/// Notifies the service manager's watchdog while the manager and the database respond.
struct WatchdogService: Service {
    let watchdog: Watchdog?
    let manager: TransferManager

    func run() async throws {
        guard let watchdog else {
            try? await gracefulShutdown()
            return
        }
        await cancelWhenGracefulShutdown {
            await watchdog.run { await manager.isAlive() }
        }
    }
}

/// Reads the configuration again on SIGHUP and when its file, or a file of pins or authorities in it, changes. While
/// the configuration is rejected, a change of any file that it names counts.
struct ReloadService: Service {
    let configuration: LiveConfiguration
    let notifier: ServiceNotifier

    func run() async throws {
        let signals = await UnixSignalsSequence(trapping: .sighup)
        let (changes, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let isRequested = NIOLockedValueBox(false)
        let forward = Task {
            for await _ in signals {
                isRequested.withLockedValue { $0 = true }
                continuation.yield()
            }
        }
        await cancelWhenGracefulShutdown {
            var watch = WatchedFiles([configuration.path]) { continuation.yield() }
            var namedWatch = WatchedFiles(configuration.namedFiles) { continuation.yield() }
            // It may have been written between its reading and the watch.
            if configuration.isOutdated { continuation.yield() }
            for await _ in changes {
                // Before the file is read: what is written meanwhile is noticed. Always, because a directory may have
                // been made, removed or replaced.
                watch = WatchedFiles([configuration.path]) { continuation.yield() }
                namedWatch = WatchedFiles(configuration.namedFiles) { continuation.yield() }
                notifier.sendReloading()
                let wasRequested = isRequested.withLockedValue { isRequested in
                    defer { isRequested = false }
                    return isRequested
                }
                await configuration.reload(isRequested: wasRequested)
                if configuration.namedFiles != namedWatch.paths {
                    namedWatch = WatchedFiles(configuration.namedFiles) { continuation.yield() }
                    // A file at fault may have been written before the watch.
                    if configuration.isRepaired { continuation.yield() }
                }
                notifier.send(.ready)
            }
            withExtendedLifetime(watch) {}
        }
        forward.cancel()
    }
}

/// A watch for changes of files. It can be replaced by a watch for other files.
private final class WatchedFiles {
    let paths: Set<String>
    private let watch: ConfigurationWatch?

    /// Files that cannot be watched are skipped.
    init(_ paths: Set<String>, onChange: @escaping @Sendable () -> Void) {
        self.paths = paths
        do {
            watch = try ConfigurationWatch(paths: paths, onChange: onChange)
        } catch {
            watch = nil
        }
    }
}

/// The mode in which the service stops: `suspend` unless an operator requested another one.
final class ShutdownRequest: Sendable {
    private let state = NIOLockedValueBox<(mode: ShutdownMode, stop: (@Sendable () async -> Void)?)>((.suspend, nil))

    var mode: ShutdownMode { state.withLockedValue(\.mode) }

    /// Sets the action that stops the service.
    func onRequest(_ stop: @escaping @Sendable () async -> Void) { state.withLockedValue { $0.stop = stop } }

    /// Does the slow part of the shutdown while clients are still answered, then stops the service.
    func perform(_ mode: ShutdownMode, on manager: TransferManager) async {
        state.withLockedValue { $0.mode = mode }
        await manager.prepareShutdown(mode)
        await state.withLockedValue(\.stop)?()
    }
}

/// Keeps the status line of `systemctl status` up to date: written when activity or the network changes, never on a
/// timer.
struct StatusService: Service {
    let manager: TransferManager
    let notifier: ServiceNotifier

    func run() async throws {
        guard notifier.isEnabled else {
            try? await gracefulShutdown()
            return
        }
        let subscription = manager.hub.subscribe(EventFilter(types: [.activityChanged, .networkChanged, .queueIdle]))
        await cancelWhenGracefulShutdown {
            while await subscription.next() != nil {
                subscription.skip()
                guard let counts = try? await manager.queries.counts() else { continue }
                var parts = [TaskState.running, .queued, .waiting, .paused].compactMap { state in
                    counts[state].flatMap { $0 > 0 ? "\($0) \(state.rawValue)" : nil }
                }
                if parts.isEmpty { parts = ["idle"] }
                let network = manager.network.state
                if network == .offline || network == .metered { parts.append("network \(network.rawValue)") }
                notifier.send(.status(parts.joined(separator: ", ")))
            }
        }
        manager.hub.unsubscribe(subscription)
    }
}

/// Returns unused memory to the system after the start, and whenever the service becomes idle. RPC calls report their
/// own work.
struct MemoryService: Service {
    let manager: TransferManager
    let memory: MemoryCare

    func run() async throws {
        // Memory of the start is not used again; the services that start beside it may free some later.
        memory.giveBack()
        memory.scheduleRelease()
        let subscription = manager.hub.subscribe(EventFilter(types: [.queueIdle]))
        await cancelWhenGracefulShutdown {
            while await subscription.next() != nil {
                subscription.skip()
                memory.scheduleRelease()
            }
        }
        manager.hub.unsubscribe(subscription)
    }
}
