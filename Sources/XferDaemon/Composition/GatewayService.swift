import Glibc
package import JSONRPC
package import Logging
import Metrics
import ServiceLifecycle
package import XferGateway
import XferManager
import XferModel

/// Listens on the network if the configuration requires it.
package struct GatewayService: Service {
    private let gateway: Gateway
    private let listeners: [Settings.Listener]
    private let logger: Logger
    /// Called when the service stops, while calls in progress are still answered.
    private let onStopping: @Sendable () -> Void

    package init(
        gateway: Gateway, listeners: [Settings.Listener], logger: Logger,
        onStopping: @escaping @Sendable () -> Void = {}
    ) {
        self.onStopping = onStopping
        self.gateway = gateway
        self.listeners = listeners
        self.logger = logger
    }

    /// The time that running calls have to end when the service stops.
    private static let grace = Duration.milliseconds(300)

    package func run() async throws {
        do {
            for listener in listeners {
                guard let configuration = listener.configuration else { continue }
                let address = try await gateway.start(configuration)
                logger.notice("listening on the network", metadata: ["address": "\(address)"])
                guard configuration.tls == nil, !address.isLoopback else { continue }
                logger.warning(
                    "listening without TLS: tokens and answers can be read and changed on the way",
                    metadata: ["address": "\(address)"])
            }
        } catch {
            await gateway.shutdown(grace: .zero)
            throw error
        }
        try? await gracefulShutdown()
        onStopping()
        await gateway.shutdown(grace: Self.grace)
    }
}

extension Gateway {
    /// The gateway with the limits of the settings.
    package convenience init(
        _ service: DaemonService, _ routes: [HTTPRoute], _ tokens: RemoteTokens, _ settings: Settings,
        turns: RequestTurns, storeID: String, _ logger: Logger
    ) {
        var limits = RPCLimits(settings)
        limits.clients = settings.gateway.maxClients
        let counters = Dictionary(
            uniqueKeysWithValues: GatewayRefusal.allCases.map { why in
                (why, Metric.gatewayRefusals.counter(why.rawValue, factory: MetricsSystem.factory))
            })
        let aria2 = Aria2Configuration(storeID: storeID, showsAll: settings.gateway.aria2 == .all)
        self.init(
            service: service, routes: routes, tokens: tokens, limits: limits, turns: turns, aria2: aria2, logger: logger
        ) {
            counters[$0]?.increment()
        }
    }
}

/// The listeners' own addresses, which tasks must not call: a task could otherwise reach the service through itself.
enum OwnListeners {
    /// The addresses of the listeners, for `AdmissionLists.ownListeners`.
    static func addresses(_ listeners: [Settings.Listener]) -> [ListenerAddresses] {
        listeners.compactMap { ListenAddress($0.address) }.flatMap { address in
            let hosts = address.isWildcard ? machineAddresses : [address.host]
            return hosts.compactMap { host in
                AddressBlock(host).map { ListenerAddresses($0, port: UInt16(clamping: address.port)) }
            }
        }
    }

    /// The addresses of this machine's interfaces (getifaddrs(3)), and loopback: a listener on a wildcard address is
    /// reached at every address of 127.0.0.0/8.
    private static var machineAddresses: [String] {
        var found: Set<String> = ["127.0.0.0/8", "::1"]
        var first: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&first) == 0 else { return found.sorted() }
        defer { freeifaddrs(first) }
        var entry = first
        while let current = entry {
            if let text = text(of: current.pointee.ifa_addr) { found.insert(text) }
            entry = current.pointee.ifa_next
        }
        return found.sorted()
    }

    /// An address in numbers, without a zone; nil for other families.
    private static func text(of address: UnsafeMutablePointer<sockaddr>?) -> String? {
        guard let address else { return nil }
        let length: Int
        switch Int32(clamping: address.pointee.sa_family) {
        case AF_INET: length = MemoryLayout<sockaddr_in>.size
        case AF_INET6: length = MemoryLayout<sockaddr_in6>.size
        default: return nil
        }
        var host = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        guard
            getnameinfo(
                address, socklen_t(clamping: length), &host, socklen_t(clamping: host.count), nil, 0, NI_NUMERICHOST)
                == 0
        else { return nil }
        let bytes = host.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        return String(decoding: bytes, as: UTF8.self).split(separator: "%").first.map(String.init)
    }
}
