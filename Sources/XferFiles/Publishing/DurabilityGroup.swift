import XferModel

/// Makes a directory's entries durable: one fsync for all callers that arrive while an earlier one is under way.
public actor DurabilityGroup {
    /// The threads for a directory.
    private let pool: @Sendable (DirectoryHandle) -> BlockingPool
    /// The callers that wait for the next fsync, by directory that is being synced now.
    private var rounds: [FileIdentity: [Waiter]] = [:]

    private typealias Waiter = CheckedContinuation<Result<Void, FileError>, Never>

    private let syncDirectory: @Sendable (DirectoryHandle) throws(FileError) -> Void

    /// - Parameter pool: gives the threads for a directory.
    public init(pool: @escaping @Sendable (DirectoryHandle) -> BlockingPool) {
        self.init(pool: pool) { (directory) throws(FileError) in try directory.sync() }
    }

    init(
        pool: @escaping @Sendable (DirectoryHandle) -> BlockingPool,
        syncDirectory: @escaping @Sendable (DirectoryHandle) throws(FileError) -> Void
    ) {
        self.pool = pool
        self.syncDirectory = syncDirectory
    }

    /// Makes a directory's present entries durable. The fsync begins after this call.
    public func sync(_ directory: DirectoryHandle) async throws(FileError) {
        let result = await withCheckedContinuation { (waiter: Waiter) in
            if rounds[directory.identity] == nil {
                rounds[directory.identity] = []
                start(directory, for: [waiter])
            } else {
                rounds[directory.identity, default: []].append(waiter)
            }
        }
        try result.get()
    }

    /// Number of callers that wait for a directory's next fsync.
    func waiterCount(of directory: DirectoryHandle) -> Int { rounds[directory.identity]?.count ?? 0 }

    private func start(_ directory: DirectoryHandle, for waiters: [Waiter]) {
        Task {
            let result: Result<Void, FileError>
            do throws(FileError) {
                try await pool(directory).run { [syncDirectory] () throws(FileError) in try syncDirectory(directory) }
                result = .success(())
            } catch {
                result = .failure(error)
            }
            for waiter in waiters { waiter.resume(returning: result) }
            if let next = rounds[directory.identity], !next.isEmpty {
                rounds[directory.identity] = []
                start(directory, for: next)
            } else {
                rounds[directory.identity] = nil
            }
        }
    }
}
