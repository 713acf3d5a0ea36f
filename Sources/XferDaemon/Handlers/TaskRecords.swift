import XferManager
import XferModel
import XferProtocol

/// Makes records of tasks, with the state that only the running service has.
struct TaskRecords: Sendable {
    let queries: TaskQueries

    /// The records of tasks.
    ///
    /// - Parameter findsWaits: true to look up the reasons for which queued tasks wait. An answer to `task.add` omits
    ///   them: clients add tasks by the thousand, and query the reasons later.
    func records(
        of tasks: [TransferTask], _ columns: TaskColumns, findsWaits: Bool = true
    ) async throws -> [TaskRecord] {
        let running = tasks.filter { $0.state == .running }.map(\.id)
        let progress = running.isEmpty ? [:] : await queries.progress(of: running)
        // A task without a transfer has no bytes that could be resumed.
        let mayResume = columns.contains("resumable") && tasks.contains { $0.transferID != nil }
        let resumable = mayResume ? try await queries.resumability(of: tasks) : [:]
        let segments = columns.contains("ranges") ? try await queries.segments(of: tasks) : [:]
        let staged = columns.contains("staged_file") ? try await queries.stagedFiles(of: tasks) : [:]
        let discards = columns.contains("discarded") ? try await queries.discards(of: tasks) : [:]
        let digests = columns.contains("digest") ? try await queries.publishedDigests(of: tasks) : [:]
        let problem = columns.contains("wait") ? queries.databaseProblem : nil
        let waits = findsWaits && columns.contains("wait") ? try await queries.waits(of: tasks) : [:]
        let traces = columns.contains("last_attempt") && !running.isEmpty ? await queries.traces(of: running) : [:]
        let showsFileSystem = columns.contains("file_system")
        let showsResponse = columns.contains("response_headers")
        return tasks.map { task in
            var shown = task
            // To find the secrets in them takes longer than all the rest.
            if !showsResponse { shown.outcome.responseHeaders.removeAll { !$0.name.isContentType } }
            var record = TaskRecord(
                shown, progress: progress[task.id], resumable: resumable[task.id], segments: segments[task.id] ?? [])
            if let trace = traces[task.id] { record.lastAttempt = AttemptRecord(trace) }
            record.stagedFile = staged[task.id].flatMap { StagedFileRecord($0.file, inDirectory: $0.directory) }
            record.discarded = discards[task.id].flatMap { DiscardRecord($0) }
            record.digest = digests[task.id]?.description
            if showsFileSystem { record.fileSystem = queries.fileSystem(of: task) }
            if let problem, Self.isStuck(task, isLive: progress[task.id] != nil) {
                record.wait = WaitRecord(Wait(.storage))
                record.wait?.detail = problem
            } else if let wait = waits[task.id] {
                record.wait = WaitRecord(wait)
            }
            return record.selecting(columns)
        }
    }

    /// True if the task does not run only because of the database, which its row does not show.
    private static func isStuck(_ task: TransferTask, isLive: Bool) -> Bool {
        task.state == .queued || task.state == .running && !isLive
    }
}

extension String {
    /// True for the only field that `TransferTask.warning` reads.
    fileprivate var isContentType: Bool { equalsIgnoringASCIICase("Content-Type") }
}
