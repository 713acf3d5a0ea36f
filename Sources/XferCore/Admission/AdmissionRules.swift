public import XferModel

/// Decides whether a URL may be loaded.
///
/// It is judged by name and literal address when a task is added and before every hop, and by the address of every
/// connection. The first of these rules that applies decides:
///
/// 1. A host that matches a denied pattern is refused.
/// 2. An address in a denied block is refused; so are an address that a denied pattern contains and a listener of the
///    daemon.
/// 3. If hosts are allowed by name, every other host is refused.
///
/// A denied host or address stays denied even if it is allowed, too. If an IPv6 address embeds an IPv4 address
/// (`IPAddress.embeddedIPv4`), the latter is judged, too. For the unspecified address the loopback address is judged,
/// too, since Linux connects to it then. An allowed IPv4 address allows only those forms that are certainly equivalent.
public struct AdmissionRules: Sendable, Hashable {
    public let lists: AdmissionLists

    /// Creates the rules. Without lists every URL is admitted.
    public init(_ lists: AdmissionLists = AdmissionLists()) { self.lists = lists }

    /// The reason why the host must not be contacted, judged by its name or its literal address; nil if it may be
    /// contacted.
    ///
    /// - Parameter host: as in `HTTPURL.host`.
    public func refusal(ofHost host: String, port: UInt16) -> AdmissionRefusal? {
        let name = ServerName(host: host)
        switch name {
        case .address(let address):
            if let refusal = refusal(ofAddress: address, port: port) { return refusal }
        case .domain:
            if let pattern = lists.deniedHosts.first(where: { $0.matches(name, port: port) }) {
                return AdmissionRefusal(subject: name.description, cause: .deniedHost(pattern))
            }
        }
        if lists.allowedHosts.isEmpty || allows(name, port) { return nil }
        return AdmissionRefusal(subject: name.description, cause: .notAllowed)
    }

    /// The reason why no connection to the address may be made, regardless of the name that resolved to it; nil if a
    /// connection may be made.
    public func refusal(ofAddress address: IPAddress, port: UInt16) -> AdmissionRefusal? {
        for meant in address.meanings(translatedBy: lists.translationPrefixes) {
            if let pattern = lists.deniedHosts.first(where: { $0.matches(.address(meant), port: port) }) {
                return AdmissionRefusal(subject: address.description, cause: .deniedHost(pattern))
            }
            if let block = lists.deniedAddresses.first(where: { $0.contains(meant) }) {
                return AdmissionRefusal(subject: address.description, cause: .deniedAddress(block))
            }
            if lists.ownListeners.contains(where: { $0.contains(meant, port: port) }) {
                return AdmissionRefusal(subject: address.description, cause: .ownListener(port: port))
            }
        }
        return nil
    }

    private func allows(_ name: ServerName, _ port: UInt16) -> Bool {
        guard case .address(let address) = name else {
            return lists.allowedHosts.contains { $0.matches(name, port: port) }
        }
        let meanings = address.certainMeanings(translatedBy: lists.translationPrefixes)
        return lists.allowedHosts.contains { pattern in
            meanings.contains { pattern.matches(.address($0), port: port) }
        }
    }

    /// Hashes a part only. Equality compares everything; there are few pools.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(lists.deniedHosts.count)
        hasher.combine(lists.deniedAddresses.count)
        hasher.combine(lists.allowedHosts.count)
    }
}

/// The reason why something must not be loaded.
public struct AdmissionRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    public enum Cause: Hashable, Sendable {
        case deniedHost(HostPattern)
        case deniedAddress(AddressBlock)
        case ownListener(port: UInt16)
        case notAllowed
    }

    /// The host or address that was judged.
    public let subject: String
    public let cause: Cause

    public var description: String {
        switch cause {
        case .deniedHost(let pattern): "\(subject) is denied: it matches \(pattern) of network.deny_hosts"
        case .deniedAddress(let block): "\(subject) is denied: it is in \(block) of network.deny_addresses"
        case .ownListener(let port):
            "\(subject) is denied: tasks must not call the daemon's own listener, which is at port \(port)"
        case .notAllowed: "\(subject) is not among the hosts that network.allow_hosts allows"
        }
    }
}

extension TransferError {
    /// Creates the error with which a running task fails. `host` is the hop's.
    public init(_ refusal: AdmissionRefusal, host: String) {
        let led = refusal.subject == host || host.hasPrefix("\(refusal.subject):") ? "" : "\(host): "
        self.init(.rejectedByPolicy, led + refusal.description, host: host)
    }
}

extension IPAddress {
    /// The address, and all addresses that a connection to it may reach.
    fileprivate func meanings(translatedBy prefixes: [TranslationPrefix]) -> [IPAddress] {
        let found = [self] + embeddedIPv4(translatedBy: prefixes)
        return found + found.compactMap(\.loopbackMeant)
    }
}
