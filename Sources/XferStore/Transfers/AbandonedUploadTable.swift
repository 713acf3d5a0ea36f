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

/// The abandoned uploads: `abandoned_upload`.
public struct AbandonedUploadTable<Store: StoreReader>: StoreTable {
    public let store: Store

    /// Uploads whose servers may be notified now, the longest due first.
    public func due(now: Timestamp, limit: Int) throws(StoreError) -> [AbandonedUpload] {
        try connection.all(
            """
            SELECT id, task_id, upload_url, abandoned_at, attempts, owner, url, options, policy, profile
            FROM abandoned_upload WHERE next_try_at <= ?1 ORDER BY next_try_at, id LIMIT ?2
            """, Value(now), Value(limit)
        ) { row throws(StoreError) in try AbandonedUpload(row) }
    }

    /// The earliest time at which an entry that is not due yet becomes due.
    public func next(after now: Timestamp) throws(StoreError) -> Timestamp? {
        try connection.first("SELECT min(next_try_at) FROM abandoned_upload WHERE next_try_at > ?1", Value(now)) {
            $0.optionalTime(0)
        } ?? nil
    }
}

extension AbandonedUploadTable where Store == StoreTransaction {
    /// Records that the task is cancelled, and its server has to delete the upload. Nothing happens when there is no
    /// upload resource, or when this is recorded already.
    public func add(of task: TransferTask, at now: Timestamp) throws(StoreError) {
        guard let transfer = task.transferID else { return }
        let parts = try store.transfers.uploadParts(of: transfer).sorted { $0.key < $1.key }
        let resources = [try store.transfers.upload(of: transfer)].compactMap(\.self) + parts.map(\.value)
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
        try store.transfers.setUpload(nil, of: transfer)
        for (part, _) in parts { try store.transfers.setUploadPart(nil, part, of: transfer) }
    }

    /// Records a failed attempt; the next one follows at `time`.
    public func postpone(_ id: Int64, until time: Timestamp) throws(StoreError) {
        try connection.run(
            "UPDATE abandoned_upload SET attempts = attempts + 1, next_try_at = ?2 WHERE id = ?1", .integer(id),
            Value(time))
    }

    /// Removes the upload: its server is notified, or no further request will be made.
    public func remove(_ id: Int64) throws(StoreError) {
        try connection.run("DELETE FROM abandoned_upload WHERE id = ?1", .integer(id))
    }
}

extension AbandonedUpload {
    /// The columns that `init(_:)` reads.
    static let columns =
        "id, task_id, upload_url, abandoned_at, attempts, owner, url, options, policy, profile"

    init(_ row: ResultRow) throws(StoreError) {
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
        self.init(
            id: id, taskID: TaskID(row.integer(1)), url: try decoded(HTTPURL(stored: row.text(2)), "upload_url"),
            specification: specification, abandonedAt: row.time(3), attempts: Int(clamping: row.amount(4)))
    }
}
