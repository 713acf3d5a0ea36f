public import XferModel

/// Complete files without a final name.
public struct ReadyFileTable<Store: StoreReader>: StoreTable {
    public let store: Store

    /// The file a task will publish, where it is not just its transfer's partial file.
    public func find(of id: TaskID) throws(StoreError) -> ReadyFile? {
        try connection.first(
            """
            SELECT name, final_name, is_processed, device, inode, length, modified_at, changed_at, digest, task_id,
                born_at, generation
            FROM ready_file WHERE task_id = ?1
            """, Value(id)
        ) { row throws(StoreError) in try ReadyFile(row) }
    }

    /// The names of the other files of a transfer, next to its partial file.
    public func names(of id: TransferID) throws(StoreError) -> [String] {
        try connection.all("SELECT name FROM ready_file WHERE transfer_id = ?1", Value(id)) { $0.text(0) }
    }

    /// Returns staged tasks whose commit may have been interrupted, with ids above `after`, ascending.
    public func interruptedCommits(after: TaskID? = nil, limit: Int) throws(StoreError) -> [TaskID] {
        try connection.all(
            """
            SELECT task.id FROM transfer INDEXED BY transfer_publishing JOIN task ON task.transfer_id = transfer.id
            WHERE transfer.publish_name IS NOT NULL AND task.state = 'staged' AND task.id > ?1
            ORDER BY task.id LIMIT ?2
            """, .integer(after?.rawValue ?? 0), Value(limit)
        ) { TaskID($0.integer(0)) }
    }
}

extension ReadyFileTable where Store == StoreTransaction {
    /// Records the file that the task will publish; the row is removed with the transfer.
    public func set(_ file: ReadyFile, of id: TaskID, transfer: TransferID) throws(StoreError) {
        let facts = file.facts
        do throws(StoreError) {
            try connection.run(
                """
                INSERT OR REPLACE INTO ready_file (task_id, transfer_id, name, final_name, is_processed, device, inode,
                    length, modified_at, changed_at, digest, born_at, generation)
                VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
                """,
                Value(id), Value(transfer), .text(file.name), .text(file.finalName), Value(file.isProcessed),
                Value(bits: facts?.identity.device), Value(bits: facts?.identity.inode), Value(facts?.length),
                Value(facts?.modifiedAt), Value(facts?.changedAt), Value(file.digest?.description),
                Value(facts?.mark.bornAt), Value(facts?.mark.generation))
        } catch {
            throw error.isForeignKeyViolation ? .noSuchTransfer(transfer) : error
        }
    }

    /// Removes the row: the file was removed, or the transfer's partial file is to be published again.
    public func remove(of id: TaskID) throws(StoreError) {
        try connection.run("DELETE FROM ready_file WHERE task_id = ?1", Value(id))
    }
}

extension ReadyFile {
    /// The columns that `init(_:)` reads.
    static let columns =
        "name, final_name, is_processed, device, inode, length, modified_at, changed_at, digest, task_id"

    init(_ row: ResultRow) throws(StoreError) {
        var file = ReadyFile(name: row.text(0), finalName: row.text(1), isProcessed: row.flag(2))
        if let length = row.optionalAmount(5), row.optionalInteger(4) != nil {
            file.facts = FileFacts(
                mark: row.mark(device: 3, inode: 4, bornAt: 10, generation: 11), length: length,
                modifiedAt: row.integer(6), changedAt: row.integer(7))
        }
        if let digest = row.optionalText(8) {
            guard let checksum = try? Checksum(parsing: digest) else {
                throw .unreadable(table: "ready_file", id: row.integer(9), column: "digest")
            }
            file.digest = checksum
        }
        self = file
    }
}
