public import XferModel

/// A task to be inserted, with the values of its row. They are prepared before the write, since other callers wait
/// while the database is written.
///
/// It is a class, so that copies share it: a specification has dozens of fields to copy.
public final class TaskInsertion: Sendable {
    public let body: RequestBody?
    public let requestText: String?
    fileprivate let task: CopyOnWrite<TaskSpecification>
    fileprivate let coalesceKey: [UInt8]?
    fileprivate let state: TaskState
    fileprivate let wait: Wait?
    fileprivate let columns: SpecificationColumns
    fileprivate let bodyText: String?
    fileprivate let fingerprint: Int64?

    /// - Parameters:
    ///   - body: the request's content, stored beside the row and read with `bodies.find(of:)`.
    ///   - requestText: the text of the client's add, for `TaskTable.earlierAdd`; without it the specification and
    ///     the body are compared.
    ///   - coalesceKey: the key that is equal for all tasks that may share a transfer.
    /// - Throws: `StoreError` when something cannot be stored.
    public init(
        _ specification: TaskSpecification, body: RequestBody? = nil, requestText: String? = nil,
        coalesceKey: [UInt8]? = nil, state: TaskState, wait: Wait? = nil
    ) throws(StoreError) {
        columns = try SpecificationColumns(specification)
        bodyText = if let body { try JSONText.encode(body) } else { nil }
        fingerprint =
            if specification.clientKey == nil {
                nil
            } else if let requestText {
                Fingerprint(requestText: requestText).value
            } else {
                try columns.fingerprint(of: specification, body)
            }
        task = CopyOnWrite(specification)
        self.body = body
        self.requestText = requestText
        self.coalesceKey = coalesceKey
        self.state = state
        self.wait = wait
    }

    /// Changes the group only.
    private init(_ other: TaskInsertion, inGroup group: String) throws(StoreError) {
        var (specification, columns) = (other.specification, other.columns)
        specification.group = group
        columns.group = .text(group)
        // The fingerprint includes the group, unless the client's own text is compared.
        let isAffected = specification.clientKey != nil && other.requestText == nil
        fingerprint =
            isAffected ? try columns.fingerprint(of: specification, other.body) : other.fingerprint
        task = CopyOnWrite(specification)
        self.columns = columns
        body = other.body
        bodyText = other.bodyText
        requestText = other.requestText
        coalesceKey = other.coalesceKey
        state = other.state
        wait = other.wait
    }

    public var specification: TaskSpecification { _read { yield task.value } }

    fileprivate var groupKey: GroupKey? { specification.group.map { GroupKey(owner: specification.owner, name: $0) } }

    /// A copy of the insertion with another specification.
    public func changing(
        specification: TaskSpecification? = nil, body: RequestBody? = nil
    ) throws(StoreError) -> TaskInsertion {
        try TaskInsertion(
            specification ?? self.specification, body: body ?? self.body, requestText: requestText,
            coalesceKey: coalesceKey, state: state, wait: wait)
    }

    /// The insertion of the task into a group.
    public func moved(toGroup group: String) throws(StoreError) -> TaskInsertion {
        try TaskInsertion(self, inGroup: group)
    }
}

extension TaskTable where Store == StoreTransaction {
    /// Inserts rows with the next ids, in order; a task's `rank` is `id << 20`. Inserting many at once costs half as
    /// much as inserting them one by one, since SQLite opens every index for each statement.
    ///
    /// - Parameter batch: the batch they are members of; see `batches.insert`.
    public func insert(
        _ insertions: [TaskInsertion], batch: BatchID? = nil, at time: Timestamp
    ) throws(StoreError) -> [TransferTask] {
        var tasks: [TransferTask] = []
        tasks.reserveCapacity(insertions.count)
        for share in statementShares(of: insertions.count) {
            try insert(ofOneStatement: insertions[share], batch, at: time) { tasks.append($0) }
        }
        return tasks
    }

