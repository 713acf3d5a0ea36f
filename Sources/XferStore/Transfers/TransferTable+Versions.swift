public import XferModel

extension TransferTable {
    /// A text that identifies the bytes of a transfer permanently. If a hook made a file from the bytes, the file's
    /// version has a `p` appended.
    public func byteVersion(of transfer: TransferID) throws(StoreError) -> String {
        try connection.first(
            "SELECT origin || '.' || number FROM transfer_version WHERE transfer_id = ?1", Value(transfer)
        ) { $0.text(0) } ?? "\(transfer).0"
    }
}

extension TransferTable where Store == StoreTransaction {
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
