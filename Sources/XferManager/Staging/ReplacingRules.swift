import XferFiles
import XferModel
import XferStore

/// Whose files a task may replace.
enum ReplacingRules {
    /// A caller that is no operator replaces only what it owns or one of its own tasks published.
    static func requireReplaceable(
        _ name: String, in directory: DirectoryHandle, by owner: Owner, _ services: RunServices,
        _ settings: ManagerSettings
    ) async throws {
        guard !settings.isOperator(owner) else { return }
        guard let status = try await services.pool.run({ try directory.status(of: name) }) else { return }
        if status.owner == owner.rawValue { return }
        let path = directory.path(of: name)
        let publisher = try await services.store.read { try $0.lastCompleted(path: path)?.owner }
        guard publisher == owner else {
            throw TransferError(.destinationDenied, "\(path) belongs to somebody else and cannot be replaced")
        }
    }
}
