import StrictJSON
import XferModel
import XferProtocol

/// The calls that hand the tasks over.
extension AddCommand {
    /// The options that were typed for fields of several options.
    private var typed: [String: String] {
        destination.usesRemoteName && destination.place.directory == nil ? ["dir": "-O"] : [:]
    }

    /// The directory of a download that no option chose, unless it is the working directory: the caller would look
    /// for the file there.
    private func place(of record: TaskRecord, _ paths: PathResolver) -> String? {
        guard !chosen.hasDestination, !chosen.isStandardOutput, record.kind?.value == .download, let dir = record.dir,
            dir != paths.workingDirectory
        else { return nil }
        return SafeText.sanitised(dir) + (paths.namesAreDaemons ? "" : " (-O: here)")
    }

    /// The line about the directory of several files that name none: the answer of the call has only their ids.
    func placeLines(of added: Added, _ paths: PathResolver) -> [String] {
        guard added.ids.count > 1, let id = added.placeless, !chosen.hasDestination, !options.output.json else {
            return []
        }
        var params = TaskGet.Params(id: id)
        params.fields = TaskColumns(["kind", "dir"])
        guard let answer = try? options.open().call(TaskGet.self, params),
            let place = place(of: answer.value.task, paths)
        else { return [] }
        return ["    \(added.isAllPlaceless ? "" : "those without dir= ")in \(place)"]
    }

    func add(
        _ template: TaskTemplate, _ list: InputList?, on terminal: Terminal
    ) throws(CommandFailure) -> Added {
        if let list { return try add(list, template) }
        let tasks = urls.map { template.task($0) }
        try DestinationClash.check(tasks.map { ListedTask($0, line: nil) })
        let daemon = try options.open(start)
        if tasks.count == 1 {
            let answer: DaemonSession.Answer<TaskAdd.Result>
            do throws(CommandFailure) {
                answer = try daemon.call(TaskAdd.self, .one(tasks[0]))
            } catch {
                throw error.namingOptions(typed: typed)
            }
            guard case .one(let one) = answer.value else { return Added(document: AddDocument.one(answer.raw)) }
            let place = wait ? nil : place(of: one.task, template.paths)
            return Added(
                ids: [one.task.id], document: AddDocument.one(answer.raw),
                lines: AddText.lines(one, in: place, style: terminal.style))
        }
        var added = TaskAdd.Many()
        for batch in TaskBatches(tasks) {
            do throws(CommandFailure) {
                let answer = try daemon.call(TaskAdd.self, .many(Array(batch)))
                guard case .many(let many) = answer.value else { continue }
                added.ids += many.ids
                added.seq = added.seq ?? many.seq
                added.existing += many.existing.map { batch.startIndex + $0 }
            } catch {
                if !added.ids.isEmpty {
                    options.show(.object(AddDocument.many(added)), AddText.lines(added, batch: tasks[...]))
                }
                throw error.namingOptions(typed: typed).naming(batch.startIndex, in: tasks, added: added.ids.count)
            }
        }
        // All calls together are one answer.
        let document = JSONValue.object(AddDocument.many(added))
        return Added(
            ids: added.ids, document: document, lines: AddText.lines(added, batch: tasks[...]),
            placeless: added.ids.first, fresh: AddedTasks(added, tasks))
    }

    private func add(_ list: InputList, _ template: TaskTemplate) throws(CommandFailure) -> Added {
        var tasks = urls.map { ListedTask(template.task($0), line: nil) }
        var outcome = ListAdder.Outcome()
        outcome.refused = list.refused
        tasks += template.tasks(of: list, refused: &outcome.refused)
        for warning in InputList.Remark.words(tasks.flatMap(\.warnings)) { Output.error.line("xferctl: \(warning)") }
        if atomic, !outcome.refused.isEmpty {
            outcome.report()
            throw CommandFailure(.refused, "nothing was added")
        }
        if atomic {
            try DestinationClash.check(tasks)
        } else {
            DestinationClash.removeLater(from: &tasks, refused: &outcome.refused)
        }
        if !verbosity.quiet { ExistingFiles.report(tasks.map(\.task), options.connection) }
        let daemon = try options.open(start)
        let adder = ListAdder(daemon: daemon)
        do throws(CommandFailure) {
            if atomic {
                try adder.addAtomically(tasks, &outcome)
            } else {
                try adder.add(tasks, &outcome)
            }
        } catch {
            guard !outcome.added.ids.isEmpty else { throw error }
            options.show(outcome.document, AddText.lines(outcome.added, batch: outcome.tasks[...]))
            outcome.report()
            throw CommandFailure(error.status, "\(error.message); \(outcome.added.ids.count) tasks were added before")
        }
        outcome.report()
        let isNothing = outcome.added.ids.isEmpty
        let placeless = zip(outcome.added.ids, outcome.tasks).first {
            $1.dir == nil && $1.output?.contains("/") != true
        }
        return Added(
            ids: outcome.added.ids, document: outcome.document,
            lines: isNothing ? [] : AddText.lines(outcome.added, batch: outcome.tasks[...]),
            placeless: placeless?.0, isAllPlaceless: outcome.tasks.allSatisfy { $0.dir == nil },
            refused: outcome.refused.count,
            fresh: AddedTasks(outcome.added, outcome.tasks))
    }

    /// The results of one or several calls.
    struct Added {
        var ids: [TaskID] = []
        /// The document for `--json`.
        let document: JSONValue
        var lines: [String] = []
        /// The first task whose file lies directly in the daemon's own directory.
        var placeless: TaskID?
        /// True if no task names a directory.
        var isAllPlaceless = true
        /// The number of lines of the list that were refused, and reported.
        var refused = 0
        /// The tasks to wait for.
        var fresh: AddedTasks?
        /// The refused lines of a list, in the form of the document; nil without any.
        var errors: JSONValue? { document["errors"] }

        /// Ends the command.
        ///
        /// - Throws: the exit status if lines were refused.
        func finish() throws(CommandFailure) {
            guard refused > 0 else { return }
            throw CommandFailure(.refused, ids.isEmpty ? "nothing was added" : "")
        }
    }
}
