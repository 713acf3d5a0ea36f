import XferFiles
import XferModel

/// The threads that open files by their paths.
///
/// A path may lead to a file system that never answers (a server that is down, an automounter), and then it keeps a
/// thread for good. A guest chooses such a path at will, so guests' paths have threads of their own, and files of
/// operators never wait for them.
final class PathPools: Sendable {
    /// Guests whose user numbers differ by a multiple of it share threads.
    private static let guestPools = 16
    private static let threadsOfGuest = 2
    /// How long a guest's path may hold up work that others wait for. A run of the guest's own waits longer.
    static let patience = Duration.seconds(5)

    /// For operators' paths, and for files that are open.
    let service: BlockingPool
    private let guests: [BlockingPool]

    init(service: BlockingPool) {
        self.service = service
        // Threads start when there is work.
        guests = (0..<Self.guestPools).map { _ in BlockingPool("xferd-guests", threadCount: Self.threadsOfGuest) }
    }

    /// - Parameter guest: the user whose path it is; nil is an operator's.
    func pool(of guest: UInt32?) -> BlockingPool {
        guest.map { guests[Int(clamping: $0) % Self.guestPools] } ?? service
    }
}
