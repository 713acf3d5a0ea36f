public import XferModel

/// The transfers: `transfer`, with their segments, sources, versions and uploads.
public struct TransferTable<Store: StoreReader>: StoreTable {
    public let store: Store

    public func find(_ id: TransferID) throws(StoreError) -> Transfer? {
        let found = try connection.first(TransferRow.query, Value(id)) { row throws(StoreError) in
            try TransferRow(row).transfer()
        }
        guard var transfer = found else { return nil }
        transfer.resumeData.segments = try segments(of: id)
        transfer.sources = try sources(of: id)
        return transfer
    }

    /// Transfers to which at most cancelled tasks still subscribe, with ids above `after`, ascending: their files can
    /// be deleted.
    public func orphans(
        after: TransferID? = nil, upTo last: TransferID? = nil, limit: Int
    ) throws(StoreError) -> [Transfer] {
        let ids = try connection.all(
            """
            SELECT id FROM transfer WHERE id > ?1 AND id <= ?3
                AND NOT EXISTS (
                    SELECT 1 FROM task INDEXED BY task_transfer
                    WHERE transfer_id = transfer.id AND state <> 'cancelled')
            ORDER BY id LIMIT ?2
            """,
            .integer(after?.rawValue ?? 0), Value(limit), .integer(last?.rawValue ?? .max)
        ) { TransferID($0.integer(0)) }
        var transfers: [Transfer] = []
        for id in ids { if let transfer = try find(id) { transfers.append(transfer) } }
        return transfers
    }

    /// True if the partial file of a transfer lies in this directory. Reads all transfers.
    public func hasAny(in directory: String) throws(StoreError) -> Bool {
        try connection.first("SELECT 1 FROM transfer WHERE directory = ?1 LIMIT 1", .text(directory)) { _ in true }
            ?? false
    }

    /// The tag that distinguishes this store's working files from another's.
    public func partTag() throws(StoreError) -> String {
        try connection.first("SELECT substr(id, 1, 8) FROM store") { $0.text(0) } ?? ""
    }

    /// The highest id a transfer ever had.
    public func lastID() throws(StoreError) -> TransferID {
        TransferID(
            try connection.first("SELECT seq FROM sqlite_sequence WHERE name = 'transfer'") { $0.integer(0) } ?? 0)
    }

    /// Transfers whose bytes tasks with this key keep, the oldest first.
    public func list(keptUnder key: [UInt8], limit: Int) throws(StoreError) -> [Transfer] {
        let ids = try connection.all(
            """
            SELECT DISTINCT transfer_id FROM task INDEXED BY task_sharing
            WHERE coalesce_key = ?1 AND coalesce_key IS NOT NULL AND transfer_id IS NOT NULL AND state <> 'cancelled'
            ORDER BY transfer_id LIMIT ?2
            """, .blob(key), Value(limit)
        ) { TransferID($0.integer(0)) }
        var transfers: [Transfer] = []
        for id in ids { if let transfer = try find(id) { transfers.append(transfer) } }
        return transfers
    }

    /// True if any task uses this transfer: a task in any state but cancelled.
    ///
    /// - Parameter task: is not counted.
    public func isUsed(_ transfer: TransferID, but task: TaskID? = nil) throws(StoreError) -> Bool {
        try connection.first(
            """
            SELECT 1 FROM task INDEXED BY task_transfer
            WHERE transfer_id = ?1 AND id IS NOT ?2 AND state <> 'cancelled' LIMIT 1
            """, Value(transfer), Value(task)
        ) { _ in true } ?? false
    }

    func segments(of id: TransferID) throws(StoreError) -> [Segment] {
        try connection.all(
            "SELECT start, \"end\", committed FROM segment WHERE transfer_id = ?1 ORDER BY start", Value(id)
        ) { Segment(start: $0.amount(0), end: $0.optionalAmount(1), committed: $0.amount(2)) }
    }
}

