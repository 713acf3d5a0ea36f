import NIOConcurrencyHelpers
import XferModel
import XferProtocol

/// The results of ended downloads that the clients of the facade have removed from their lists. Nothing else is
/// removed.
///
/// The list of results is empty when the service starts, like aria2's.
final class HiddenResults: Sendable {
    private let start: Timestamp
    /// The hidden tasks of each user, each with the end of its run: a retried task is shown again.
    private let hidden = NIOLockedValueBox<[UInt32: [TaskID: Timestamp]]>([:])

    /// The highest number of results of a user that are remembered as hidden. Lists show the newest 1,000, so older
    /// ones do not matter.
    static let maxCount = 4000

    init(since start: Timestamp) { self.start = start }

    /// True if the task's result is shown.
    func shows(_ task: TaskRecord, to user: UInt32) -> Bool {
        guard let end = task.finishedAt else { return true }
        return end >= start && hidden.withLockedValue { $0[user]?[task.id] } != end
    }

    func hide(_ tasks: [TaskRecord], from user: UInt32) {
        hidden.withLockedValue { hidden in
            var results = hidden[user] ?? [:]
            for task in tasks { results[task.id] = task.finishedAt }
            // The oldest tasks leave the lists first.
            if results.count > Self.maxCount {
                for id in results.keys.sorted().prefix(results.count - Self.maxCount) { results[id] = nil }
            }
            hidden[user] = results
        }
    }

    func count(of user: UInt32) -> Int { hidden.withLockedValue { $0[user]?.count ?? 0 } }
}
