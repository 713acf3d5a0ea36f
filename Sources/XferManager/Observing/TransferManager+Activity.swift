import XferCore
import XferModel
import XferStore

/// Publishes whether transfers are running, debounced.
extension TransferManager {
    public var isActive: Bool { activity.isActive }

    /// Called when the number of running transfers has changed.
    func noteRunning() {
        metrics.onRunning(scheduler.runningCount)
        activityTimer?.cancel()
        activityTimer = nil
        let now = Clocks.monotonic()
        guard let deadline = activity.onCount(scheduler.runningCount, at: now) else { return }
        activityTimer = Task {
            guard (try? await Task.sleep(for: now.duration(to: deadline), clock: .continuous)) != nil else { return }
            await showActivity()
        }
    }

    private func showActivity() async {
        guard let isActive = activity.onTimer(at: Clocks.monotonic()) else { return }
        let now = clock()
        _ = try? await store.write { try $0.append(.activityChanged(active: isActive), at: now) }
    }
}
