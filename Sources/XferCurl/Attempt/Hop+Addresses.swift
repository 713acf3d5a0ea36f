import CCurl
import NIOConcurrencyHelpers
import XferCore
import XferModel

/// The addresses that a hop's request has tried, and those that it avoids; see `AddressMemory`.
///
/// Invariant: `avoided` is empty for a request whose address is not resolved from a name.
struct HopAddresses {
    /// The name of the host, or of the proxy, in `AddressMemory`; nil if it is an address itself.
    var name: String?
    var avoided: Set<IPAddress> = []
    /// The addresses in the order in which libcurl tried them.
    private(set) var opened: [IPAddress] = []
    private(set) var hasAvoided = false
    /// The address of the connection.
    var connected: IPAddress?

    /// Returns true if earlier attempts do not exclude a connection to the address.
    mutating func admits(_ address: IPAddress) -> Bool {
        if avoided.contains(address) {
            hasAvoided = true
            return false
        }
        opened.append(address)
        return true
    }

    /// The addresses that failed before libcurl used the connected one: it tries the addresses of one family one after
    /// the other.
    var passedOver: [IPAddress] {
        guard let connected else { return [] }
        return opened.prefix { $0 != connected }.filter { $0.isIPv6 == connected.isIPv6 }
    }

    /// The addresses from which no data arrived.
    var failed: [IPAddress] { connected.map { [$0] } ?? opened }

    /// The addresses for an error's message.
    var description: String? {
        guard name != nil, !failed.isEmpty else { return nil }
        return failed.prefix(8).map(\.description).joined(separator: ", ")
    }
}

/// The addresses of a name that a request may use.
enum AddressChoice {
    /// The addresses that are not avoided.
    case preferred
    /// The avoided address that failed longest ago is also used, because the name has no other.
    case lastResort
    case any
}

extension Hop {
    /// Decides which addresses the request leaves out.
    func chooseAddresses(_ spec: SessionSpec) {
        guard let name = Self.resolvedName(of: url, spec) else { return }
        link.addresses.name = name
        let now = run.core.now
        run.core.shared.addresses.withLockedValue { memory in
            guard !memory.isEmpty, request.addresses != .any else { return }
            link.addresses.avoided = memory.avoided(of: name, now: now)
            if request.addresses == .lastResort, let last = memory.lastResort(of: name, now: now) {
                link.addresses.avoided.remove(last)
            }
        }
    }

    /// The name whose addresses libcurl connects to; nil if an address is given.
    private static func resolvedName(of url: HTTPURL, _ spec: SessionSpec) -> String? {
        if spec.key.connections.unixSocket != nil { return nil }
        guard let proxy = spec.key.proxy else { return IPAddress(host: url.host) == nil ? url.hostKey : nil }
        guard let parsed = try? CurlURL.parse(proxy).url else { return proxy }
        return IPAddress(host: parsed.host) == nil ? proxy : nil
    }

    /// True if every connection of the request was refused because the addresses are avoided. Then nothing was sent,
    /// and the same request may use them.
    func needsAvoidedAddresses(after code: CURLcode) -> Bool {
        guard code == CURLE_COULDNT_CONNECT, link.addresses.hasAvoided, request.addresses != .any, refusal == nil,
            case .requesting = stage
        else { return false }
        recordFailure()
        return true
    }

    /// True if the request should leave a kept connection, because its address does not answer and another address
    /// does.
    func leavesAddress(_ route: SocketRoute) -> Bool {
        link.addresses.connected = route.remote.flatMap { IPAddress(String(cString: $0)) }
        guard let name = link.addresses.name, let address = link.addresses.connected, let handle else { return false }
        let (now, memory) = (run.core.now, run.core.shared.addresses)
        guard handle.hasNewConnection else {
            return !request.needsNewConnection
                && memory.withLockedValue { $0.shouldLeave(address, of: name, now: now) }
        }
        let passedOver = link.addresses.passedOver
        if !passedOver.isEmpty { memory.withLockedValue { $0.recordFailure(of: passedOver, of: name, now: now) } }
        return false
    }

    /// Records that a final response arrived from the connected address.
    func recordAnsweringAddress() {
        guard let name = link.addresses.name, let address = link.addresses.connected else { return }
        let now = run.core.now
        run.core.shared.addresses.withLockedValue { memory in
            if !memory.isEmpty { memory.recordAnswer(of: address, of: name, now: now) }
        }
    }

    /// Records the attempt's failure. If its server sent nothing, or stopped sending, the next attempt prefers another
    /// address.
    func recordFailure(_ error: TransferError) {
        switch error.reason {
        case .connectFailed, .connectTimeout, .connectionLost, .totalTimeout:
            if !link.hasReceived { recordFailure() }
        case .idleTimeout, .tooSlow:
            recordFailure()
        default: break
        }
    }

    private func recordFailure() {
        guard let name = link.addresses.name else { return }
        let (now, failed) = (run.core.now, link.addresses.failed)
        run.core.shared.addresses.withLockedValue { $0.recordFailure(of: failed, of: name, now: now) }
    }

    /// The error with the address from which no data arrived, so that the reason of the wait shows it.
    func namingAddress(_ error: TransferError) -> TransferError {
        guard let text = link.addresses.description else { return error }
        switch error.reason {
        case .connectFailed, .connectTimeout, .connectionLost, .idleTimeout, .totalTimeout, .tooSlow:
            var named = error
            named.message += " (address \(text))"
            return named
        default: return error
        }
    }
}
