import CLinux
import NIOConcurrencyHelpers

/// Returns unused memory to the system soon after work has ended.
///
/// A batch of ten thousand tasks needs some twenty megabytes for a moment, which malloc(3) would keep permanently; and
/// most code of the start is never executed again. Without work, no timer runs.
package final class MemoryCare: Sendable {
    /// The delay before memory is returned: long enough that a client's next call still finds everything in memory.
    private static let patience = Duration.seconds(2)

    private let isDue = NIOLockedValueBox(false)

    package init() {}

    /// Settings of malloc(3), to be applied before there are many threads: one heap, which two processors rarely
    /// contend for since each thread has a cache of its own, and no space kept for large blocks.
    package static func keepHeapSmall() { xfer_keep_heap_small(1, 256 << 10, 4 << 20) }

    /// Schedules a return of memory, once for all calls until then. Called after work.
    func scheduleRelease() {
        let isFirst = isDue.withLockedValue { isDue in
            defer { isDue = true }
            return !isDue
        }
        guard isFirst else { return }
        Task {
            try? await Task.sleep(for: Self.patience)
            isDue.withLockedValue { $0 = false }
            self.giveBack()
        }
    }

    /// Returns memory now.
    func giveBack() {
        xfer_trim_heap()
        xfer_release_code()
    }
}
