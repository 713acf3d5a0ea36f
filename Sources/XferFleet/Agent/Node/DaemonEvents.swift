import NIOConcurrencyHelpers
import XferClient

/// The connection that xferd sends its events on. While it lasts, xferd runs and has the same database.
final class DaemonEvents: NodePart, Sendable {
    let context: NodeContext
    private let state = NIOLockedValueBox(State())

    private struct State {
        var isConnected = false
        /// True if events have arrived, or may have been missed, that no round has read.
        var isPending = true
    }

    init(_ context: NodeContext) { self.context = context }

    var isConnected: Bool { state.withLockedValue { $0.isConnected } }

    /// Returns true if there may be events that were not read, and counts them as read.
    func takePending() -> Bool {
        state.withLockedValue { state in
            defer { state.isPending = false }
            return state.isPending
        }
    }

    /// Wakes the agent when tasks end, so that free slots are filled at once. Runs until the Swift task is cancelled.
    func listen() async {
        while !Task.isCancelled {
            do {
                let events = try await daemon.client.events(types: LocalDaemon.endings)
                note(isConnected: true)
                for try await _ in events { note(isConnected: true) }
            } catch {}
            note(isConnected: false)
            try? await Task.sleep(for: configuration.interval)
        }
    }

    private func note(isConnected: Bool) {
        state.withLockedValue { $0 = State(isConnected: isConnected, isPending: true) }
        wakeSignal.ring()
    }
}
