public import XferModel

extension StoreReader {
    public func transfer(_ id: TransferID) throws(StoreError) -> Transfer? {
        let found = try connection.first("SELECT * FROM transfer WHERE id = ?1", Value(id)) { row throws(StoreError) in
            try TransferRow(row).transfer()
        }
        guard var transfer = found else { return nil }
        transfer.resumeData.segments = try segments(of: id)
        transfer.sources = try sources(of: id)
        return transfer
    }

    /// Transfers that no task subscribes to any more but cancelled ones, with ids above `after`, ascending: their files can
    /// go.
    public func orphanedTransfers(after: TransferID? = nil, limit: Int) throws(StoreError) -> [Transfer] {
        let ids = try connection.all(
            """
            SELECT id FROM transfer WHERE id > ?1
                AND NOT EXISTS (
                    SELECT 1 FROM task INDEXED BY task_transfer
                    WHERE transfer_id = transfer.id AND state <> 'cancelled')
            ORDER BY id LIMIT ?2
            """,
            .integer(after?.rawValue ?? 0), Value(limit)
        ) { TransferID($0.integer(0)) }
        var transfers: [Transfer] = []
        for id in ids { if let transfer = try transfer(id) { transfers.append(transfer) } }
        return transfers
    }

    func segments(of id: TransferID) throws(StoreError) -> [Segment] {
        try connection.all(
            "SELECT start, \"end\", committed FROM segment WHERE transfer_id = ?1 ORDER BY start", Value(id)
        ) { Segment(start: $0.integer(0), end: $0.optionalInteger(1), committed: $0.integer(2)) }
    }
}

/// A row of `transfer` read with `SELECT *`: columns in the order of the table, migrations add at the end.
struct TransferRow {
    private let row: ResultRow

    init(_ row: ResultRow) { self.row = row }

    /// Without its segments, which have a table of their own.
    func transfer() throws(StoreError) -> Transfer {
        var data = ResumeData(
            validators: Validators(
                etag: row.optionalText(4), lastModified: row.optionalText(5), date: row.optionalText(6)),
            totalLength: row.optionalInteger(7), contentEncoding: row.optionalText(8))
        if let url = row.optionalText(9) { data.finalURL = try decoded(HTTPURL(stored: url), "final_url") }
        data.selectingHeaders = try decoded(JSONText.decodeHeaders(row.optionalText(10)), "selecting_headers")
        var transfer = Transfer(
            id: TransferID(row.integer(0)), tag: row.text(15),
            partial: PartialLocation(
                directory: row.text(1), identity: FileIdentity(device: row.bits(2), inode: row.bits(3))),
            resumeData: data, createdAt: row.time(14))
        transfer.sourceUse = SourceUse(
            described: Int(row.integer(16)), senders: row.sources(17),
            // One more than the offset. Older rows have 1, and do not know it.
            unprovenFrom: row.integer(18) > 0 ? row.integer(18) - 1 : nil,
            suspects: row.sources(19), condemned: row.sources(20))
        if let name = row.optionalText(11) {
            transfer.publishIntent = PublishIntent(
                finalName: name, part: FileIdentity(device: row.bits(12), inode: row.bits(13)))
        }
        return transfer
    }

    private func decoded<T>(_ value: T?, _ column: String) throws(StoreError) -> T {
        guard let value else { throw .unreadable(table: "transfer", id: row.integer(0), column: column) }
        return value
    }
}

extension ResultRow {
    fileprivate func sources(_ column: Int32) -> SourceSet {
        SourceSet(bits: UInt16(truncatingIfNeeded: integer(column)))
    }
}
