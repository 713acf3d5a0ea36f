import Glibc
import Logging
import XferCore
import XferFiles
import XferModel
public import XferProtocol
import XferStore

/// Copies the database while the service runs.
public struct DatabaseBackup: ManagerPart, Sendable {
    let context: ManagerContext

    private static let workName = "backup.partial"

    private var workPath: String { context.stateDirectory.path(of: Self.workName) }

    /// Writes a consistent copy of the database into a new file with mode 0600. One at a time.
    ///
    /// SQLite opens files by name, so the copy is made in the state directory, where no other user can replace it.
    ///
    /// - Throws: `ManagerError`; then there is no copy.
    public func write(to path: String) async throws -> DaemonBackup.Result {
        await context.copying.enter()
        defer { context.copying.leave() }
        let (store, work) = (store, workPath)
        return try await translatingStoreErrors {
            try await context.inspections.run {
                defer { unlink(work) }
                let seq = try store.backUp(to: work)
                do throws(FileError) {
                    return DaemonBackup.Result(
                        file: path, size: try PrivateCopy.write(work, to: path), storeID: store.storeID, seq: seq)
                } catch {
                    throw ManagerError.invalidField(
                        path: "file", reason: "\(error)",
                        expected: "the absolute path of a new file in a directory that xferd can write to")
                }
            }
        }
    }

    /// Removes the files of a backup that was interrupted by the end of the process.
    func sweep() { unlink(workPath) }
}

extension StoreTransaction {
    /// Fails the next unfinished tasks whose requests must not be sent twice: after the backup that was restored they
    /// may have been sent. Returns the last task that was examined; nil at the end.
    func settleRestored(_ state: TaskState, after: TaskID?, at now: Timestamp) throws -> TaskID? {
        let tasks = try self.tasks.list(inState: state, after: after, limit: Self.largestStep)
        for task in tasks {
            let specification = task.specification
            guard !RepetitionRules.mayRepeatRequest(of: specification) else { continue }
            // The server has named the upload resource, which tells how much it has.
            if specification.kind == .upload, specification.upload.uploadProtocol == .resumable,
                let id = task.transferID, try StoreError.nilIfUnreadable({ try transfers.upload(of: id) }) != nil
            {
                continue
            }
            let error = RepetitionRules.outcomeUnknown(afterRestoreOf: specification.request)
            try transition(task, at: now) { $0.onConditionsFailed(error, at: now) }
        }
        return tasks.lastID
    }
}

extension TransferManager {
    /// Copies the database.
    public var backup: DatabaseBackup { DatabaseBackup(context: context) }

    /// Decides about tasks whose requests may have been sent after the backup, if the database was restored from one.
    func settleRestored() async throws {
        guard let time = try await store.read({ try $0.settings.find(TaskStore.restoredSetting) }) else { return }
        for state in [TaskState.running, .queued, .waiting, .paused] {
            var after: TaskID?
            repeat {
                let now = clock()
                after = try await store.write(.bulky) { [after] tx in
                    try tx.settleRestored(state, after: after, at: now)
                }
            } while after != nil
        }
        try await store.write { try $0.settings.set(TaskStore.restoredSetting, nil) }
        logger.notice(
            "the database was restored from a backup: requests failed that must not be repeated and may have been sent since then",
            metadata: ["restored_at": "\(time)"])
    }
}
