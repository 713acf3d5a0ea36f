import XferModel
import XferStore

/// The number of a task's runs and their duration, from its events.
///
/// The time between two runs, for example until the user retries a failed task, does not count.
struct RunTimes: Hashable {
    /// The number of starts.
    private(set) var count = 0
    /// The duration of the runs whose beginning and end are known, in milliseconds.
    private(set) var milliseconds: Int64 = 0

    /// - Parameter events: the task's events, ascending.
    init(_ events: [Event]) {
        var beganAt: Timestamp?
        for event in events {
            switch event.payload {
            case .taskStarted:
                count += 1
                // After a crash, the last run has no end.
                beganAt = event.time
            case .taskWaiting, .taskPaused, .taskRestored, .taskStaged, .taskCompleted, .taskFailed, .taskCancelled,
                .taskSuperseded:
                if let beganAt {
                    let length = event.time.rawValue.subtractingSaturated(beganAt.rawValue)
                    milliseconds = milliseconds.addingSaturated(max(0, length) / 1000)
                }
                beganAt = nil
            default: break
            }
        }
    }
}

extension EventTable {
    /// The runs of a task up to an event, as far as their events are still stored.
    func runTimes(of id: TaskID, upTo event: Event) throws(StoreError) -> RunTimes {
        RunTimes(
            try list(since: 0, taskIDs: [id], limit: RunTimes.maxEvents).filter { $0.seq <= event.seq })
    }
}

extension RunTimes {
    /// True if the task may have had several runs, with times between them: it has had several attempts, or had ended before.
    static func matter(to task: TransferTask?, until event: Event, in reader: StoreReader) throws(StoreError) -> Bool {
        guard let task, task.attempts <= 1 else { return true }
        return try reader.events.hasEnded(task.id, before: event.seq)
    }

    /// The number of a task's first events that are read for a line of the log.
    fileprivate static let maxEvents = 1000
}
