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

    /// The directory, if its names can be inspected without waiting and with the service's rights; nil otherwise.
    func inspectable(_ directory: String, _ roots: AllowedRoots) -> AdmittedDirectory? {
        roots.users.isEmpty ? admitted(Key(roots: roots, directory: directory)) : nil
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
            let known = await knownPlaces(key.directory, in: key.roots)
            // A guest could mount file systems of its own, and so displace the mounts that operators use.
            let recordsMount = key.roots.users.isEmpty
            let work: @Sendable () throws -> (FileIdentity, AdmittedDirectory?, RootPlaces.Changes) = {
                try RootPlaces.requireMounted(known, for: key.directory)
                let opened = try key.roots.open(directory: key.directory, createMissing: creates)
                let changes = RootPlaces.changes(of: known, opened: key.directory, recordsMount: recordsMount)
                return (opened.identity, AdmittedDirectory(opened, path: key.directory), changes)
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

// MARK: - Recorded places

extension DirectoryAdmission {
    /// A directory whose file system is not mounted.
    struct HiddenDirectory: Hashable, Sendable {
        let path: String
        let mountPoint: String
    }

    private struct Recorded: Sendable {
        let path: String
        let place: RootPlace?
        let guest: UInt32?
        let isMount: Bool
    }

    private func knownPlaces(_ directory: String, in roots: AllowedRoots) async -> RootPlaces.Known {
        var known = (try? await places?.known(of: roots.roots, containing: directory)) ?? RootPlaces.Known()
        if !roots.users.isEmpty { known.mounts = [] }
        return known
    }

    /// The error of an operator's directory whose file system is not mounted; nil if it is, or if it does not answer.
    func missingMount(of directory: String, in roots: AllowedRoots) async -> FileError? {
        let known = await knownPlaces(directory, in: roots)
        do {
            try await paths.open(directory) { try RootPlaces.requireMounted(known, for: directory) }
            return nil
        } catch {
            guard case .unmounted? = error as? FileError else { return nil }
            return error as? FileError
        }
    }

    /// Compares recorded places with the present ones, and records those that are new. A directory that does not answer
    /// keeps its place.
    ///
    /// - Parameters:
    ///   - directories: each with the guest whose threads open it; nil for an operator's.
    ///   - includesOthers: true if former roots and the mounts of other directories are compared, too.
    ///   - forgetsHidden: true if the place of a directory whose file system is not mounted is removed, so that the
    ///     directory is used as it is found.
    /// - Returns: the directories whose file systems are not mounted.
    func surveyPlaces(
        of directories: [String: UInt32?], includesOthers: Bool, forgetsHidden: Bool
    ) async -> [HiddenDirectory] {
        guard let places else { return [] }
        let former = includesOthers ? (try? await places.formerRoots()) ?? [] : []
        guard let known = try? await places.known(of: former + Array(directories.keys)) else { return [] }
        var recorded = known.roots.map { path, place in
            Recorded(path: path, place: place, guest: directories[path] ?? nil, isMount: false)
        }
        if includesOthers {
            recorded += known.mounts.map { Recorded(path: $0.mountPoint, place: $0, guest: nil, isMount: true) }
        }
        let found = await withTaskGroup(of: (Recorded, RootPlace.Present?).self) { group in
            for one in recorded { group.addTask { (one, await self.presentPlace(one.path, ofGuest: one.guest)) } }
            return await group.reduce(into: [(Recorded, RootPlace.Present?)]()) { $0.append($1) }
        }
        var changes = RootPlaces.Changes()
        var hidden: [HiddenDirectory] = []
        for (one, present) in found {
            guard let present else { continue }
            if let place = one.place, place.isHidden(at: present) {
                hidden.append(HiddenDirectory(path: one.path, mountPoint: place.mountPoint))
                guard forgetsHidden else { continue }
                if one.isMount {
                    changes.forgottenMounts.insert(one.path)
                } else {
                    changes.roots[one.path] = .some(nil)
                }
            } else if !one.isMount, RootPlaces.isNew(present.place, insteadOf: one.place) {
                changes.roots[one.path] = .some(present.place)
            }
        }
        do {
            try await places.record(changes)
        } catch {
            // What is still recorded is not forgotten.
            if forgetsHidden { return [] }
        }
        return hidden.sorted { $0.path < $1.path }
    }

    /// Keeps the places of directories that the settings no longer name, as long as their file systems are not mounted.
    func keepPlaces(ofFormer directories: [String: UInt32?]) async {
        let hidden = await surveyPlaces(of: directories, includesOthers: false, forgetsHidden: false)
        var changes = RootPlaces.Changes()
        changes.formerRoots = Set(hidden.map(\.path))
        try? await places?.record(changes)
    }

    /// The present place of a directory; nil if it does not answer.
    private func presentPlace(_ path: String, ofGuest guest: UInt32?) async -> RootPlace.Present? {
        guard let guest else { return try? await paths.open(path) { try RootPlace.Present(ofRoot: path) } }
        let pool = paths.pool(ofGuest: guest)
        return try? await result(within: PathPools.patience) {
            try await pool.run { try RootPlace.Present(ofRoot: path) }
        }
    }

    /// The roots that the settings no longer name, and for whose file systems tasks may wait; all that can be read.
    func formerRoots() async -> Set<String> { (try? await places?.formerRoots()) ?? [] }
}
