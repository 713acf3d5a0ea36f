import CLinux
import NIOConcurrencyHelpers

/// Keeps the process small: what work left behind goes back to the system soon after.
///
/// A batch of ten thousand tasks passes through some twenty megabytes, which malloc(3) would keep for good; and of the code
/// that starting takes, most is never executed again. Nothing runs and nothing wakes up unless something was done.
final class MemoryCare: Sendable {
    /// Long enough that a client's next call finds everything as it left it.
    private static let patience = Duration.seconds(2)

    private let isDue = NIOLockedValueBox(false)

    /// Settings of malloc(3), to be made before there are many threads: one heap, which two processors rarely contend for
    /// since each thread has a cache of its own, and no lasting room for large blocks.
    static func keepHeapSmall() { xfer_keep_heap_small(1, 256 << 10, 4 << 20) }

    /// Something was done: gives back in a moment, once for all that is done meanwhile.
    func noteWork() {
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

    /// Gives back now.
    func giveBack() {
        xfer_trim_heap()
        xfer_release_code()
    }
}
