import NIOConcurrencyHelpers
import StrictJSON
import XferFiles
import XferModel
import XferStore

/// The directories in which downloads of operators lie until they are whole: that of `download.incomplete_dir`, and
/// former ones.
///
/// No task has named them, so the service opens them on its own account. A transfer goes on in its directory after the
/// setting has changed, also in a later daemon: the paths are stored.
final class IncompleteDirectories: Sendable {
    private static let key = "incomplete.directories"

    private struct State {
        var paths: Set<String> = []
        /// The directory for new transfers.
        var present: String?

        var former: Set<String> { paths.subtracting([present].compactMap(\.self)) }
    }

    private let state = NIOLockedValueBox(State())

    /// All paths, for the search for files that no row names.
    var all: Set<String> { state.withLockedValue(\.paths) }

    /// True if the service itself has chosen this directory for partial files.
    func contains(_ path: String) -> Bool { state.withLockedValue { $0.paths.contains(path) } }

    /// True if a task's bytes lie in such a directory, and not in the directory that the task has named.
    func isPlace(of transfer: Transfer, for task: TaskSpecification) -> Bool {
        transfer.partial.directory != task.destination.directory && contains(transfer.partial.directory)
    }

    /// Reads the former directories, and stores the present one. Call it before a transfer gets a place there.
    func add(_ present: String?, in store: TaskStore) async throws {
        state.withLockedValue { $0.present = present }
        let known = try await store.read { try Self.stored(in: $0) }
        let all = known.union([present].compactMap(\.self))
        if all != known { try await store.write { tx in try Self.set(all, in: tx) } }
        state.withLockedValue { $0.paths.formUnion(all) }
    }

    /// Forgets the former directories in which no transfer lies any more.
    ///
    /// - Parameter unsearched: directories that may contain files that no row names.
    func removeUnused(but unsearched: Set<String>, in store: TaskStore) async throws {
        let former = state.withLockedValue { $0.former }.subtracting(unsearched)
        guard !former.isEmpty else { return }
        let unused = try await store.write { tx in
            let unused = try former.filter { try !tx.transfers.hasAny(in: $0) }
            if !unused.isEmpty { try Self.set(try Self.stored(in: tx).subtracting(unused), in: tx) }
            return unused
        }
        state.withLockedValue { $0.paths.subtract(unused.intersection($0.former)) }
    }

    private static func stored(in reader: StoreReader) throws -> Set<String> {
        let text = try reader.settings.find(key)
        let list = text.flatMap { try? JSONValue(parsing: $0).arrayValue }
        return Set(list?.compactMap(\.stringValue) ?? [])
    }

    private static func set(_ paths: Set<String>, in tx: StoreTransaction) throws {
        try tx.settings.set(key, paths.isEmpty ? nil : JSONValue.array(paths.sorted().map { .string($0) }).text)
    }
}

extension ManagerSettings {
    /// The place for the partial file of a task's new transfer.
    ///
    /// That of a guest lies beside its destination: elsewhere it would take space that the guest may not use.
    func placeOfPart(of task: TaskSpecification) -> PartialLocation {
        let destination = task.destination
        guard let incompleteDirectory, task.kind == .download, isOperator(task.owner),
            destination.directory != incompleteDirectory
        else {
            return PartialLocation(
                directory: destination.directory, identity: destination.directoryIdentity ?? .unknown)
        }
        // The first run finds out which directory it is.
        return PartialLocation(directory: incompleteDirectory, identity: .unknown)
    }

    /// The directory that contains a directory for partial files, so that this one itself can be made.
    func rootsOfIncomplete(_ path: String) -> AllowedRoots {
        let parent = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ""
        return AllowedRoots(roots: [parent.isEmpty ? "/" : parent], forbidden: forbiddenDirectories)
    }

    /// The directories beneath which destinations and partial files lie, whose mounts are remembered. A guest's has the
    /// number of the user or group to whom it is granted.
    var destinationDirectories: [String: UInt32?] {
        var all: [String: UInt32?] = [:]
        for granted in [grants.groups, grants.users] {
            for (number, paths) in granted { for path in paths { all[path] = .some(number) } }
        }
        let incomplete = incompleteDirectory.map { rootsOfIncomplete($0).roots } ?? []
        for path in roots + ownRoots + [downloadDirectory] + incomplete { all[path] = .some(nil) }
        return all
    }
}
