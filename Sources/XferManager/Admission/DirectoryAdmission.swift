import NIOConcurrencyHelpers
import XferFiles
import XferModel

/// Opens the directories that adds name, making what is missing beneath a root.
///
/// One that was opened before is looked at only, by which its path has to lead to it still. Adds that come while their
/// directory is being opened share the next opening. So each is judged by what was there after it came, and a stream of
/// them costs few system calls.
final class DirectoryAdmission: Sendable {
    private typealias Opening = Result<FileIdentity, FileError>
    private typealias Waiter = CheckedContinuation<Opening, Never>

    private struct Key: Hashable {
        let roots: AllowedRoots
        let directory: String
    }

    /// Directories remembered at most.
    private static let maxKnown = 64

    private let pool: BlockingPool
    private let known = NIOLockedValueBox<[Key: AdmittedDirectory]>([:])
    /// Who waits for the next opening; a directory is in here while it is being opened.
    private let waiters = NIOLockedValueBox<[Key: [Waiter]]>([:])

    init(pool: BlockingPool) { self.pool = pool }

    /// Which directory it is, once it is there and may be written to.
    func identity(of directory: String, in roots: AllowedRoots) async throws(FileError) -> FileIdentity {
        let key = Key(roots: roots, directory: directory)
        // Looking is done with the service's rights: whoever counts with others is asked about each time.
        if roots.users.isEmpty, let known = known.withLockedValue({ $0[key] }), known.isWritable {
            return known.identity
        }
        let opening = await withCheckedContinuation { waiter in
            let isFirst = waiters.withLockedValue { waiters in
                guard waiters[key] == nil else {
                    waiters[key]?.append(waiter)
                    return false
                }
                waiters[key] = []
                return true
            }
            if isFirst { Task { await open(key, for: [waiter]) } }
        }
        return try opening.get()
    }

    private func open(_ key: Key, for first: [Waiter]) async {
        var present = first
        while !present.isEmpty {
            let opening = await open(key)
            for waiter in present { waiter.resume(returning: opening) }
            present = waiters.withLockedValue { waiters in
                let next = waiters[key] ?? []
                waiters[key] = next.isEmpty ? nil : []
                return next
            }
        }
    }

    private func open(_ key: Key) async -> Opening {
        do throws(FileError) {
            let (identity, admitted) = try await pool.run { () throws(FileError) in
                let opened = try key.roots.open(directory: key.directory, createMissing: true)
                return (opened.identity, AdmittedDirectory(opened, path: key.directory))
            }
            if key.roots.users.isEmpty { remember(admitted, as: key) }
            return .success(identity)
        } catch {
            return .failure(error)
        }
    }

    private func remember(_ directory: AdmittedDirectory?, as key: Key) {
        known.withLockedValue { known in
            if known[key] == nil, known.count >= Self.maxKnown { known = [:] }
            known[key] = directory
        }
    }
}
