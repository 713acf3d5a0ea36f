import XferManager
import XferModel
import XferProtocol

/// Makes records of tasks, with what only the running service knows of them.
struct TaskRecords: Sendable {
    let manager: TransferManager

    func records(of tasks: [TransferTask], _ columns: TaskColumns) async throws -> [TaskRecord] {
        let running = tasks.filter { $0.state == .running }.map(\.id)
        let progress = running.isEmpty ? [:] : await manager.progress(of: running)
        let resumable = columns.contains("resumable") ? try await manager.resumability(of: tasks) : [:]
        let segments = columns.contains("ranges") ? try await manager.segments(of: tasks) : [:]
        return tasks.map { task in
            TaskRecord(
                task, progress: progress[task.id], resumable: resumable[task.id], segments: segments[task.id] ?? []
            ).selecting(columns)
        }
    }
}
