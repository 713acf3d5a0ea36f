public import XferModel

/// An upload of a cancelled task whose server has not been notified yet that the upload will not be continued.
public struct AbandonedUpload: Hashable, Sendable {
    public let id: Int64
    /// The task, which may have been removed.
    public let taskID: TaskID
    /// The upload resource.
    public let url: HTTPURL
    /// The parts of the task that decide the request to its server: owner, request, trust policy, profile and `upload`.
    public let specification: TaskSpecification
    public let abandonedAt: Timestamp
    /// The number of failed attempts.
    public let attempts: Int
}

extension StoreReader {
    /// Uploads whose servers may be notified now, the longest due first.
    public func dueAbandonedUploads(now: Timestamp, limit: Int) throws(StoreError) -> [AbandonedUpload] {
        try connection.all(
            """
            SELECT id, task_id, upload_url, abandoned_at, attempts, owner, url, options, policy, profile
            FROM abandoned_upload WHERE next_try_at <= ?1 ORDER BY next_try_at, id LIMIT ?2
            """, Value(now), Value(limit)
        ) { row throws(StoreError) in try Self.abandonedUpload(row) }
    }

    /// The earliest time at which an entry that is not due yet becomes due.
    public func nextAbandonedUpload(after now: Timestamp) throws(StoreError) -> Timestamp? {
        try connection.first("SELECT min(next_try_at) FROM abandoned_upload WHERE next_try_at > ?1", Value(now)) {
            $0.optionalTime(0)
        } ?? nil
    }

    /// The columns that `abandonedUpload(_:)` reads.
    static let abandonedUploadColumns =
        "id, task_id, upload_url, abandoned_at, attempts, owner, url, options, policy, profile"

    static func abandonedUpload(_ row: ResultRow) throws(StoreError) -> AbandonedUpload {
        let id = row.integer(0)
        func decoded<T>(_ value: T?, _ column: String) throws(StoreError) -> T {
            guard let value else { throw .unreadable(table: "abandoned_upload", id: id, column: column) }
            return value
        }
        var specification = TaskSpecification(
            owner: Owner(uid: UInt32(truncatingIfNeeded: row.integer(5))),
            request: TransferRequest(url: try decoded(HTTPURL(stored: row.text(6)), "url")),
            destination: Destination(directory: "/"), kind: .upload, policy: row.optionalText(8),
            profile: row.optionalText(9))
        if let options = row.optionalText(7) {
            specification = try decoded(TaskOptions.apply(options, to: specification), "options")
        }
        return AbandonedUpload(
            id: id, taskID: TaskID(row.integer(1)), url: try decoded(HTTPURL(stored: row.text(2)), "upload_url"),
            specification: specification, abandonedAt: row.time(3), attempts: Int(clamping: row.amount(4)))
    }
}

extension StoreTransaction {
    /// Records that the task is cancelled, and its server has to delete the upload. Nothing happens when there is no
    /// upload resource, or when this is recorded already.
    public func abandonUpload(of task: TransferTask, at now: Timestamp) throws(StoreError) {
        guard let transfer = task.transferID else { return }
        let parts = try uploadParts(of: transfer).sorted { $0.key < $1.key }
        let resources = [try upload(of: transfer)].compactMap(\.self) + parts.map(\.value)
        guard !resources.isEmpty else { return }
        let columns = try SpecificationColumns(task.specification)
        for data in resources {
            try connection.run(
                """
                INSERT OR IGNORE INTO abandoned_upload
                    (task_id, upload_url, abandoned_at, next_try_at, owner, url, options, policy, profile)
                VALUES (?1, ?2, ?3, ?3, ?4, ?5, ?6, ?7, ?8)
                """,
                Value(task.id), .text(data.url.string), Value(now), Value(task.owner), columns.url, columns.options,
                columns.policy, columns.profile)
        }
        try setUpload(nil, of: transfer)
        for (part, _) in parts { try setUploadPart(nil, part, of: transfer) }
    }

    /// Records a failed attempt; the next one follows at `time`.
    public func postponeAbandonedUpload(_ id: Int64, until time: Timestamp) throws(StoreError) {
        try connection.run(
            "UPDATE abandoned_upload SET attempts = attempts + 1, next_try_at = ?2 WHERE id = ?1", .integer(id),
            Value(time))
    }

    /// Removes the upload: its server is notified, or no further request will be made.
    public func forgetAbandonedUpload(_ id: Int64) throws(StoreError) {
        try connection.run("DELETE FROM abandoned_upload WHERE id = ?1", .integer(id))
    }
}

/// The state of an upload whose beginning a server keeps.
extension StoreReader {
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

extension StoreTransaction {
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