    private func insert(
        ofOneStatement insertions: ArraySlice<TaskInsertion>, _ batch: BatchID?, at time: Timestamp,
        _ take: (TransferTask) -> Void
    ) throws(StoreError) {
        var values: [Value] = []
        values.reserveCapacity(insertions.count * TaskRowText.columns.count)
        var groups: [Int64] = []
        var bodies: [(text: String, index: Int)] = []
        for (index, insertion) in insertions.enumerated() {
            let group = try store.groups.make(insertion.groupKey)
            groups.append(group)
            if let body = insertion.bodyText { bodies.append((body, index)) }
            insertion.append(to: &values, group: group, batch: batch, at: time)
        }
        if insertions.count == 1 {
            try connection.run("one task", composed: TaskRowText.insertion(of: 1), values)
        } else {
            try connection.run("tasks", composed: TaskRowText.insertion(of: insertions.count), values)
        }
        let first = connection.lastInsertedID - Int64(insertions.count) + 1
        for (text, index) in bodies { try store.bodies.insert(text, of: TaskID(first + Int64(clamping: index))) }
        for (index, insertion) in insertions.enumerated() {
            let id = first + Int64(clamping: index)
            var task = TransferTask(
                id: TaskID(id), storedSpecification: insertion.task, state: insertion.state, rank: id << 20,
                createdAt: time)
            task.wait = insertion.wait
            task.coalesceKey = insertion.coalesceKey
            task.batchID = batch
            store.count(QueuePlace(of: task, inGroup: groups[index]), by: 1)
            let bytes = Int64(clamping: task.variableBytes)
            if bytes >= StoredKind.row.least { try store.storedBytes.set(bytes, .row, of: task.id) }
            take(task)
        }
    }
}

/// The text of an insertion into `task`.
private enum TaskRowText {
    static let columns = [
        "owner", "kind", "state", "wait_reason", "wait_until", "priority", "host", "group_name", "label", "client_key",
        "fingerprint", "created_at", "url", "directory", "name", "checksum", "options", "meta", "directory_device",
        "directory_inode", "policy", "profile", "slot", "coalesce_key", "group_id", "batch_id",
    ]

    static func insertion(of count: Int) -> String {
        "INSERT INTO task (\(columns.joined(separator: ", "))) VALUES \(rows(of: columns.count, count: count))"
    }
}

extension TaskInsertion {
    /// Appends one row's values, in the order of `TaskRowText.columns`.
    fileprivate func append(to values: inout [Value], group: Int64, batch: BatchID?, at time: Timestamp) {
        values.append(Value(specification.owner))
        values.append(Value(specification.kind))
        values.append(Value(state))
        values.append(Value(wait?.reason.rawValue))
        values.append(Value(wait?.until))
        values.append(columns.priority)
        values.append(columns.host)
        values.append(columns.group)
        values.append(columns.label)
        values.append(Value(specification.clientKey))
        values.append(Value(fingerprint))
        values.append(Value(time))
        values.append(columns.url)
        values.append(columns.directory)
        values.append(columns.name)
        values.append(columns.checksum)
        values.append(columns.options)
        values.append(columns.meta)
        values.append(columns.directoryDevice)
        values.append(columns.directoryInode)
        values.append(columns.policy)
        values.append(columns.profile)
        values.append(columns.slot)
        values.append(Value(coalesceKey))
        values.append(.integer(group))
        values.append(Value(batch))
    }
}

/// The number of rows that one statement inserts. Ten have most of the possible gain, and there are only two statements
/// to cache: for ten rows and for one.
let rowsOfOneStatement = 10

/// Splits `count` elements, in order, into the groups that one statement inserts: groups of ten, then single elements.
func statementShares(of count: Int) -> [Range<Int>] {
    let whole = count - count % rowsOfOneStatement
    return stride(from: 0, to: whole, by: rowsOfOneStatement).map { $0..<$0 + rowsOfOneStatement }
        + (whole..<count).map { $0..<$0 + 1 }
}

/// The parameters of `count` rows with this many columns, after `VALUES`.
func rows(of columns: Int, count: Int) -> String {
    let row = "(" + repeatElement("?", count: columns).joined(separator: ", ") + ")"
    return repeatElement(row, count: count).joined(separator: ", ")
}
