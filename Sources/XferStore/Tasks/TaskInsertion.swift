public import XferModel

/// A task that is to be added. What its row holds can be made beforehand (`prepare`): others wait while the database is
/// being written.
public struct TaskInsertion: Sendable {
    /// What is asked for; whoever changes it has the row made again, by `prepare` or when it is written.
    public var specification: TaskSpecification {
        get { content }
        set {
            content = newValue
            prepared = nil
        }
    }
    /// The request's content, kept beside the row and read with `body(of:)`.
    public var body: RequestBody? { didSet { prepared = nil } }
    /// What the client sent, for `earlierAdd`; without it the specification and the body stand for it.
    public let asked: String?
    /// What the tasks that may share a transfer with this one have, too.
    public let coalesceKey: [UInt8]?
    public let state: TaskState
    public let wait: Wait?

    private var content: TaskSpecification
    private var prepared: Columns?

    public init(
        _ specification: TaskSpecification, body: RequestBody? = nil, asked: String? = nil,
        coalesceKey: [UInt8]? = nil, state: TaskState, wait: Wait? = nil
    ) {
        content = specification
        self.body = body
        self.asked = asked
        self.coalesceKey = coalesceKey
        self.state = state
        self.wait = wait
    }

    /// What is made of specification and body.
    struct Columns {
        var specification: SpecificationColumns
        let body: String?
        let fingerprint: Int64?
    }

    public mutating func prepare() throws(StoreError) { prepared = try columns() }

    /// Puts the task into another group.
    public mutating func move(toGroup group: String) {
        content.group = group
        // The fingerprint is of the group, too, unless the client's own words stand for it.
        if content.clientKey != nil, asked == nil { prepared = nil } else { prepared?.specification.group = .text(group) }
    }

    func columns() throws(StoreError) -> Columns {
        if let prepared { return prepared }
        let columns = try SpecificationColumns(content)
        let fingerprint: Int64? =
            if content.clientKey == nil {
                nil
            } else if let asked {
                Fingerprint(asked: asked).value
            } else {
                try columns.fingerprint(of: content, body)
            }
        let bodyText: String? = if let body { try JSONText.encode(body) } else { nil }
        return Columns(specification: columns, body: bodyText, fingerprint: fingerprint)
    }
}

extension StoreTransaction {
    /// New rows with the next ids, in order; a task's `rank` is `id << 20`. Many at once cost little more than half of what
    /// they cost one by one: for each statement SQLite opens every index there is.
    ///
    /// - Parameter batch: the batch they are members of; see `insertBatch`.
    public func insertTasks(
        _ insertions: some RandomAccessCollection<TaskInsertion>, batch: BatchID? = nil, at time: Timestamp
    ) throws(StoreError) -> [TransferTask] {
        var tasks: [TransferTask] = []
        tasks.reserveCapacity(insertions.count)
        for share in insertions.statementShares { tasks += try insertTasks(ofOneStatement: share, batch, at: time) }
        return tasks
    }

    /// A new row with the next id.
    public func insertTask(_ insertion: TaskInsertion, batch: BatchID? = nil, at time: Timestamp) throws(StoreError) -> TransferTask {
        try insertTasks(ofOneStatement: [insertion], batch, at: time)[0]
    }

    private func insertTasks(
        ofOneStatement insertions: [TaskInsertion], _ batch: BatchID?, at time: Timestamp
    ) throws(StoreError) -> [TransferTask] {
        var values: [Value] = []
        values.reserveCapacity(insertions.count * TaskRowText.columns.count)
        var groups: [Int64] = []
        var bodies: [(text: String, index: Int)] = []
        for (index, insertion) in insertions.enumerated() {
            let (specification, columns) = (insertion.specification, try insertion.columns())
            let group = try makeGroup(specification.group.map { GroupKey(owner: specification.owner, name: $0) })
            groups.append(group)
            if let body = columns.body { bodies.append((body, index)) }
            columns.append(to: &values, of: insertion, group: group, batch: batch, at: time)
        }
        if insertions.count == 1 {
            try connection.run("one task", composed: TaskRowText.insertion(of: 1), values)
        } else {
            try connection.run("tasks", composed: TaskRowText.insertion(of: insertions.count), values)
        }
        let first = connection.lastInsertedID - Int64(insertions.count) + 1
        for (text, index) in bodies { try insertBody(text, of: TaskID(first + Int64(index))) }
        var tasks: [TransferTask] = []
        tasks.reserveCapacity(insertions.count)
        for (index, insertion) in insertions.enumerated() {
            let id = first + Int64(index)
            var task = TransferTask(
                id: TaskID(id), specification: insertion.specification, state: insertion.state, rank: id << 20,
                createdAt: time)
            task.wait = insertion.wait
            task.coalesceKey = insertion.coalesceKey
            task.batchID = batch
            count(QueuePlace(of: task, inGroup: groups[index]), by: 1)
            tasks.append(task)
        }
        return tasks
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

extension TaskInsertion.Columns {
    /// One row's values, in the order of `TaskRowText.columns`.
    fileprivate func append(
        to values: inout [Value], of insertion: TaskInsertion, group: Int64, batch: BatchID?, at time: Timestamp
    ) {
        let (task, columns) = (insertion.specification, specification)
        values += [
            Value(task.owner), Value(task.kind), Value(insertion.state), Value(insertion.wait?.reason.rawValue),
            Value(insertion.wait?.until), columns.priority, columns.host, columns.group, columns.label,
            Value(task.clientKey), Value(fingerprint), Value(time), columns.url, columns.directory, columns.name,
            columns.checksum, columns.options, columns.meta, columns.directoryDevice, columns.directoryInode,
            columns.policy, columns.profile, columns.slot, Value(insertion.coalesceKey), .integer(group), Value(batch),
        ]
    }
}
