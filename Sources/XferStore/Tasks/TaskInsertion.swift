public import XferModel

/// A task that is to be added. What its row holds can be made beforehand (`prepare`): others wait while the database is
/// being written.
public struct TaskInsertion: Sendable {
    /// Shared by copies: a specification has dozens of fields to copy.
    fileprivate var content: Content

    /// - Parameters:
    ///   - body: the request's content, kept beside the row and read with `body(of:)`.
    ///   - asked: what the client sent, for `earlierAdd`; without it the specification and the body stand for it.
    ///   - coalesceKey: what the tasks that may share a transfer with this one have, too.
    public init(
        _ specification: TaskSpecification, body: RequestBody? = nil, asked: String? = nil,
        coalesceKey: [UInt8]? = nil, state: TaskState, wait: Wait? = nil
    ) {
        content = Content(
            specification: specification, body: body, asked: asked, coalesceKey: coalesceKey, state: state, wait: wait)
    }

    public var specification: TaskSpecification { content.specification }
    public var body: RequestBody? { content.body }
    public var asked: String? { content.asked }

    /// Another one for what was changed; it has to be prepared again.
    public func changing(
        specification: TaskSpecification? = nil, body: RequestBody? = nil
    ) -> TaskInsertion {
        TaskInsertion(
            specification ?? content.specification, body: body ?? content.body, asked: content.asked,
            coalesceKey: content.coalesceKey, state: content.state, wait: content.wait)
    }

    /// Makes what the row holds; else that is done when it is written.
    public mutating func prepare() throws(StoreError) {
        content = Content(content, columns: try columns(), group: content.specification.group)
    }

    /// Puts the task into a group; it stays prepared.
    public mutating func move(toGroup group: String) {
        var columns = content.columns
        columns?.specification.group = .text(group)
        // The fingerprint is of the group, too, unless the client's own words stand for it.
        if content.specification.clientKey != nil, content.asked == nil { columns = nil }
        content = Content(content, columns: columns, group: group)
    }

    /// What is made of specification and body.
    struct Columns {
        var specification: SpecificationColumns
        let body: String?
        let fingerprint: Int64?
    }

    func columns() throws(StoreError) -> Columns {
        if let columns = content.columns { return columns }
        let specification = content.specification
        let columns = try SpecificationColumns(specification)
        let fingerprint: Int64? =
            if specification.clientKey == nil {
                nil
            } else if let asked {
                Fingerprint(asked: asked).value
            } else {
                try columns.fingerprint(of: specification, body)
            }
        let bodyText: String? = if let body { try JSONText.encode(body) } else { nil }
        return Columns(specification: columns, body: bodyText, fingerprint: fingerprint)
    }

    fileprivate final class Content: Sendable {
        let specification: TaskSpecification
        let body: RequestBody?
        let asked: String?
        let coalesceKey: [UInt8]?
        let state: TaskState
        let wait: Wait?
        let columns: Columns?

        init(
            specification: TaskSpecification, body: RequestBody?, asked: String?, coalesceKey: [UInt8]?,
            state: TaskState, wait: Wait?
        ) {
            self.specification = specification
            self.body = body
            self.asked = asked
            self.coalesceKey = coalesceKey
            self.state = state
            self.wait = wait
            columns = nil
        }

        init(_ other: Content, columns: Columns?, group: String?) {
            var specification = other.specification
            specification.group = group
            self.specification = specification
            body = other.body
            asked = other.asked
            coalesceKey = other.coalesceKey
            state = other.state
            wait = other.wait
            self.columns = columns
        }
    }
}

extension StoreTransaction {
    /// New rows with the next ids, in order; a task's `rank` is `id << 20`. Many at once cost little more than half of what
    /// they cost one by one: for each statement SQLite opens every index there is.
    ///
    /// - Parameter batch: the batch they are members of; see `insertBatch`.
    public func insertTasks(
        _ insertions: [TaskInsertion], batch: BatchID? = nil, at time: Timestamp
    ) throws(StoreError) -> [TransferTask] {
        var tasks: [TransferTask] = []
        tasks.reserveCapacity(insertions.count)
        for share in statementShares(of: insertions.count) {
            try insertTasks(ofOneStatement: insertions[share], batch, at: time) { tasks.append($0) }
        }
        return tasks
    }

    private func insertTasks(
        ofOneStatement insertions: ArraySlice<TaskInsertion>, _ batch: BatchID?, at time: Timestamp,
        _ take: (TransferTask) -> Void
    ) throws(StoreError) {
        var values: [Value] = []
        values.reserveCapacity(insertions.count * TaskRowText.columns.count)
        var groups: [Int64] = []
        var bodies: [(text: String, index: Int)] = []
        for (index, insertion) in insertions.enumerated() {
            let group = try makeGroup(insertion.content.groupKey)
            let columns = try insertion.columns()
            groups.append(group)
            if let body = columns.body { bodies.append((body, index)) }
            columns.append(to: &values, of: insertion.content, group: group, batch: batch, at: time)
        }
        if insertions.count == 1 {
            try connection.run("one task", composed: TaskRowText.insertion(of: 1), values)
        } else {
            try connection.run("tasks", composed: TaskRowText.insertion(of: insertions.count), values)
        }
        let first = connection.lastInsertedID - Int64(insertions.count) + 1
        for (text, index) in bodies { try insertBody(text, of: TaskID(first + Int64(index))) }
        for (index, insertion) in insertions.enumerated() {
            let (id, content) = (first + Int64(index), insertion.content)
            var task = TransferTask(
                id: TaskID(id), specification: content.specification, state: content.state, rank: id << 20,
                createdAt: time)
            task.wait = content.wait
            task.coalesceKey = content.coalesceKey
            task.batchID = batch
            count(QueuePlace(of: task, inGroup: groups[index]), by: 1)
            take(task)
        }
    }
}

extension TaskInsertion.Content {
    fileprivate var groupKey: GroupKey? { specification.group.map { GroupKey(owner: specification.owner, name: $0) } }
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
        to values: inout [Value], of task: TaskInsertion.Content, group: Int64, batch: BatchID?, at time: Timestamp
    ) {
        let columns = specification
        values += [
            Value(task.specification.owner), Value(task.specification.kind), Value(task.state),
            Value(task.wait?.reason.rawValue), Value(task.wait?.until), columns.priority, columns.host, columns.group,
            columns.label, Value(task.specification.clientKey), Value(fingerprint), Value(time), columns.url,
            columns.directory, columns.name, columns.checksum, columns.options, columns.meta, columns.directoryDevice,
            columns.directoryInode, columns.policy, columns.profile, columns.slot, Value(task.coalesceKey),
            .integer(group), Value(batch),
        ]
    }
}
