import NIOConcurrencyHelpers
public import XferCore
public import XferModel

/// The hosts that have demanded https, for all attempts of an engine. They are in memory; `onChange` is notified of
/// changes, so that they can be stored.
public final class StrictTransport: Sendable {
    private struct State {
        var hosts = SecureHostList()
        var mode = StrictTransportMode.upgrade
        var onChange: (@Sendable (SecureHostList.Change) -> Void)?
    }

    private let clock: @Sendable () -> Timestamp
    private let state = NIOLockedValueBox(State())

    public init(clock: @escaping @Sendable () -> Timestamp) { self.clock = clock }

    public func setMode(_ mode: StrictTransportMode) { state.withLockedValue { $0.mode = mode } }

    /// Begins with these hosts. `onChange` is called for changes that have to be stored, on an engine's loop and under
    /// the lock: it must not block, nor call this object.
    public func begin(
        with hosts: [SecureHost], onChange: @escaping @Sendable (SecureHostList.Change) -> Void
    ) {
        state.withLockedValue { state in
            state.hosts = SecureHostList(hosts)
            state.onChange = onChange
        }
    }

    /// All known hosts by name.
    public var hosts: [SecureHost] { state.withLockedValue(\.hosts.all) }

    /// Removes hosts, and notifies `onChange` of all of them, even unknown ones, because they may be stored. Returns
    /// the names of those that were known.
    public func remove(_ hosts: [String]) -> [String] {
        state.withLockedValue { state in
            let known = state.hosts.remove(hosts)
            let forgotten = Set(known).union(hosts)
            if !forgotten.isEmpty { state.onChange?(SecureHostList.Change(forgotten: forgotten.sorted())) }
            return known
        }
    }

    /// The URL to request in place of an `http` URL; nil if the URL is requested unchanged.
    ///
    /// - Throws: `rejectedByPolicy` if the configuration refuses such URLs.
    func secured(_ url: HTTPURL) throws(TransferError) -> HTTPURL? {
        guard url.scheme == .http else { return nil }
        let now = clock()
        let (secured, mode) = state.withLockedValue { state -> (HTTPURL?, StrictTransportMode) in
            (state.mode == .off ? nil : state.hosts.secured(url, at: now), state.mode)
        }
        guard let secured else { return nil }
        if mode == .deny {
            throw TransferError(
                .rejectedByPolicy,
                "\(url.hostKey) has demanded https (HSTS), and trust.hsts is deny: use an https URL, or remove the host "
                    + "with `xferctl hsts clear`",
                host: url.hostKey)
        }
        return secured
    }

    /// Applies the first `Strict-Transport-Security` field of a response over a TLS connection without faults.
    func apply(_ field: String, of host: String) {
        guard let field = StrictTransportField(field) else { return }
        let now = clock()
        state.withLockedValue { state in
            guard state.mode != .off, let change = state.hosts.apply(field, of: host, at: now), change.isEssential
            else { return }
            // Under the lock, so that changes are recorded in the order in which they are made.
            state.onChange?(change)
        }
    }
}
