import NIOConcurrencyHelpers

/// Notifies all agents of work: at once, and again after a pause if there were further calls.
final class Announcer: Sendable {
    private let database: FleetDatabase
    private let pause: Duration
    private let state = NIOLockedValueBox(State())

    private struct State {
        var isUnderWay = false
        var last: ContinuousClock.Instant?
    }

    init(_ database: FleetDatabase, pause: Duration) {
        (self.database, self.pause) = (database, pause)
    }

    /// Announces a commit; call it after the commit. If an announcement fails, the agents' beats replace it.
    func announce() {
        let due: ContinuousClock.Instant? = state.withLockedValue { state in
            guard !state.isUnderWay else { return nil }
            state.isUnderWay = true
            return state.last.map { max(.now, $0.advanced(by: pause)) } ?? .now
        }
        guard let due else { return }
        Task {
            if due > .now { try? await Task.sleep(until: due) }
            state.withLockedValue { $0 = State(isUnderWay: false, last: .now) }
            try? await database.nodes.announce()
        }
    }
}
