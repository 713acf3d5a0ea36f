import NIOConcurrencyHelpers
import XferFiles
import XferModel
import XferStore

/// The places of destinations' roots and of `download.dir` at their last use, stored across restarts; see `RootPlace`.
///
/// It is state, not configuration: a reload removes it, so that an operator can remove a disk permanently.
final class RootPlaces: Sendable {
    private let store: TaskStore
    private let rights: OwnerRights
    /// The places that were read of the database so far.
    private let known = NIOLockedValueBox<[String: RootPlace?]>([:])

    init(store: TaskStore, rights: OwnerRights) {
        self.store = store
        self.rights = rights
    }

    private static func key(_ root: String) -> String { "root:\(root)" }

    /// The remembered places of the roots, and of `download.dir`, that contain a path; nil for one that has none.
    func places(of roots: [String], containing path: String) async throws -> [String: RootPlace?] {
        var places: [String: RootPlace?] = [:]
        for root in Set(RootPlace.roots(roots + [rights.downloadDirectory], containing: path)) {
            if let place = known.withLockedValue({ $0[root] }) {
                places[root] = .some(place)
                continue
            }
            let text = try await store.read { try $0.settings.find(Self.key(root)) }
            let place = text.flatMap { RootPlace(text: $0) }
            known.withLockedValue { $0[root] = .some(place) }
            places[root] = .some(place)
        }
        return places
    }

    /// Throws if the file system of a root is not mounted. Blocks.
    ///
    /// - Throws: `unmounted`.
    static func requireMounted(_ places: [String: RootPlace?], for path: String) throws(FileError) {
        for (root, place) in places {
            guard let place else { continue }
            if place.isHidden(at: try RootPlace(ofRoot: root)) {
                throw .unmounted(path: path, mountPoint: place.mountPoint)
            }
        }
    }

    /// The present places, where they differ from the remembered ones. A place on the root file system is never hidden,
    /// and so not remembered. Blocks.
    static func changes(of places: [String: RootPlace?]) -> [String: RootPlace] {
        var changes: [String: RootPlace] = [:]
        for (root, place) in places {
            guard let present = try? RootPlace(ofRoot: root), present.identity != nil, present != place,
                present.mountPoint != "/" || place != nil
            else { continue }
            changes[root] = present
        }
        return changes
    }

    func record(_ changes: [String: RootPlace]) async throws {
        guard !changes.isEmpty else { return }
        try await store.write { tx in
            for (root, place) in changes { try tx.settings.set(Self.key(root), place.text) }
        }
        known.withLockedValue { known in for (root, place) in changes { known[root] = .some(place) } }
    }

    /// Removes the recorded places of these roots and of `download.dir`: they are used in their present state.
    func forget(_ roots: [String]) async throws {
        let all = roots + [rights.downloadDirectory]
        try await store.write { tx in for root in all { try tx.settings.set(Self.key(root), nil) } }
        known.withLockedValue { $0 = [:] }
    }
}
