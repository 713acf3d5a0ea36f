public import XferModel

/// Published files, and the version of their bytes.
extension StoreReader {
    /// The file a completed task published; nil when it published none, or was completed by an earlier version.
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

    /// The file that a task published last under this path, and whose task that was; nil when none did, or its row is gone.
    public func lastPublished(path: String) throws(StoreError) -> (owner: Owner, file: PublishedFile)? {
        try connection.first(
            """
            SELECT device, inode, born_at, generation, length, modified_at, version, task.owner
            FROM task INDEXED BY task_published JOIN published_file ON published_file.task_id = task.id
            WHERE task.state = 'completed' AND task.final_path = ?1 ORDER BY task.id DESC LIMIT 1
            """, .text(path)
        ) {
            (
                owner: Owner(uid: UInt32(truncatingIfNeeded: $0.integer(7))),
                file: PublishedFile(
                    mark: $0.mark(device: 0, inode: 1, bornAt: 2, generation: 3), length: $0.amount(4),
                    modifiedAt: $0.optionalInteger(5), version: $0.text(6))
            )
        }
    }

    /// A version that identifies the bytes of a transfer for ever. A file that a hook made of them has a `p` behind it.
    public func byteVersion(of transfer: TransferID) throws(StoreError) -> String {
        try connection.first(
            "SELECT origin || '.' || number FROM transfer_version WHERE transfer_id = ?1", Value(transfer)
        ) { $0.text(0) } ?? "\(transfer).0"
    }
}

extension StoreTransaction {
    /// The transfer's publish intent has been carried out for this task. Call it before the transfer is deleted.
    ///
    /// - Returns: whether the transfer's own bytes are still there, because a hook made the published file from a copy.
    ///   They can be removed, since no intent leads from them to the published file any more.
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
                (task_id, device, inode, length, born_at, generation, modified_at, version)
            SELECT ?1, publish_device, publish_inode, ?3, publish_born_at, publish_generation, publish_modified_at,
                coalesce(
                (SELECT origin || '.' || number FROM transfer_version WHERE transfer_id = transfer.id),
                transfer.id || '.0')
                || CASE WHEN EXISTS (SELECT 1 FROM ready_file WHERE task_id = ?1 AND is_processed AND inode IS NOT NULL)
                    THEN 'p' ELSE '' END
            FROM transfer WHERE id = ?2 AND publish_name IS NOT NULL
            """, Value(task), Value(transfer), .integer(length))
    }

    /// The transfer has a copy of the other's bytes.
    public func copyVersion(of other: TransferID, for transfer: TransferID) throws(StoreError) {
        try connection.run(
            """
            INSERT OR REPLACE INTO transfer_version (transfer_id, origin, number)
            SELECT ?2, origin, number FROM (
                SELECT origin, number FROM transfer_version WHERE transfer_id = ?1
                UNION ALL SELECT ?1, 0 LIMIT 1)
            """, Value(other), Value(transfer))
    }

    /// The transfer's bytes are dropped: the following ones are another version.
    func beginVersion(of id: TransferID) throws(StoreError) {
        try connection.run(
            """
            INSERT INTO transfer_version (transfer_id, origin, number) VALUES (?1, ?1, 1)
            ON CONFLICT DO UPDATE SET number = CASE WHEN origin = ?1 THEN number + 1 ELSE 1 END, origin = ?1
            """, Value(id))
    }
}
