import CCrash
import Glibc
import Logging
import NIOConcurrencyHelpers
import XferCore
import XferFiles
import XferModel
import XferStore

/// Keeps a task that crashes the daemon from crashing it again and again.
final class CrashFollower: ManagerPart, Sendable {
    let context: ManagerContext
    /// The file that records a fatal signal; open as long as the process exists.
    private let file = NIOLockedValueBox(CrashFile?.none)

    /// The number of crashes without progress in between after which a task waits as a suspect.
    static let maxCrashes: Int64 = 2

    /// The key of the setting with the last record that was counted.
    private static let countedRecord = "crash.counted"

    init(context: ManagerContext) { self.context = context }

    /// Reads the record of the last process if a fatal signal ended it, makes suspects wait, and in a daemon starts
    /// recording. An error here does not prevent the start.
    func start() async {
        let length = CrashRecord.byteCount(tasks: InFlightTasks.capacity)
        do {
            let file = try CrashFile(in: context.stateDirectory)
            self.file.withLockedValue { $0 = file }
            let record = CrashRecord(try file.read(limit: length))
            try await count(record)
            try file.clear(length: length)
            guard context.settings.withLockedValue(\.recordsCrashes) else { return }
            if let code = context.inFlight.record(to: file.descriptor) {
                logger.warning(
                    "fatal signals cannot be recorded", metadata: ["error": "\(String(cString: strerror(code)))"])
            }
        } catch {
            logger.warning("the crash record cannot be read or written", metadata: ["error": "\(error)"])
        }
    }

    /// Counts the crash once for each task that was in flight. A task with `maxCrashes` crashes without progress in
    /// between waits as a suspect.
    private func count(_ record: CrashRecord?) async throws {
        let now = clock()
        let suspects = try await store.write { tx -> [TaskID] in
            try tx.crashes.removeOfEndedTasks()
            guard let record, try tx.settings.find(Self.countedRecord) != record.token else { return [] }
            try tx.settings.set(Self.countedRecord, record.token)
            var suspects: [TaskID] = []
            for id in record.tasks.sorted() {
                guard let task = try StoreError.nilIfUnreadable({ try tx.tasks.find(id) }), !task.state.isTerminal,
                    task.state != .staged
                else { continue }
                let crashes = try tx.crashes.add(of: task)
                guard crashes >= Self.maxCrashes else { continue }
                let transition = try tx.transition(task, at: now) { $0.onSuspect(record.failure(crashes: crashes)) }
                if transition.isChange { suspects.append(id) }
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
    /// The signal's name for people.
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

    /// The `error` of a suspect.
    fileprivate func failure(crashes: Int64) -> TransferError {
        TransferError(
            .internalError,
            "xferd crashed \(crashes) times while this task was in flight, the last time with \(signalName); resume the task to retry it",
            isRetriable: true)
    }
}

/// The record of a fatal signal's handler: the tasks in flight when the process ended.
struct CrashRecord: Hashable, Sendable {
    /// The signal's number.
    let signal: Int32
    let pid: Int64
    /// The time by the wall clock, in nanoseconds since 1970.
    let time: Int64
    let tasks: Set<TaskID>

    /// Distinguishes records.
    var token: String { "\(pid)-\(time)" }

    /// The length of a record with this many tasks, in bytes.
    static func byteCount(tasks: Int) -> Int { (headerWords + tasks) * MemoryLayout<Int64>.size }

    private static let headerWords = Int(XFER_CRASH_HEADER_WORDS)

    /// Reads the record. Returns nil unless a handler wrote all of these bytes. A process that ends otherwise leaves
    /// zeros.
    init?(_ bytes: [UInt8]) {
        let words = bytes.withUnsafeBytes { raw in
            (0..<raw.count / MemoryLayout<Int64>.size).map {
                raw.loadUnaligned(fromByteOffset: $0 * MemoryLayout<Int64>.size, as: Int64.self)
            }
        }
        guard words.count >= Self.headerWords, words[0] == xfer_crash_magic, let signal = Int32(exactly: words[1]),
            words[4] >= 0, words[4] <= Int64(clamping: words.count - Self.headerWords)
        else { return nil }
        self.signal = signal
        pid = words[2]
        time = words[3]
        tasks = Set(words[Self.headerWords...].prefix(Int(clamping: words[4])).filter { $0 > 0 }.map { TaskID($0) })
    }
}
