import XferFiles
import XferModel
import XferStore

/// Whose files a task may replace.
enum ReplacingRules {
    /// A caller that is no operator replaces only what it owns or one of its own tasks published, and that very file: another
    /// one may have come to its name.
    static func requireReplaceable(
        _ name: String, in directory: DirectoryHandle, by owner: Owner, _ services: RunServices,
        _ settings: ManagerSettings
    ) async throws {
        guard !settings.isOperator(owner) else { return }
        guard let status = try await services.pool.run({ try directory.status(of: name) }) else { return }
        if status.owner == owner.rawValue { return }
        let path = directory.path(of: name)
        let found = try await services.pool.run { try directory.facts(of: name) }
        let published = try await services.store.read { try $0.lastPublished(path: path) }
        guard let found, let published, published.owner == owner, published.file.isStill(found) else {
            throw TransferError(.destinationDenied, "\(path) belongs to somebody else and cannot be replaced")
        }
    }
}
