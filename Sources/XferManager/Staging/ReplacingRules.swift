import XferFiles
import XferModel
import XferStore

/// Decides which files a task may replace.
enum ReplacingRules {
    /// A caller that is not an operator may replace only files it owns, or the file that one of its tasks published;
    /// another file under that name does not count.
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
            throw TransferError(.destinationDenied, "\(path) belongs to another user and cannot be replaced")
        }
    }
}
