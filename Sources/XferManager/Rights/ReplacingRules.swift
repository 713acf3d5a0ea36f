import XferFiles
import XferModel
import XferStore

/// Decides which files a task may replace.
enum ReplacingRules {
    /// Throws `destinationDenied` if the task may not replace the file of this name. See `refusal`.
    static func requireReplaceable(
        _ name: String, in directory: DirectoryHandle, by task: TaskSpecification, _ services: RunServices,
        _ settings: ManagerSettings
    ) async throws {
        if let reason = try await refusal(
            of: name, in: directory, by: task, hasOperatorRights: settings.hasOperatorRights(task),
            services.pool(in: directory), services.store)
        {
            throw TransferError(.destinationDenied, reason)
        }
    }

    /// The reason why the task may not replace the file of this name; nil if it may, or if there is none.
    ///
    /// A task without an operator's rights may replace only files it owns, or the file that one of its tasks published;
    /// another file under that name does not count. A confined task may replace only a file that another confined task
    /// of its owner published.
    static func refusal(
        of name: String, in directory: DirectoryHandle, by task: TaskSpecification, hasOperatorRights: Bool,
        _ pool: BlockingPool, _ store: TaskStore
    ) async throws -> String? {
        let isConfined = task.destination.confinement != nil
        guard isConfined || !hasOperatorRights else { return nil }
        let owner = task.owner
        guard let status = try await pool.run({ try directory.status(of: name) }) else { return nil }
        if !isConfined, status.owner == owner.rawValue { return nil }
        let path = directory.path(of: name)
        let found = try await pool.run { try directory.facts(of: name) }
        let (published, isOfConfined) = try await store.read { reader in
            let published = try reader.publishedFiles.last(path: path)
            let task = try published.flatMap { try reader.tasks.find($0.task) }
            return (published, task?.specification.destination.confinement != nil)
        }
        if let found, let published, published.owner == owner, published.file.isStill(found),
            isOfConfined || !isConfined
        {
            return nil
        }
        return isConfined
            ? "\(path) exists, and tasks of a token replace only files that such tasks published"
            : "\(path) belongs to another user and cannot be replaced"
    }
}
