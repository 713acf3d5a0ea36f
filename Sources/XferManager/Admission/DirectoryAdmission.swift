import NIOConcurrencyHelpers
import XferFiles
import XferModel
import XferSystem

/// Opens the directories that adds name, and creates missing ones beneath a root.
///
/// For a directory that was opened before, only its path is checked: it must still lead to it. Adds that arrive while
/// their directory is being opened share the next opening. So each is judged by the state after it arrived, and many
/// adds cost few system calls.
final class DirectoryAdmission: Sendable {
    private typealias Opening = Result<FileIdentity, FileError>
    private typealias Waiter = CheckedContinuation<Opening, Never>

    private struct Key: Hashable {
        let roots: AllowedRoots
        let directory: String
    }

    /// Directories that were opened, each with the rights of its key.
    private final class Table: Sendable {
        struct Entry {
            let directory: AdmittedDirectory
            /// The time at which its opening began.
            let openedAt: MonotonicInstant
        }

        /// The highest number of entries, and of directories that are being learned.
        private static let maxEntries = 64

        private let entries = NIOLockedValueBox<[Key: Entry]>([:])
        private let learning = NIOLockedValueBox<Set<Key>>([])

        subscript(key: Key) -> Entry? { entries.withLockedValue { $0[key] } }

        /// Records the result of an opening, unless a later one has ended already.
        ///
        /// - Parameter directory: nil if the opening failed, or checks of it could block.
        func record(_ directory: AdmittedDirectory?, as key: Key, openedAt: MonotonicInstant) {
            entries.withLockedValue { entries in
                if let entry = entries[key], entry.openedAt > openedAt { return }
                if directory != nil, entries[key] == nil, entries.count >= Self.maxEntries { entries = [:] }
                entries[key] = directory.map { Entry(directory: $0, openedAt: openedAt) }
            }
        }

        /// False if the directory is being learned already, or too many are.
        func beginLearning(_ key: Key) -> Bool {
            learning.withLockedValue { $0.count < Self.maxEntries && $0.insert(key).inserted }
        }

        func endLearning(_ key: Key) { learning.withLockedValue { _ = $0.remove(key) } }
    }

    /// The time for which a guest's directory counts as writable after it was opened with the guest's rights.
    private static let guestsMoment = Duration.seconds(10)

    private let paths: PathPools
    private let places: RootPlaces?
    private let operators = Table()
    /// The directories of guests, in a table of their own, so that they displace none of an operator.
    private let guests = Table()
    /// The adds that wait for the next opening. A directory is a key while it is being opened.
    private let waiters = NIOLockedValueBox<[Key: [Waiter]]>([:])

    /// - Parameter places: nil, for tests, remembers none.
    init(paths: PathPools, places: RootPlaces? = nil) {
        self.paths = paths
        self.places = places
    }

    /// Removes the recorded places of these roots: directories are used in their present state.
    func forgetPlaces(of roots: [String]) async throws { try await places?.forget(roots) }

    /// The identity of the directory, once it exists and is writable.
    ///
    /// - Throws: `unmounted` if its root's file system is not mounted; else as `AllowedRoots.open`.
    func identity(of directory: String, in roots: AllowedRoots) async throws(FileError) -> FileIdentity {
        let key = Key(roots: roots, directory: directory)
        // The check uses the service's rights. If the rights of other users count, too, the directory is opened each
        // time.
        if roots.users.isEmpty, let directory = admitted(key), directory.isWritable {
            return directory.identity
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

    /// True if the directory has a directory of this name; nil if that cannot be determined without waiting.
    func hasDirectory(named name: String, in directory: String, _ roots: AllowedRoots) -> Bool? {
        guard roots.users.isEmpty else { return nil }
        return admitted(Key(roots: roots, directory: directory))?.hasDirectory(named: name)
    }

    /// True if files can be created in the directory now, as far as that is known without waiting: also false for one
    /// that is not known yet or is on another machine. An unknown one is opened meanwhile.
    ///
    /// A guest's path is not touched: the guest may have made it lead to a file system that never answers.
    func takesFiles(_ directory: String, _ identity: FileIdentity?, _ roots: AllowedRoots) -> Bool {
        let key = Key(roots: roots, directory: directory)
        let known = table(of: key)[key]
        if roots.users.isEmpty {
            if let known { return known.directory.identity == identity && known.directory.isWritable }
            learn(key)
            return false
        }
        let age = known?.openedAt.duration(to: Clocks.monotonic()) ?? Self.guestsMoment
        if age >= Self.guestsMoment / 2 { learn(key) }
        return known?.directory.identity == identity && age < Self.guestsMoment
    }

    private func learn(_ key: Key) {
        guard table(of: key).beginLearning(key) else { return }
        Task {
            _ = await open(key, creates: false)
            table(of: key).endLearning(key)
        }
    }

    private func table(of key: Key) -> Table { key.roots.users.isEmpty ? operators : guests }

    private func admitted(_ key: Key) -> AdmittedDirectory? { table(of: key)[key]?.directory }

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

    private func open(_ key: Key, creates: Bool = true) async -> Opening {
        let openedAt = Clocks.monotonic()
        do {
            // Without the database no task is added; the next add reads the places again.
            let known = (try? await places?.places(of: key.roots.roots, containing: key.directory)) ?? [:]
            let work: @Sendable () throws -> (FileIdentity, AdmittedDirectory?, [String: RootPlace]) = {
                try RootPlaces.requireMounted(known, for: key.directory)
                let opened = try key.roots.open(directory: key.directory, createMissing: creates)
                return (
                    opened.identity, AdmittedDirectory(opened, path: key.directory), RootPlaces.changes(of: known)
                )
            }
            let (identity, admitted, changes) =
                if let guest = key.roots.users.first?.uid {
                    try await paths.pool(ofGuest: guest).run(work)
                } else {
                    try await paths.open(key.directory, work)
                }
            try? await places?.record(changes)
            table(of: key).record(admitted, as: key, openedAt: openedAt)
            return .success(identity)
        } catch {
            table(of: key).record(nil, as: key, openedAt: openedAt)
            return .failure(error as? FileError ?? .cancelled)
        }
    }
}
