import NIOConcurrencyHelpers
import XferFiles
import XferModel

/// The threads that open files by their paths, and that work on files.
///
/// A path may lead to a file system that never answers (a server that is down, an automounter, a dying disk), and then
/// it blocks a thread permanently. So each mount has threads of its own: a disk that hangs delays its own tasks only. A
/// guest chooses its paths at will, and may make them lead anywhere: guests' paths have threads of their own, too.
final class PathPools: Sendable {
    /// The threads of one mount. Digests take minutes for large files, so that they have their own.
    private struct Lane {
        let files: BlockingPool
        let digests: BlockingPool
    }

    /// The number of pools for guests: guests whose user numbers differ by a multiple of it share threads.
    private static let guestPools = 16
    private static let threadsOfGuest = 2
    /// The highest number of pools; further mounts share threads with others.
    private static let mostLanes = 32
    private static let digestThreads = 2
    /// The longest time for which a path may delay work that others wait for. A run of a guest's own waits longer.
    static let patience = Duration.seconds(5)

    /// The threads for files of the service itself, and for files on the same mount.
    let service: BlockingPool
    /// The threads for digests of such files.
    let digests: BlockingPool
    /// The device number of the service's own files; nil if it is not known.
    private let home: UInt64?
    private let guests: [BlockingPool]
    /// The threads of mounts, by the number of a device.
    private let lanes = NIOLockedValueBox<[UInt64: Lane]>([:])
    /// The work that took too long and has not ended, by pool.
    private let hanging = NIOLockedValueBox<[ObjectIdentifier: Int]>([:])

    /// - Parameter home: a directory of the service's own.
    init(
        service: BlockingPool, digests: BlockingPool = BlockingPool("xferd-digests", threadCount: digestThreads),
        home: String? = nil
    ) {
        self.service = service
        self.digests = digests
        self.home = home.flatMap { try? DirectoryHandle(ofService: $0).identity.device }
        // Threads start when there is work.
        guests = (0..<Self.guestPools).map { _ in BlockingPool("xferd-guests", threadCount: Self.threadsOfGuest) }
    }

    /// The threads for a guest's path.
    func pool(ofGuest guest: UInt32) -> BlockingPool { guests[Int(clamping: guest) % Self.guestPools] }

    /// The threads for a caller's path.
    func pool(of principal: Principal, forPath path: String) -> BlockingPool {
        principal.isOperator ? pool(forPath: path) : pool(ofGuest: principal.owner.rawValue)
    }

    /// The threads for an operator's path, by the mount to which its text leads. Does not touch its file system.
    func pool(forPath path: String) -> BlockingPool {
        guard let device = MountTable.present.device(of: path) else { return service }
        return lane(of: device)?.files ?? service
    }

    /// The threads for files of an open directory.
    func pool(in directory: DirectoryHandle) -> BlockingPool { lane(of: directory.identity.device)?.files ?? service }

    /// The threads for digests of files of an open directory, and for other work that takes long.
    func digests(in directory: DirectoryHandle) -> BlockingPool {
        lane(of: directory.identity.device)?.digests ?? digests
    }

    /// True if work on any file system takes longer than `patience`.
    func isBusy(for patience: Duration) -> Bool {
        let lanes = lanes.withLockedValue { $0.values.flatMap { [$0.files, $0.digests] } }
        return ([service, digests] + guests + lanes).contains { $0.isBusy(for: patience) }
    }

    /// The threads of a mount, or nil for the mount of the service itself.
    private func lane(of device: UInt64) -> Lane? {
        guard device != home else { return nil }
        return lanes.withLockedValue { lanes in
            if let lane = lanes[device] { return lane }
            if lanes.count >= Self.mostLanes {
                // A mount that is made again has another number each time. Work on the old one keeps its threads.
                let mounts = MountTable.present
                lanes = lanes.filter { mounts.hasDevice($0.key) }
            }
            if lanes.count >= Self.mostLanes {
                let shared = lanes.keys.sorted()[Int(clamping: device % UInt64(clamping: Self.mostLanes))]
                return lanes[shared]
            }
            let lane = Lane(
                files: BlockingPool("xferd-disk"),
                digests: BlockingPool("xferd-digests", threadCount: Self.digestThreads))
            lanes[device] = lane
            return lane
        }
    }
}

extension PathPools {
    /// Works on files in an open directory. The work must be safe to repeat.
    ///
    /// - Parameters:
    ///   - limit: the longest time that it may take.
    ///   - body: gets a flag that is true once its result is no longer needed, because it took too long.
    /// - Throws: `FileError.unanswering` after `limit`, or at once while earlier work of this kind still hangs on the
    ///   mount; else as `body`.
    func run<Value: Sendable>(
        in directory: DirectoryHandle, within limit: Duration = patience * 2,
        _ body: @escaping @Sendable (_ isAbandoned: @Sendable () -> Bool) throws -> Value
    ) async throws -> Value {
        try await run(on: pool(in: directory), at: directory.path, within: limit, body)
    }

    /// Opens something by an operator's path, which may not answer.
    ///
    /// - Throws: as `run`, with `patience` as its limit.
    func open<Value: Sendable>(
        _ path: String, _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await run(on: pool(forPath: path), at: path, within: Self.patience) { _ in try body() }
    }

    private func run<Value: Sendable>(
        on pool: BlockingPool, at path: String, within limit: Duration,
        _ body: @escaping @Sendable (_ isAbandoned: @Sendable () -> Bool) throws -> Value
    ) async throws -> Value {
        let work = HangingWork()
        if !hangs(pool), !pool.isSilent(for: Self.patience) {
            let value = try await result(within: limit) { [hanging] in
                try await pool.run {
                    defer { work.end(in: hanging, of: pool) }
                    return try body { work.isAbandoned }
                }
            }
            if let value { return value }
            work.abandon(in: hanging, of: pool)
        }
        throw FileError.unansweringMount(of: path)
    }

    private func hangs(_ pool: BlockingPool) -> Bool {
        hanging.withLockedValue { $0[ObjectIdentifier(pool), default: 0] > 0 }
    }
}

/// Work whose result is no longer needed, but that still blocks threads of a pool.
private typealias HangingCounts = NIOLockedValueBox<[ObjectIdentifier: Int]>

/// A piece of work that may be abandoned before it ends.
private final class HangingWork: Sendable {
    private let state = NIOLockedValueBox((isAbandoned: false, hasEnded: false))

    var isAbandoned: Bool { state.withLockedValue(\.isAbandoned) }

    func abandon(in counts: HangingCounts, of pool: BlockingPool) {
        let hangs = state.withLockedValue { state in
            state.isAbandoned = true
            return !state.hasEnded
        }
        if hangs { counts.withLockedValue { $0[ObjectIdentifier(pool), default: 0] += 1 } }
    }

    func end(in counts: HangingCounts, of pool: BlockingPool) {
        let wasAbandoned = state.withLockedValue { state in
            state.hasEnded = true
            return state.isAbandoned
        }
        if wasAbandoned { counts.withLockedValue { $0[ObjectIdentifier(pool), default: 0] -= 1 } }
    }
}
