public import XferModel

extension TransferTable where Store == StoreTransaction {
    /// Replaces the recorded servers that sent a transfer's kept bytes.
    public func setSources(_ sources: [SourceEvidence], of id: TransferID) throws(StoreError) {
        try connection.run("DELETE FROM transfer_source WHERE transfer_id = ?1", Value(id))
        for source in sources {
            do throws(StoreError) {
                try connection.run(
                    """
                    INSERT INTO transfer_source (transfer_id, scheme, host, port, chain, tls, judgement)
                    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
                    """,
                    Value(id), Value(source.origin.scheme), .text(source.origin.host),
                    Value(Int(clamping: source.origin.port)),
                    .text(source.chainText), Value(source.tls?.rawValue),
                    .text(source.judgement))
            } catch {
                throw error.isForeignKeyViolation ? .noSuchTransfer(id) : error
            }
        }
    }
}

extension TransferTable where Store == StoreTransaction {
    /// Adds an unknown source to transfers whose kept bytes were received over `https` without a recorded server: such
    /// bytes are no longer trusted.
    public func doubtUnrecordedSources() throws(StoreError) {
        try connection.run(
            """
            INSERT INTO transfer_source (transfer_id, scheme, host, port, chain, tls, judgement)
            SELECT id, 'https', 'the server', 443, '', NULL, '' FROM transfer
            WHERE NOT EXISTS (SELECT 1 FROM transfer_source WHERE transfer_id = transfer.id)
                AND EXISTS (SELECT 1 FROM segment WHERE transfer_id = transfer.id)
                AND (final_url LIKE 'https:%'
                    OR EXISTS (
                        SELECT 1 FROM task INDEXED BY task_transfer
                        WHERE task.transfer_id = transfer.id AND url LIKE 'https:%'))
            """)
    }
}

extension TransferTable {
    func sources(of id: TransferID) throws(StoreError) -> [SourceEvidence] {
        try connection.all(
            """
            SELECT scheme, host, port, chain, tls, judgement, id FROM transfer_source
            WHERE transfer_id = ?1 ORDER BY id
            """, Value(id)
        ) { row throws(StoreError) in
            try SourceEvidence(row, table: "transfer_source")
        }
    }
}

extension SourceEvidence {
    /// Reads a row with scheme, host, port, chain, tls, judgement, id.
    init(_ row: ResultRow, table: String) throws(StoreError) {
        guard let scheme = HTTPURL.Scheme(rawValue: row.text(0)), let port = UInt16(exactly: row.integer(2)) else {
            throw .unreadable(table: table, id: row.integer(6), column: "scheme or port")
        }
        // A certificate that cannot be decoded becomes an empty one, which no policy accepts.
        let chain = row.text(3).split(separator: " ").map { Base64.decode($0) ?? [] }
        self.init(
            origin: Origin(scheme: scheme, host: row.text(1), port: port), chain: chain,
            tls: row.optionalText(4).flatMap { TLSVersion(rawValue: $0) }, judgement: row.text(5))
    }

    /// The stored form of the chain: DER as base64, leaf first, with spaces between.
    var chainText: String { chain.map { Base64.encode($0) }.joined(separator: " ") }
}
