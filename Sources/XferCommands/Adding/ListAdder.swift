import StrictJSON
import XferModel
import XferProtocol

/// Adds the tasks of an input list. A fault in one of them does not stop the others.
struct ListAdder {
    let daemon: DaemonSession

    /// The result of adding a list.
    struct Outcome {
        var added = TaskAdd.Many()
        /// The tasks that were added, in the order of their ids.
        var tasks: [NewTask] = []
        var refused: [InputList.Remark] = []

        /// Prints the refused lines to standard error. A fault that all lines have is printed once.
        func report() {
            let texts = Set(refused.map(\.text))
            guard refused.count > 1, texts.count == 1, let text = texts.first, added.ids.isEmpty else {
                for remark in refused.sorted(by: { $0.line ?? 0 < $1.line ?? 0 }) {
                    Output.error.line("xferctl: \(remark.words)")
                }
                return
            }
            Output.error.line("xferctl: all \(refused.count) URLs: \(text)")
        }

        /// The output for `--json`: the added tasks and the refused lines.
        var document: JSONValue {
            var object = AddDocument.many(added)
            if !refused.isEmpty {
                object["errors"] = .array(
                    refused.map { remark in
                        let line = remark.line.map { JSONValue.integer(Int64(clamping: $0)) } ?? .null
                        return ["line": line, "message": .string(remark.text)]
                    })
            }
            return .object(object)
        }
    }

    /// The number of tasks of the first call: their transfers begin while the others are admitted.
    private static let firstCount = 64

    /// Adds the tasks in calls of a size that lets the first ones run while the next are added.
    ///
    /// - Parameter outcome: the result so far, also after an error that does not belong to a single task.
    func add(_ tasks: [ListedTask], _ outcome: inout Outcome) throws(CommandFailure) {
        for batch in TaskBatches(tasks.map(\.task), first: Self.firstCount) {
            try addInOrder(tasks[batch.indices], &outcome)
        }
    }

    /// Adds all tasks in one call, or none.
    func addAtomically(_ tasks: [ListedTask], _ outcome: inout Outcome) throws(CommandFailure) {
        let params = TaskAdd.Params.many(tasks.map(\.task))
        guard tasks.count <= TaskLimits.batchSize, params.wire.text.utf8.count <= TaskBatches.largestMessage else {
            throw .usage(
                "--atomic: at most \(TaskLimits.batchSize) URLs and 3 MiB can be added in one step; split the list")
        }
        switch try daemon.attempt(TaskAdd.self, params) {
        case .success(let answer):
            guard case .many(let many) = answer.value else { return }
            (outcome.added, outcome.tasks) = (many, tasks.map(\.task))
        case .failure(let refusal): throw CommandFailure(.refused, refusal.words(tasks) + "; nothing was added")
        }
    }

    /// The number of lines that are removed from a refused call before it is halved. A call with many bad lines would
    /// be repeated too often.
    private static let mostRemoved = 8

    /// Adds the tasks. One refused task refuses its call: the call is repeated without the task that the refusal names.
    /// A call with many refused tasks is halved, and the halves are called one after the other. So the order of the
    /// list stays the order of the queue.
    private func addInOrder(_ listed: ArraySlice<ListedTask>, _ outcome: inout Outcome) throws(CommandFailure) {
        var tasks = Array(listed)
        var removed = 0
        while true {
            switch try daemon.attempt(TaskAdd.self, .many(tasks.map(\.task))) {
            case .success(let answer):
                guard case .many(let many) = answer.value else { return }
                outcome.added.existing += many.existing.map { outcome.added.ids.count + $0 }
                outcome.added.ids += many.ids
                outcome.added.seq = outcome.added.seq ?? many.seq
                outcome.tasks += tasks.map(\.task)
                return
            case .failure(let refusal):
                guard refusal.isAboutOneTask else { throw CommandFailure(refusal) }
                guard tasks.count > 1 else {
                    for listed in tasks { try addOne(listed, &outcome) }
                    return
                }
                // In a call without the other one, a task that has another's file would be added.
                if let fault = refusal.fault(in: tasks), fault.isOutput || removed < Self.mostRemoved {
                    outcome.refused.append(fault.remark)
                    tasks.remove(at: fault.index)
                    removed += 1
                    continue
                }
                let middle = tasks.count / 2
                try addInOrder(tasks[..<middle], &outcome)
                try addInOrder(tasks[middle...], &outcome)
                return
            }
        }
    }

    /// Adds a task by itself, so that the refusal contains the field and not `tasks[0]`.
    private func addOne(_ listed: ListedTask, _ outcome: inout Outcome) throws(CommandFailure) {
        switch try daemon.attempt(TaskAdd.self, .one(listed.task)) {
        case .success(let answer):
            guard case .one(let one) = answer.value else { return }
            if one.existing == true { outcome.added.existing.append(outcome.added.ids.count) }
            outcome.added.ids.append(one.task.id)
            outcome.added.seq = outcome.added.seq ?? one.seq
            outcome.tasks.append(listed.task)
        case .failure(let refusal):
            guard refusal.isAboutOneTask else { throw CommandFailure(refusal) }
            outcome.refused.append(listed.remark(CommandFailure(refusal).message, path: refusal.data?.path))
        }
    }
}

extension RPCFailure {
    /// True if others could be added all the same.
    fileprivate var isAboutOneTask: Bool {
        switch knownCode {
        case .invalidParams, .rejectedByPolicy, .conflict, .notFound, .invalidState, .permissionDenied: true
        default: false
        }
    }

    /// The refusal of a call with several tasks, with the line in place of `tasks[N]`.
    func words(_ tasks: [ListedTask]) -> String { fault(in: tasks)?.remark.words ?? CommandFailure(self).message }

    /// The task that a refusal of a call with several tasks names; nil if it names none.
    fileprivate func fault(in tasks: [ListedTask]) -> (index: Int, isOutput: Bool, remark: InputList.Remark)? {
        guard let path = data?.path, path.hasPrefix("tasks["), let close = path.firstIndex(of: "]"),
            let index = Int(path.dropFirst(6).prefix { $0 != "]" }, radix: 10), tasks.indices.contains(index)
        else { return nil }
        let field = String(path[path.index(after: close)...].drop { $0 == "." })
        let text = CommandFailure(self).message.replacing("tasks[\(index)].", with: "")
            .replacing("tasks[\(index)]: ", with: "")
        return (index, field == "output", tasks[index].remark(tasks.namingOther(in: text), path: field))
    }
}
