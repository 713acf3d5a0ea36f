public import XferModel

extension TransferTable where Store == StoreTransaction {
    public func insert(partial: PartialLocation, at time: Timestamp) throws(StoreError) -> Transfer {
        let tag = try tag()
        try connection.run(
            "INSERT INTO transfer (directory, device, inode, created_at, tag) VALUES (?1, ?2, ?3, ?4, ?5)",
            .text(partial.directory), Value(bits: partial.identity.device), Value(bits: partial.identity.inode),
            Value(time), .text(tag))
        return Transfer(id: TransferID(connection.lastInsertedID), tag: tag, partial: partial, createdAt: time)
    }

    public func update(resumeData data: ResumeData, of id: TransferID) throws(StoreError) {
        try connection.run(
            """
            UPDATE transfer SET etag = ?2, last_modified = ?3, date = ?4, total_length = ?5, content_encoding = ?6,
                final_url = ?7, selecting_headers = ?8, part_device = ?9, part_inode = ?10, part_born_at = ?11,
                part_generation = ?12, part_length = ?13, part_modified_at = ?14, media_type = ?15, doubt = ?16,
                doubt_count = ?17
            WHERE id = ?1
            """,
            Value(id), Value(data.validators.etag), Value(data.validators.lastModified), Value(data.validators.date),
            Value(data.totalLength), Value(data.contentEncoding), Value(data.finalURL?.string),
            Value(JSONText.encode(headers: data.selectingHeaders)), Value(bits: data.part?.mark.identity.device),
            Value(bits: data.part?.mark.identity.inode), Value(data.part?.mark.bornAt),
            Value(data.part?.mark.generation), Value(data.part?.rest?.length), Value(data.part?.rest?.modifiedAt),
            Value(data.mediaType), Value(data.doubt?.signature), Value(data.doubt?.count))
        try requireChange(of: id)
        try checkpoint(id, segments: data.segments)
        if data.segments.isEmpty { try beginVersion(of: id) }
    }

    /// Replaces the segments and no other columns, which is cheap enough for checkpoints.
    public func checkpoint(_ id: TransferID, segments: [Segment]) throws(StoreError) {
        try write(segments, of: id)
        let count = try connection.first("SELECT count(*) FROM segment WHERE transfer_id = ?1", Value(id)) {
            $0.integer(0)
        }
        guard count != Int64(segments.count) else { return }
        // Segments were split or joined, which is rare.
        try connection.run("DELETE FROM segment WHERE transfer_id = ?1", Value(id))
        try write(segments, of: id)
    }

    /// Stores the new place of the partial file.
    public func update(partial: PartialLocation, of id: TransferID) throws(StoreError) {
        try connection.run(
            "UPDATE transfer SET directory = ?2, device = ?3, inode = ?4 WHERE id = ?1",
            Value(id), .text(partial.directory), Value(bits: partial.identity.device),
            Value(bits: partial.identity.inode))
        try requireChange(of: id)
    }

    /// Stores the sources of the bytes.
    public func setSourceUse(_ use: SourceUse, of id: TransferID) throws(StoreError) {
        try connection.run(
            """
            UPDATE transfer SET source = ?2, senders = ?3, needs_digest = ?4, suspects = ?5, condemned = ?6
            WHERE id = ?1
            """,
            Value(id), Value(use.described), .integer(Int64(clamping: use.senders.bits)),
            .integer(use.unprovenFrom.map { min($0, .max - 1) + 1 } ?? 0),
            .integer(Int64(clamping: use.suspects.bits)), .integer(Int64(clamping: use.excluded.bits)))
        try requireChange(of: id)
    }

    /// Records the intent before the final rename, or nil when nothing is about to be published.
    public func setPublishIntent(_ intent: PublishIntent?, of id: TransferID) throws(StoreError) {
        try connection.run(
            """
            UPDATE transfer SET publish_name = ?2, publish_device = ?3, publish_inode = ?4, publish_born_at = ?5,
                publish_generation = ?6, publish_length = ?7, publish_modified_at = ?8, publish_changed_at = ?9,
                publish_digest = ?10
            WHERE id = ?1
            """,
            Value(id), Value(intent?.finalName), Value(bits: intent?.part.identity.device),
            Value(bits: intent?.part.identity.inode), Value(intent?.part.mark.bornAt),
            Value(intent?.part.mark.generation), Value(intent?.part.length), Value(intent?.part.modifiedAt),
            Value(intent?.part.changedAt), Value(intent?.digest?.description))
        try requireChange(of: id)
    }

    /// Removes the row and its segments; tasks that subscribed to it no longer do. Nothing happens when it is missing.
    public func delete(_ id: TransferID) throws(StoreError) {
        // A transfer rarely has subscribers here, and this query costs less than an update of no rows.
        let subscriber = try connection.first(
            "SELECT 1 FROM task INDEXED BY task_transfer WHERE transfer_id = ?1 LIMIT 1", Value(id)
        ) { _ in true }
        if subscriber != nil {
            try connection.run(
                "UPDATE task INDEXED BY task_transfer SET transfer_id = NULL WHERE transfer_id = ?1", Value(id))
        }
        try connection.run("DELETE FROM transfer WHERE id = ?1", Value(id))
    }

    /// The beginning of the names of this store's partial files.
    private func tag() throws(StoreError) -> String {
        if let tag = store.knownTag { return tag }
        let tag = try partTag()
        store.knownTag = tag
        return tag
    }

    private func write(_ segments: [Segment], of id: TransferID) throws(StoreError) {
        for segment in segments {
            do throws(StoreError) {
                try connection.run(
                    """
                    INSERT INTO segment (transfer_id, start, "end", committed) VALUES (?1, ?2, ?3, ?4)
                    ON CONFLICT DO UPDATE SET "end" = excluded."end", committed = excluded.committed
                    """,
                    Value(id), .integer(segment.start), Value(segment.end), .integer(segment.committed))
            } catch {
                throw error.isForeignKeyViolation ? .noSuchTransfer(id) : error
            }
        }
    }

    private func requireChange(of id: TransferID) throws(StoreError) {
        guard connection.changeCount > 0 else { throw .noSuchTransfer(id) }
    }
}
