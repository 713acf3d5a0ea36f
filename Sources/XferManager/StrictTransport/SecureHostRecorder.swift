import Logging
import NIOConcurrencyHelpers
import XferCore
import XferModel
import XferStore

/// Keeps the hosts that have demanded https in the database. Changes during a write are written together afterwards; a
/// crash loses the last changes until the host repeats its demand.
final class SecureHostRecorder: Sendable {
    private struct State {
        /// The rows to write, by host; nil removes the row.
        var pending: [String: SecureHost?] = [:]
        var writing: Task<Void, any Error>?
    }

    private let store: TaskStore
    private let logger: Logger
    private let state = NIOLockedValueBox(State())

    init(store: TaskStore, logger: Logger) {
        self.store = store
        self.logger = logger
    }

    /// Does not block.
    func record(_ change: SecureHostList.Change) {
        state.withLockedValue { state in
            for host in change.forgotten { state.pending.updateValue(nil, forKey: host) }
            if let known = change.known { state.pending.updateValue(known, forKey: known.host) }
            if state.writing == nil { state.writing = Task { try await write() } }
        }
    }

    /// Returns when everything that was recorded before is in the database. What could not be written earlier is
    /// retried.
    func flush() async throws {
        let writing = state.withLockedValue { state in
            if state.writing == nil, !state.pending.isEmpty { state.writing = Task { try await write() } }
            return state.writing
        }
        try await writing?.value
    }

    private func write() async throws {
        while true {
            let pending = state.withLockedValue { state in
                defer { state.pending = [:] }
                if state.pending.isEmpty { state.writing = nil }
                return state.pending
            }
            guard !pending.isEmpty else { return }
            do {
                try await store.write { tx in
                    for (name, host) in pending {
                        if let host { try tx.secureHosts.set(host) } else { try tx.secureHosts.remove(name) }
                    }
                }
            } catch {
                logger.report("hosts that demand https could not be recorded; the next change tries again", error)
                state.withLockedValue { state in
                    state.pending.merge(pending) { newer, _ in newer }
                    state.writing = nil
                }
                throw error
            }
        }
    }
}
