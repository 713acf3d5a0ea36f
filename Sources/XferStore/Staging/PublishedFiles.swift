public import XferModel

/// Published files, and the versions of their bytes.
extension StoreReader {
    /// The file that a completed task published. Nil if it published none, or if an earlier version of xferd completed
    /// it.
    public func publishedFile(of id: TaskID) throws(StoreError) -> PublishedFile? {
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
    public func publishedDigest(of id: TaskID) throws(StoreError) -> Checksum? {
        let text = try connection.first(
            "SELECT coalesce(digest, '') FROM published_file WHERE task_id = ?1", Value(id)
        ) { $0.text(0) }
        // A damaged digest is one that is not known.
        return text.flatMap { try? Checksum(parsing: $0) }
    }

    /// The file that was last published under this path, with its task and that task's owner. Nil if no task published
    /// one, or if the row was removed.
    public func lastPublished(path: String) throws(StoreError) -> (task: TaskID, owner: Owner, file: PublishedFile)? {
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

    /// A text that identifies the bytes of a transfer permanently. If a hook made a file from the bytes, the file's
    /// version has a `p` appended.
    public func byteVersion(of transfer: TransferID) throws(StoreError) -> String {
        try connection.first(
            "SELECT origin || '.' || number FROM transfer_version WHERE transfer_id = ?1", Value(transfer)
        ) { $0.text(0) } ?? "\(transfer).0"
    }
}

extension StoreTransaction {
    /// Records the task's published file after its publish intent was carried out. Call it before the transfer is
    /// deleted.
    ///
    /// - Returns: true if the transfer's own bytes still exist, because a hook made the published file from a copy. The
    ///   caller can then remove the bytes: the publish intent is cleared, so a recovery does not take them for the
    ///   published file.
    public func recordPublished(
        _ task: TransferTask, from transfer: TransferID, size: Int64
    ) throws(StoreError) -> Bool {
        try recordPublished(task.id, from: transfer, length: size)
        guard task.specification.completion.postProcess != nil else { return false }
        guard try readyFile(of: task.id)?.isProcessed == true else { return false }
        try setPublishIntent(nil, of: transfer)
        try removeReadyFile(of: task.id)
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
        if let known = try publishedDigest(of: task) { return known }
        try connection.run(
            "UPDATE published_file SET digest = ?2 WHERE task_id = ?1", Value(task), .text(digest.description))
        return try publishedDigest(of: task)
    }

    /// Records that the transfer has a copy of the bytes of `other`.
    public func copyVersion(of other: TransferID, for transfer: TransferID) throws(StoreError) {
        try connection.run(
            """
            INSERT OR REPLACE INTO transfer_version (transfer_id, origin, number)
            SELECT ?2, origin, number FROM (
                SELECT origin, number FROM transfer_version WHERE transfer_id = ?1
                UNION ALL SELECT ?1, 0 LIMIT 1)
            """, Value(other), Value(transfer))
    }

    /// Begins a new version after the transfer's bytes were dropped.
    func beginVersion(of id: TransferID) throws(StoreError) {
        try connection.run(
            """
            INSERT INTO transfer_version (transfer_id, origin, number) VALUES (?1, ?1, 1)
            ON CONFLICT DO UPDATE SET number = CASE WHEN origin = ?1 THEN number + 1 ELSE 1 END, origin = ?1
            """, Value(id))
    }
}