/// A row of `transfer`.
struct TransferRow {
    /// The columns of the statement; a row's values are read by their index in it.
    static let query: StaticString = """
        SELECT id, directory, device, inode, etag, last_modified, date, total_length, content_encoding, final_url,
        selecting_headers, publish_name, publish_device, publish_inode, created_at, tag, source, senders, needs_digest,
        suspects, condemned, part_device, part_inode, part_born_at, part_generation, part_length, part_modified_at,
        publish_born_at, publish_generation, publish_length, publish_modified_at, publish_changed_at, publish_digest,
        media_type, doubt, doubt_count
        FROM transfer WHERE id = ?1
        """

    private let row: ResultRow

    init(_ row: ResultRow) { self.row = row }

    /// Reads a transfer without its segments, which have a table of their own.
    func transfer() throws(StoreError) -> Transfer {
        var data = ResumeData(
            validators: Validators(
                etag: row.optionalText(4), lastModified: row.optionalText(5), date: row.optionalText(6)),
            totalLength: row.optionalAmount(7), contentEncoding: row.optionalText(8))
        if let url = row.optionalText(9) { data.finalURL = try decoded(HTTPURL(stored: url), "final_url") }
        data.part = part
        data.mediaType = row.optionalText(33)
        data.doubt = row.optionalText(34).map { AnswerDoubt(signature: $0, count: Int(clamping: row.amount(35))) }
        data.selectingHeaders = try decoded(JSONText.decodeHeaders(row.optionalText(10)), "selecting_headers")
        var transfer = Transfer(
            id: TransferID(row.integer(0)), tag: row.text(15),
            partial: PartialLocation(
                directory: row.text(1), identity: FileIdentity(device: row.bits(2), inode: row.bits(3))),
            resumeData: data, createdAt: row.time(14))
        transfer.sourceUse = SourceUse(
            described: Int(clamping: row.integer(16)), senders: row.sources(17),
            // One more than the offset. Older rows have 1, and do not know it.
            unprovenFrom: row.amount(18) > 0 ? row.amount(18) - 1 : nil,
            suspects: row.sources(19), excluded: row.sources(20))
        if let name = row.optionalText(11) { transfer.publishIntent = try intent(name) }
        return transfer
    }

    private var part: PartRecord? {
        guard !row.isNull(22) else { return nil }
        var record = PartRecord(mark: row.mark(device: 21, inode: 22, bornAt: 23, generation: 24))
        if let length = row.optionalInteger(25), let modifiedAt = row.optionalInteger(26) {
            record.rest = PartRecord.Rest(length: length, modifiedAt: modifiedAt)
        }
        return record
    }

    private func intent(_ name: String) throws(StoreError) -> PublishIntent {
        // An intent of an earlier version has no length: no file is it.
        let facts = FileFacts(
            mark: row.mark(device: 12, inode: 13, bornAt: 27, generation: 28), length: row.optionalInteger(29) ?? -1,
            modifiedAt: row.integer(30), changedAt: row.integer(31))
        guard let digest = row.optionalText(32) else { return PublishIntent(finalName: name, part: facts) }
        return PublishIntent(
            finalName: name, part: facts, digest: try decoded(try? Checksum(parsing: digest), "publish_digest"))
    }

    private func decoded<T>(_ value: T?, _ column: String) throws(StoreError) -> T {
        guard let value else { throw .unreadable(table: "transfer", id: row.integer(0), column: column) }
        return value
    }
}

extension ResultRow {
    /// The identity of the file that some columns describe.
    func mark(device: Int32, inode: Int32, bornAt: Int32, generation: Int32) -> FileMark {
        FileMark(
            identity: FileIdentity(device: bits(device), inode: bits(inode)), bornAt: optionalInteger(bornAt),
            generation: optionalInteger(generation).map { UInt32(truncatingIfNeeded: $0) })
    }

    fileprivate func sources(_ column: Int32) -> SourceSet {
        SourceSet(bits: UInt16(truncatingIfNeeded: integer(column)))
    }
}
