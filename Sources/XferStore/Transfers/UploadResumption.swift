public import XferModel

/// What is known about an upload that a server keeps the beginning of.
extension StoreReader {
    /// Nil before the server made an upload resource, and for all that are no resumable uploads.
    public func upload(of id: TransferID) throws(StoreError) -> UploadResumeData? {
        try connection.first(
            "SELECT url, \"offset\", expires_at, largest_append FROM upload WHERE transfer_id = ?1", Value(id)
        ) { row throws(StoreError) in
            guard let url = HTTPURL(stored: row.text(0)) else {
                throw .unreadable(table: "upload", id: id.rawValue, column: "url")
            }
            return UploadResumeData(
                url: url, offset: row.amount(1), expiresAt: row.optionalTime(2), largestAppend: row.optionalAmount(3))
        }
    }
}

extension StoreTransaction {
    /// Nil forgets the upload resource: the next attempt makes a new one.
    public func setUpload(_ data: UploadResumeData?, of id: TransferID) throws(StoreError) {
        guard let data else {
            return try connection.run("DELETE FROM upload WHERE transfer_id = ?1", Value(id))
        }
        try connection.run(
            """
            INSERT OR REPLACE INTO upload (transfer_id, url, "offset", expires_at, largest_append)
            VALUES (?1, ?2, ?3, ?4, ?5)
            """, Value(id), .text(data.url.string), .integer(data.offset), Value(data.expiresAt),
            Value(data.largestAppend))
    }
}
