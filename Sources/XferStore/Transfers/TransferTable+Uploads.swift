public import XferModel

/// The state of an upload whose beginning a server keeps.
extension TransferTable {
    /// The state of the upload; nil before the server made an upload resource, and for all transfers that are no
    /// resumable uploads.
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

    /// The parts of an upload for which the server has made resources, by their places in the source.
    public func uploadParts(of id: TransferID) throws(StoreError) -> [Int: UploadResumeData] {
        let parts = try connection.all(
            """
            SELECT part, url, "offset", expires_at, largest_append FROM upload_part WHERE transfer_id = ?1
            """, Value(id)
        ) { row throws(StoreError) -> (Int, UploadResumeData) in
            guard let url = HTTPURL(stored: row.text(1)) else {
                throw .unreadable(table: "upload_part", id: id.rawValue, column: "url")
            }
            let data = UploadResumeData(
                url: url, offset: row.amount(2), expiresAt: row.optionalTime(3), largestAppend: row.optionalAmount(4))
            return (Int(clamping: row.amount(0)), data)
        }
        return Dictionary(parts) { $1 }
    }
}

extension TransferTable where Store == StoreTransaction {
    /// Stores the upload resource. Nil removes it: the next attempt makes a new one.
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

    /// Sets, as `setUpload` does, the resume data of a part of an upload that is sent in parts.
    public func setUploadPart(_ data: UploadResumeData?, _ part: Int, of id: TransferID) throws(StoreError) {
        guard let data else {
            return try connection.run(
                "DELETE FROM upload_part WHERE transfer_id = ?1 AND part = ?2", Value(id), Value(part))
        }
        try connection.run(
            """
            INSERT OR REPLACE INTO upload_part (transfer_id, part, url, "offset", expires_at, largest_append)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6)
            """, Value(id), Value(part), .text(data.url.string), .integer(data.offset), Value(data.expiresAt),
            Value(data.largestAppend))
    }
}
