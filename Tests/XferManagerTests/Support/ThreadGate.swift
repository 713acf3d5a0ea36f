import Dispatch
import XferFiles
import XferTestSupport

@testable import XferManager

/// A gate for threads: `Gate` suspends Swift tasks, this one blocks threads.
final class ThreadGate: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)
    private let gate = Gate()

    /// Occupies every thread of the pool; returns when the gate is open and they are free again.
    func hold(_ pool: BlockingPool) async {
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<BlockingPool.maxThreads { group.addTask { await pool.run { [self] in pass() } } }
        }
    }

    /// Returns when so many threads wait at the gate.
    func arrived(_ count: Int = 1) async { await gate.arrived(count) }

    /// Lets every thread through, now and later.
    func open() {
        gate.open()
        semaphore.signal()
    }

    /// Blocks the calling thread until the gate is open.
    func pass() {
        Task { await gate.wait() }
        semaphore.wait()
        semaphore.signal()
    }
}

extension ManagerFixture {
    /// The manager's threads for files in the download directory: four.
    func filePool(of manager: TransferManager) throws -> BlockingPool {
        manager.services.pool(in: try DirectoryHandle(ofService: downloads))
    }

    /// The manager's threads for digests of files in the download directory: two.
    func digestPool(of manager: TransferManager) throws -> BlockingPool {
        manager.services.paths.digests(in: try DirectoryHandle(ofService: downloads))
    }
}
