public import XferModel

/// The files that completed tasks have published.
public struct PublishedFileTable<Store: StoreReader>: StoreTable {
    public let store: Store

    /// The file that a completed task published. Nil if it published none, or if an earlier version of xferd completed
    /// it.
    public func find(of id: TaskID) throws(StoreError) -> PublishedFile? {
        try connection.first(
            """
            SELECT device, inode, born_at, generation, length, modified_at, version FROM published_file
            WHERE task_id = ?1
            """, Value(id)
        ) {
            PublishedFile(
                mark: $0.mark(device: 0, inode: 1, bornAt: 2, generation: 3), length: $0.amount(4),
                modifiedAt: $0.optionalInteger(5), version: $0.text(6))
        }
    }

    /// The digest of the file that a task published: the one that was verified before, or the one that a later
    /// verification recorded. Nil if none is known.
    public func digest(of id: TaskID) throws(StoreError) -> Checksum? {
        let text = try connection.first(
            "SELECT coalesce(digest, '') FROM published_file WHERE task_id = ?1", Value(id)
        ) { $0.text(0) }
        // A damaged digest is one that is not known.
        return text.flatMap { try? Checksum(parsing: $0) }
    }

    /// The file that was last published under this path, with its task and that task's owner. Nil if no task published
    /// one, or if the row was removed.
    public func last(path: String) throws(StoreError) -> (task: TaskID, owner: Owner, file: PublishedFile)? {
        try connection.first(
            """
            SELECT device, inode, born_at, generation, length, modified_at, version, task.owner, task.id
            FROM task INDEXED BY task_published JOIN published_file ON published_file.task_id = task.id
            WHERE task.state = 'completed' AND task.final_path = ?1 ORDER BY task.id DESC LIMIT 1
            """, .text(path)
        ) {
            (
                task: TaskID($0.integer(8)),
                owner: Owner(uid: UInt32(truncatingIfNeeded: $0.integer(7))),
                file: PublishedFile(
                    mark: $0.mark(device: 0, inode: 1, bornAt: 2, generation: 3), length: $0.amount(4),
                    modifiedAt: $0.optionalInteger(5), version: $0.text(6))
            )
        }
    }
}

extension PublishedFileTable where Store == StoreTransaction {
    /// Records the task's published file after its publish intent was carried out. Call it before the transfer is
    /// deleted.
    ///
    /// - Returns: true if the transfer's own bytes still exist, because a hook made the published file from a copy. The
    ///   caller can then remove the bytes: the publish intent is cleared, so a recovery does not take them for the
    ///   published file.
    public func record(
        _ task: TransferTask, from transfer: TransferID, size: Int64
    ) throws(StoreError) -> Bool {
        try recordPublished(task.id, from: transfer, length: size)
        guard task.specification.completion.postProcess != nil else { return false }
        guard try store.readyFiles.find(of: task.id)?.isProcessed == true else { return false }
        try store.transfers.setPublishIntent(nil, of: transfer)
        try store.readyFiles.remove(of: task.id)
        return true
    }

    private func recordPublished(_ task: TaskID, from transfer: TransferID, length: Int64) throws(StoreError) {
        try connection.run(
            """
            INSERT OR REPLACE INTO published_file
                (task_id, device, inode, length, born_at, generation, modified_at, digest, version)
            SELECT ?1, publish_device, publish_inode, ?3, publish_born_at, publish_generation, publish_modified_at,
                publish_digest,
                coalesce(
                (SELECT origin || '.' || number FROM transfer_version WHERE transfer_id = transfer.id),
                transfer.id || '.0')
                || CASE WHEN EXISTS (SELECT 1 FROM ready_file WHERE task_id = ?1 AND is_processed AND inode IS NOT NULL)
                    THEN 'p' ELSE '' END
            FROM transfer WHERE id = ?2 AND publish_name IS NOT NULL
            """, Value(task), Value(transfer), .integer(length))
    }

    /// Records the digest of a task's published file, unless one is known.
    ///
    /// - Returns: the digest that is known now; nil if the task has published no file.
    public func recordDigest(_ digest: Checksum, of task: TaskID) throws(StoreError) -> Checksum? {
        if let known = try self.digest(of: task) { return known }
        try connection.run(
            "UPDATE published_file SET digest = ?2 WHERE task_id = ?1", Value(task), .text(digest.description))
        return try self.digest(of: task)
    }
}
