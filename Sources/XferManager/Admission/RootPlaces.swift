import Logging
import NIOConcurrencyHelpers
import StrictJSON
import XferFiles
import XferModel
import XferStore

/// The places of destinations' roots, of `download.dir`, and of the mounts in which operators' directories were used,
/// stored across restarts; see `RootPlace`.
///
/// They are state, not configuration: a reload that the operator requests removes those that are hidden, so that a disk
/// can be removed permanently.
final class RootPlaces: Sendable {
    /// Recorded places.
    struct Known: Sendable {
        /// The places by root; nil for a root that has none.
        var roots: [String: RootPlace?] = [:]
        /// The places of mounts, each recorded at its mount point.
        var mounts: [RootPlace] = []
    }

    /// A difference from the recorded places.
    struct Changes: Sendable {
        /// The new places by root; nil removes one.
        var roots: [String: RootPlace?] = [:]
        var mounts: [RootPlace] = []
        /// The mount points whose places are removed.
        var forgottenMounts: Set<String> = []
        /// Roots that the settings no longer name, and whose places stay.
        var formerRoots: Set<String> = []

        var isEmpty: Bool {
            roots.isEmpty && mounts.isEmpty && forgottenMounts.isEmpty && formerRoots.isEmpty
        }
    }

    private struct State {
        /// The places that were read from the database so far.
        var roots: [String: RootPlace?] = [:]
        var mounts: [RootPlace]?
        var former: Set<String>?
    }

    private static let mountsKey = "mounts"
    private static let formerKey = "roots.former"
    /// The highest number of mounts that are remembered.
    private static let maxMounts = 64

    private let store: TaskStore
    private let rights: OwnerRights
    private let logger: Logger
    private let state = NIOLockedValueBox(State())

    init(store: TaskStore, rights: OwnerRights, logger: Logger) {
        self.store = store
        self.rights = rights
        self.logger = logger
    }

    private static func key(_ root: String) -> String { "root:\(root)" }

    /// The recorded places of the roots, of `download.dir` and of former roots that contain a path, and of all mounts.
    func known(of roots: [String], containing path: String) async throws -> Known {
        let all = roots + [rights.downloadDirectory] + (try await formerRoots())
        return try await known(of: RootPlace.roots(all, containing: path))
    }

    /// The roots that the settings no longer name, but whose file systems were not mounted then: tasks may wait for
    /// them.
    func formerRoots() async throws -> Set<String> {
        if let former = state.withLockedValue(\.former) { return former }
        let former = try await store.read { Set(try Self.texts(Self.formerKey, in: $0)) }
        return state.withLockedValue { state in
            state.former = state.former ?? former
            return state.former ?? []
        }
    }

    /// The recorded places of these roots, and of all mounts.
    func known(of roots: [String]) async throws -> Known {
        var known = Known()
        for root in Set(roots) {
            if let place = state.withLockedValue({ $0.roots[root] }) {
                known.roots[root] = .some(place)
                continue
            }
            let text = try await store.read { try $0.settings.find(Self.key(root)) }
            let place = text.flatMap { RootPlace(text: $0) }
            // `record` may have set a newer one meanwhile.
            known.roots[root] = state.withLockedValue { state in
                if let newer = state.roots[root] { return newer }
                state.roots[root] = .some(place)
                return .some(place)
            }
        }
        if let mounts = state.withLockedValue(\.mounts) {
            known.mounts = mounts
        } else {
            let mounts = try await store.read { try Self.mounts(in: $0) }
            known.mounts = state.withLockedValue { state in
                state.mounts = state.mounts ?? mounts
                return state.mounts ?? []
            }
        }
        return known
    }

    private static func mounts(in reader: StoreReader) throws -> [RootPlace] {
        try texts(mountsKey, in: reader).compactMap { RootPlace(text: $0) }
    }

    private static func texts(_ key: String, in reader: StoreReader) throws -> [String] {
        let text = try reader.settings.find(key)
        let list = text.flatMap { try? JSONValue(parsing: $0).arrayValue } ?? []
        return list.compactMap(\.stringValue)
    }

    private static func set(_ texts: [String], as key: String, in tx: StoreTransaction) throws {
        try tx.settings.set(key, texts.isEmpty ? nil : JSONValue.array(texts.map { .string($0) }).text)
    }

    /// Throws if the file system of a root, or of a mount, is not mounted. Blocks.
    ///
    /// - Throws: `unmounted`.
    static func requireMounted(_ known: Known, for path: String) throws(FileError) {
        for (root, place) in known.roots {
            guard let place else { continue }
            if place.isHidden(at: try RootPlace.Present(ofRoot: root)) {
                throw .unmounted(path: path, mountPoint: place.mountPoint)
            }
        }
        for place in try RootPlace.mounts(known.mounts, missingAt: path)
        where place.isHidden(at: try RootPlace.Present(ofRoot: place.mountPoint)) {
            throw .unmounted(path: path, mountPoint: place.mountPoint)
        }
    }

    /// The present places, where they differ from the recorded ones, after a directory was opened. Blocks.
    ///
    /// - Parameter recordsMount: true if the directory's mount is recorded, too, where no root has told it.
    static func changes(of known: Known, opened directory: String, recordsMount: Bool) -> Changes {
        var changes = Changes()
        for (root, place) in known.roots {
            guard let present = try? RootPlace.Present(ofRoot: root), isNew(present.place, insteadOf: place) else {
                continue
            }
            changes.roots[root] = .some(present.place)
        }
        guard recordsMount, let mount = (try? RootPlace.mount(of: directory)) ?? nil else { return changes }
        let told = known.roots.merging(changes.roots) { $1 }.values.contains { $0?.mountPoint == mount.mountPoint }
        if !told, !known.mounts.contains(mount) { changes.mounts = [mount] }
        return changes
    }

    /// True if a present place is to be recorded. A place on the root file system is never hidden, and so not recorded.
    static func isNew(_ present: RootPlace, insteadOf place: RootPlace?) -> Bool {
        guard let place else { return present.mountPoint != "/" }
        return present != place && present.identity != nil
    }

    func record(_ changes: Changes) async throws {
        guard !changes.isEmpty else { return }
        let (mounts, displaced, former) = try await store.write { tx in
            for (root, place) in changes.roots { try tx.settings.set(Self.key(root), place?.text) }
            let replaced = changes.forgottenMounts.union(changes.mounts.map(\.mountPoint))
            let kept = try Self.mounts(in: tx).filter { !replaced.contains($0.mountPoint) }
            let known = kept + changes.mounts
            let mounts = Array(known.suffix(Self.maxMounts))
            try Self.set(mounts.map(\.text), as: Self.mountsKey, in: tx)
            let forgotten = Set(changes.roots.filter { $0.value == nil }.keys)
            let former = Set(try Self.texts(Self.formerKey, in: tx)).subtracting(forgotten).union(changes.formerRoots)
            try Self.set(former.sorted(), as: Self.formerKey, in: tx)
            return (mounts, known.dropLast(mounts.count), former)
        }
        for place in displaced {
            logger.warning(
                "\(Self.maxMounts) newer mounts are remembered; tasks do not wait for this one if it is missing",
                metadata: ["mount_point": "\(place.mountPoint)"])
        }
        state.withLockedValue { state in
            for (root, place) in changes.roots { state.roots[root] = .some(place) }
            (state.mounts, state.former) = (mounts, former)
        }
    }
}
