import NIOConcurrencyHelpers
import XferCore
import XferModel
import XferStore
import XferSystem

/// Publishes whether transfers are running, debounced.
final class ActivityReporter: ManagerPart, Sendable {
    let context: ManagerContext
    private let state = NIOLockedValueBox(State())

    private struct State {
        var activity = ActivityDebouncer()
        var timer: Task<Void, Never>?
    }

    init(context: ManagerContext) { self.context = context }

    /// The last published activity.
    var isActive: Bool { state.withLockedValue(\.activity.isActive) }

    /// Applies the new number of running transfers.
    func onRunningCount(_ count: Int) {
        let now = Clocks.monotonic()
        state.withLockedValue { state in
            state.timer?.cancel()
            state.timer = nil
            guard let deadline = state.activity.onCount(count, at: now) else { return }
            state.timer = Task { [weak self] in
                guard (try? await Task.sleep(for: now.duration(to: deadline), clock: .continuous)) != nil else {
                    return
                }
                await self?.publish()
            }
        }
    }

    func shutdown() { state.withLockedValue { $0.timer?.cancel() } }

    private func publish() async {
        guard let isActive = state.withLockedValue({ $0.activity.onTimer(at: Clocks.monotonic()) }) else { return }
        let now = clock()
        _ = try? await store.write { try $0.events.append(.activityChanged(active: isActive), at: now) }
    }
}
