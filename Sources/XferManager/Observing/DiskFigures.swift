import Glibc
import NIOConcurrencyHelpers
import XferFiles
import XferModel

/// The room on the file systems of the service's directories.
///
/// statvfs(3) of a directory on a dead server's disk never returns, so the last measurement is used if a new one takes
/// long.
final class DiskFigures: Sendable {
    struct Figure: Hashable, Sendable {
        let directory: String
        /// The number of bytes that an unprivileged process may still write.
        let free: Int64
        let size: Int64
    }

    private struct State {
        var last: [Figure] = []
        var isMeasuring = false
    }

    private static let patience = Duration.seconds(1)

    private let pool: BlockingPool
    private let state = NIOLockedValueBox(State())

    init(pool: BlockingPool) { self.pool = pool }

    /// The present free space, or the last measurement.
    func measure(_ directories: [String]) async -> [Figure] {
        let mustMeasure = state.withLockedValue { state in
            defer { state.isMeasuring = true }
            return !state.isMeasuring
        }
        guard mustMeasure else { return state.withLockedValue(\.last) }
        await withCheckedContinuation { continuation in
            let waiting = NIOLockedValueBox<CheckedContinuation<Void, Never>?>(continuation)
            @Sendable func goOn() {
                waiting.withLockedValue { waiting in
                    defer { waiting = nil }
                    return waiting
                }?.resume()
            }
            let timeout = Task {
                try? await Task.sleep(for: Self.patience)
                goOn()
            }
            Task {
                let figures = await pool.run { directories.compactMap(Self.figure) }
                state.withLockedValue { $0 = State(last: figures) }
                timeout.cancel()
                goOn()
            }
        }
        return state.withLockedValue(\.last)
    }

    private static func figure(_ directory: String) -> Figure? {
        var facts = statvfs()
        guard statvfs(directory, &facts) == 0 else { return nil }
        func bytes(_ blocks: UInt) -> Int64 {
            Int64(clamping: UInt64(clamping: blocks).multipliedSaturated(by: UInt64(clamping: facts.f_frsize)))
        }
        return Figure(directory: directory, free: bytes(facts.f_bavail), size: bytes(facts.f_blocks))
    }
}
