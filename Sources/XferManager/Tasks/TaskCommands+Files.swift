import Logging
import XferFiles
public import XferModel
public import XferProtocol
import XferStore

extension SelectionResult.RemovedFiles {
    /// The highest number of files that are listed.
    private static let maxListed = 1000

    fileprivate mutating func add(_ other: Self) {
        deleted += other.deleted
        keptCount += other.keptCount
        kept += other.kept.prefix(max(0, Self.maxListed - kept.count))
    }
}

/// The removal of tasks together with the files that they published.
///
/// The files are deleted before the rows. A crash in between leaves the rows, and the call can be repeated. In the
/// reverse order, files would remain to which no task refers.
extension TaskCommands {
    /// Deletes the published files of these tasks, then removes the tasks. Tasks whose files cannot be deleted stay.
    public func removeWithFiles(
        _ ids: [TaskID], for principal: Principal
    ) async throws -> SelectionResult.Listed {
        try await removeWithFiles(ids, for: principal, recording: nil).outcome
    }

    private func removeWithFiles(
        _ ids: [TaskID], for principal: Principal, recording record: StepRecorder?
    ) async throws -> (outcome: SelectionResult.Listed, goesOn: Bool) {
        let (published, tag) = try await store.read { reader in
            (
                try ids.compactMap { id -> Published? in
                    guard let task = try StoreError.nilIfUnreadable({ try reader.visibleTask(id, to: principal) })
                    else { return nil }
                    return try Published(task, in: reader)
                }, try reader.transfers.partTag()
            )
        }
        let (files, staying) = await delete(published, tag: tag)
        let unchanged = staying.sorted().map {
            SelectionResult.Unchanged(id: $0, state: .completed, reason: .fileKept)
        }
        let (removable, now) = (ids.filter { !staying.contains($0) }, clock())
        let (outcome, effects, goesOn) = try await translatingStoreErrors {
            try await store.write(.rows(ids.count)) { tx in
                let (removed, effects) = try tx.apply(.remove, to: removable, for: principal, at: now)
                var outcome = removed
                outcome.unchanged += unchanged
                outcome.files = files
                var goesOn = true
                if let record, let reached = ids.last {
                    goesOn = try record(tx, FilterStep(reached: reached, outcome, at: now))
                }
                return (outcome, effects, goesOn)
            }
        }
        recordDamage(after: .remove, outcome)
        await scheduler.perform(effects)
        return (outcome, goesOn)
    }

    /// Does the same as `removeWithFiles(_:for:)`, for every matching task that exists at the call, step by step.
    public func removeWithFiles(
        _ filter: TaskQuery, for principal: Principal
    ) async throws -> SelectionResult.Counted {
        try await removeWithFiles(filter, for: principal, in: nil, recording: nil)
    }

    /// Removes the matching tasks of a span with their files; see `StepRecorder`.
    func removeWithFiles(
        _ filter: TaskQuery, for principal: Principal, in span: TaskSpan?, recording record: StepRecorder?
    ) async throws -> SelectionResult.Counted {
        var counts = SelectionResult.Counted()
        var files = SelectionResult.RemovedFiles()
        try await forEachStep(of: filter, for: principal, in: span) { ids in
            let step = try await removeWithFiles(ids, for: principal, recording: record)
            counts.add(step.outcome)
            if let removed = step.outcome.files { files.add(removed) }
            guard step.goesOn else { throw FilterStep.Stopped() }
        }
        counts.files = files
        return counts
    }

    /// A file that a task published, according to the database.
    private struct Published: Sendable {
        let id: TaskID
        let owner: Owner
        let path: String
        /// The published file; nil if its identity is not known.
        let file: PublishedFile?
        let digest: Checksum?

        /// Reads the file of a task. Returns nil if the task published no file of its own.
        init?(_ task: TransferTask, in reader: StoreReader) throws {
            guard task.state == .completed, task.specification.kind == .download, !task.outcome.skipped,
                !task.outcome.notModified, let path = task.outcome.finalPath
            else { return nil }
            (id, owner, self.path) = (task.id, task.owner, path)
            file = try reader.publishedFiles.find(of: task.id)
            // After a hook the bytes are the hook's.
            let isProcessed = file?.version.hasSuffix("p") ?? false
            digest = isProcessed ? nil : task.specification.checksum
        }

        var directory: String {
            let parent = path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
            return parent.isEmpty ? "/" : parent
        }

        var name: String { String(path.split(separator: "/").last ?? "") }

        func kept(_ reason: String, at path: String? = nil, keepsTask: Bool = false) -> KeptFile {
            KeptFile(
                shown: SelectionResult.KeptFile(id: id, path: path ?? self.path, reason: reason), keepsTask: keepsTask)
        }
    }

    /// A file that was not deleted.
    private struct KeptFile: Sendable {
        let shown: SelectionResult.KeptFile
        /// True if the task stays, because the removal can be repeated.
        let keepsTask: Bool
    }

    /// The files of one directory are deleted with the rights of one owner.
    private struct Place: Hashable {
        let directory: String
        let owner: Owner
    }

    /// Also returns the tasks that stay.
    private func delete(
        _ published: [Published], tag: String
    ) async -> (files: SelectionResult.RemovedFiles, staying: Set<TaskID>) {
        var files = SelectionResult.RemovedFiles()
        var staying: Set<TaskID> = []
        for (place, all) in Dictionary(grouping: published, by: { Place(directory: $0.directory, owner: $0.owner) }) {
            let kept = await services.pool(of: place.owner, forPath: place.directory).run {
                [rights = services.rights] in
                Self.delete(all, in: place, tag: tag, rights)
            }
            staying.formUnion(kept.lazy.filter(\.keepsTask).map(\.shown.id))
            files.add(
                SelectionResult.RemovedFiles(
                    deleted: all.count - kept.count, kept: kept.map(\.shown), keptCount: kept.count))
        }
        files.kept.sort { $0.id < $1.id }
        return (files, staying)
    }

    private static func delete(
        _ all: [Published], in place: Place, tag: String, _ rights: OwnerRights
    ) -> [KeptFile] {
        let directory: DirectoryHandle
        do throws(FileError) {
            directory = try rights.roots(of: place.owner).open(directory: place.directory)
        } catch {
            // Without its directory the file is gone.
            if case .missing = error { return [] }
            return all.map { $0.kept("\(error)", keepsTask: true) }
        }
        var kept = all.compactMap { published -> KeptFile? in
            guard let file = published.file else {
                return published.kept("an earlier version published it and did not record which file it was")
            }
            do throws(FileError) {
                let removal = try directory.removePublished(
                    file, named: published.name, privateName: ".xfer-removing-\(tag)-\(published.id)",
                    digest: published.digest)
                switch removal {
                case .removed, .missing: return nil
                case .kept:
                    return published.kept("it is not the file that the task published: it was replaced or changed")
                case .unidentified:
                    return published.kept(
                        "its file system cannot prove that it is still the file that the task published, and the task "
                            + "has no checksum: delete it yourself")
                case .displaced(let name):
                    return published.kept(
                        "it is not the file that the task published; it was moved here, as another file took its name",
                        at: directory.path(of: name))
                }
            } catch {
                return published.kept("\(error)", keepsTask: true)
            }
        }
        do throws(FileError) {
            try directory.sync()
        } catch {
            // The deletions may not be durable, so that the tasks have to stay.
            let reported = Set(kept.map(\.shown.id))
            kept += all.filter { !reported.contains($0.id) }.map { $0.kept("\(error)", keepsTask: true) }
        }
        return kept
    }
}
