import XferModel

/// `task`'s columns in the order of the table, for rows read with `SELECT *`. Migrations add at the end.
enum TaskColumn: Int32, CaseIterable {
    case id, owner, kind, state, wait_reason, wait_until, priority, host, group_name, label, moved_rank, rank
    case client_key, fingerprint, transfer_id, received, total, attempts
    case created_at, started_at, finished_at, last_progress_at
    case url, directory, name, checksum, options, meta
    case error_reason, error, final_path, final_url, http_status, etag, content_encoding, skipped, not_modified
    case response_headers, furthest, directory_device, directory_inode
    case policy
    case sent, profile
    case slot
    case coalesce_key
    case group_id, batch_id
    case last_attempt
}

/// A row of `task`, read into the model.
struct TaskRow {
    private let row: ResultRow

    init(_ row: ResultRow) { self.row = row }

    func task() throws(StoreError) -> TransferTask {
        var task = TransferTask(
            id: TaskID(integer(.id)), specification: try specification(), state: try word(.state),
            rank: integer(.rank), createdAt: row.time(TaskColumn.created_at.rawValue))
        if !row.isNull(TaskColumn.wait_reason.rawValue) {
            task.wait = Wait(try word(.wait_reason), until: time(.wait_until))
        }
        if let error = text(.error) {
            task.error = try decoded(JSONText.decode(TransferError.self, from: error), .error)
        }
        task.transferID = row.optionalInteger(TaskColumn.transfer_id.rawValue).map { TransferID($0) }
        task.batchID = row.optionalInteger(TaskColumn.batch_id.rawValue).map { BatchID($0) }
        task.attempts = Int(clamping: amount(.attempts))
        task.furthest = amount(.furthest)
        task.lastProgressAt = time(.last_progress_at)
        task.outcome = try outcome()
        task.startedAt = time(.started_at)
        task.finishedAt = time(.finished_at)
        task.received = amount(.received)
        task.sent = amount(.sent)
        task.total = row.optionalAmount(TaskColumn.total.rawValue)
        task.coalesceKey = row.optionalBlob(TaskColumn.coalesce_key.rawValue)
        return task
    }

    private func specification() throws(StoreError) -> TaskSpecification {
        let url = try decoded(HTTPURL(stored: row.text(TaskColumn.url.rawValue)), .url)
        var specification = TaskSpecification(
            owner: Owner(uid: UInt32(truncatingIfNeeded: integer(.owner))), request: TransferRequest(url: url),
            destination: Destination(directory: row.text(TaskColumn.directory.rawValue), name: text(.name)),
            kind: try word(.kind),
            priority: try decoded(Priority(rawValue: Int(clamping: integer(.priority))), .priority),
            group: text(.group_name), label: text(.label), clientKey: text(.client_key), meta: text(.meta),
            policy: text(.policy), profile: text(.profile), slot: text(.slot))
        if let device = row.optionalInteger(TaskColumn.directory_device.rawValue),
            let inode = row.optionalInteger(TaskColumn.directory_inode.rawValue)
        {
            specification.destination.directoryIdentity = FileIdentity(
                device: UInt64(bitPattern: device), inode: UInt64(bitPattern: inode))
        }
        if let checksum = text(.checksum) {
            specification.checksum = try decoded(try? Checksum(parsing: checksum), .checksum)
        }
        if let options = text(.options) {
            specification = try decoded(TaskOptions.apply(options, to: specification), .options)
        }
        return specification
    }

    private func outcome() throws(StoreError) -> TaskOutcome {
        var outcome = TaskOutcome()
        outcome.finalPath = text(.final_path)
        if let url = text(.final_url) { outcome.finalURL = try decoded(HTTPURL(stored: url), .final_url) }
        outcome.httpStatus = row.optionalInteger(TaskColumn.http_status.rawValue).map { Int(clamping: $0) }
        outcome.etag = text(.etag)
        outcome.contentEncoding = text(.content_encoding)
        outcome.skipped = row.flag(TaskColumn.skipped.rawValue)
        outcome.notModified = row.flag(TaskColumn.not_modified.rawValue)
        outcome.responseHeaders = try decoded(
            JSONText.decodeHeaders(text(.response_headers)), .response_headers)
        outcome.lastAttempt = text(.last_attempt).flatMap(AttemptTrace.init(text:))
        return outcome
    }

    private func integer(_ column: TaskColumn) -> Int64 { row.integer(column.rawValue) }
    private func amount(_ column: TaskColumn) -> Int64 { row.amount(column.rawValue) }
    private func text(_ column: TaskColumn) -> String? { row.optionalText(column.rawValue) }
    private func time(_ column: TaskColumn) -> Timestamp? { row.optionalTime(column.rawValue) }

    private func word<T: RawRepresentable<String>>(_ column: TaskColumn) throws(StoreError) -> T {
        try decoded(T(rawValue: row.text(column.rawValue)), column)
    }

    private func decoded<T>(_ value: T?, _ column: TaskColumn) throws(StoreError) -> T {
        guard let value else { throw .unreadable(table: "task", id: integer(.id), column: "\(column)") }
        return value
    }
}

extension HTTPURL {
    /// Parses the text of `string`, which is normalised: it has no user info, no fragment and no default port.
    init?(stored text: String) {
        var text = text
        let parsed = text.withUTF8 { bytes -> HTTPURL? in
            guard let scheme = Scheme.allCases.first(where: { bytes.starts(with: "\($0.rawValue)://".utf8) }) else {
                return nil
            }
            let start = scheme.rawValue.utf8.count + 3
            guard let slash = bytes[start...].firstIndex(of: UInt8(ascii: "/")) else { return nil }
            // A colon within brackets belongs to an IPv6 literal.
            let mark = bytes[start..<slash].lastIndex { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "]") }
            let colon = mark.flatMap { bytes[$0] == UInt8(ascii: ":") ? $0 : nil }
            func word(_ range: Range<Int>) -> String {
                String(decoding: UnsafeBufferPointer(rebasing: bytes[range]), as: UTF8.self)
            }
            var port: UInt16? = scheme.defaultPort
            if let colon { port = UInt16(word(colon + 1..<slash), radix: 10) }
            guard let port else { return nil }
            return HTTPURL(
                scheme: scheme, host: word(start..<(colon ?? slash)), port: port, target: word(slash..<bytes.count))
        }
        guard let parsed else { return nil }
        self = parsed
    }
}
