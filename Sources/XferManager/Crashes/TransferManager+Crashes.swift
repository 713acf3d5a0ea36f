import Glibc
import Logging
import XferCore
import XferFiles
import XferModel
import XferStore

/// A task that crashes the daemon does not do so for ever.
extension TransferManager {
    /// Ends without progress in which a task is named before it waits as a suspect.
    static let maxCrashes: Int64 = 2

    /// Key of the setting that names the last record that was counted.
    private static let countedRecord = "crash.counted"

    /// Reads what the last process left if a fatal signal ended it, lets suspects wait, and, in a daemon, begins to record
    /// for the next one. Nothing of this keeps the service from starting.
    func followCrashes() async {
        let length = CrashRecord.byteCount(tasks: InFlightTasks.capacity)
        do {
            let file = try CrashFile(in: stateDirectory)
            crashFile = file
            let record = CrashRecord(try file.read(limit: length))
            try await count(record)
            try file.clear(length: length)
            guard settings.recordsCrashes else { return }
            if let code = inFlight.record(to: file.descriptor) {
                logger.warning(
                    "fatal signals cannot be recorded", metadata: ["error": "\(String(cString: strerror(code)))"])
            }
        } catch {
            logger.warning("what a crash leaves cannot be read or recorded", metadata: ["error": "\(error)"])
        }
    }

    /// Counts the end against each task that was in flight, once, and lets those wait that were named in two without
    /// progress between them.
    private func count(_ record: CrashRecord?) async throws {
        let now = clock()
        let suspects = try await store.write { tx -> [TaskID] in
            try tx.forgetCrashesOfEndedTasks()
            guard let record, try tx.setting(Self.countedRecord) != record.token else { return [] }
            try tx.setSetting(Self.countedRecord, record.token)
            var suspects: [TaskID] = []
            for id in record.tasks.sorted() {
                guard let task = try tx.task(id), !task.state.isTerminal, task.state != .staged else { continue }
                let crashes = try tx.countCrash(of: task)
                guard crashes >= Self.maxCrashes else { continue }
                var machine = TaskStateMachine(task)
                let transition = machine.onSuspect(record.failure(crashes: crashes))
                guard transition.isChange else { continue }
                try tx.update(machine.task)
                if let event = transition.event { try tx.append(event, taskID: id, owner: task.owner, at: now) }
                suspects.append(id)
            }
            return suspects
        }
        guard let record else { return }
        logger.error(
            "the last process was ended by a fatal signal",
            metadata: [
                "signal": "\(record.signalName)", "pid": "\(record.pid)",
                "tasks": "\(record.tasks.sorted().prefix(50).map(\.rawValue))",
                "suspects": "\(suspects.map(\.rawValue))",
            ])
    }
}

extension CrashRecord {
    /// As people know it.
    var signalName: String {
        switch signal {
        case SIGILL: "SIGILL"
        case SIGTRAP: "SIGTRAP"
        case SIGSEGV: "SIGSEGV"
        case SIGBUS: "SIGBUS"
        case SIGABRT: "SIGABRT"
        default: "signal \(signal)"
        }
    }

    /// What a suspect's `error` says.
    fileprivate func failure(crashes: Int64) -> TransferError {
        TransferError(
            .internalError,
            "xferd crashed \(crashes) times while this task was in flight, the last time with \(signalName); resume the task to try it again",
            isRetriable: true)
    }
}
