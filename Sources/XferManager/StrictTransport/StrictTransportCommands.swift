import XferCore
import XferCurl
public import XferModel
import XferStore

/// `hsts.*`: the hosts that have demanded https.
public struct StrictTransportCommands: ManagerPart, Sendable {
    let context: ManagerContext
    let recorder: SecureHostRecorder

    private var memory: StrictTransport { services.engine.strictTransport }

    /// Reads the hosts from the database, and stores changes from then on.
    func begin() async throws {
        let hosts = try await store.read { try $0.secureHosts.list(limit: SecureHostList.maxCount) }
        memory.setMode(settings.strictTransport)
        memory.begin(with: hosts) { [recorder] in recorder.record($0) }
    }

    /// The mode in force, and the known hosts by name.
    public func list() -> (mode: StrictTransportMode, hosts: [SecureHost]) {
        let now = clock()
        return (settings.strictTransport, memory.hosts.filter { $0.expiresAt > now })
    }

    /// Removes hosts, or all if `hosts` is nil. Returns the names of those that were known, and the others as given.
    ///
    /// The rows are deleted in the order of all other changes: a host that demands https again meanwhile stays known.
    public func clear(_ hosts: [String]?) async throws -> (removed: [String], missing: [String]) {
        try await translatingStoreErrors {
            var named = hosts
            // A host may be stored that memory had no room for.
            if named == nil { named = try await store.read { try $0.secureHosts.list(limit: .max) }.map(\.host) }
            let forgotten = memory.remove(named ?? [])
            try await recorder.flush()
            let known = Set(forgotten)
            let missing = (hosts ?? []).filter { host in
                !(SecureHostList.name(ofHost: host).map { known.contains($0) } ?? false)
            }
            return (forgotten, missing)
        }
    }
}
