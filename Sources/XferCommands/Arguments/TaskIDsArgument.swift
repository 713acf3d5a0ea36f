import ArgumentParser
import XferModel
import XferProtocol

/// A task's id as an argument: `7`, or `#7` as listings of other programs write it.
struct TaskIDArgument: Hashable, Sendable, ExplainedArgument {
    static var expected: String { "a task's id, an integer from 1; see `xferctl list`" }

    let id: TaskID

    init?(argument: String) {
        // A column of a table may be filled with blanks.
        let text = argument.trimmingBlanks
        let digits = text.hasPrefix("#") ? text.dropFirst() : text[...]
        guard digits.utf8.allSatisfy({ (48...57).contains($0) }), let number = Int64(digits, radix: 10), number > 0
        else {
            return nil
        }
        id = TaskID(number)
    }
}

/// The task that a verb is about, as its first argument.
struct TaskArgument: ParsableArguments {
    @Argument(
        help: ArgumentHelp("The task's id.", valueName: "id"), completion: .daemon(.tasks),
        transform: TaskIDArgument.argument)
    var argument: TaskIDArgument

    var id: TaskID { argument.id }
}

/// Ids of tasks as an argument: `7`, `1,2`, `1-5`, and `7-` up to the newest task.
struct TaskIDsArgument: Hashable, Sendable, ExplainedArgument {
    static var expected: String { "ids of tasks such as 7, 1,2, 1-5 or 7-; see `xferctl list`" }

    /// The ranges; each has its last id, where nil means the newest task's id.
    private let ranges: [Range]

    private struct Range: Hashable {
        let first: Int64
        let last: Int64?
    }

    init?(argument: String) {
        var ranges: [Range] = []
        for part in argument.split(separator: ",", omittingEmptySubsequences: false) {
            let ends = part.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
            guard let first = TaskIDArgument(argument: String(ends[0]))?.id.rawValue else { return nil }
            switch ends.count {
            case 1: ranges.append(Range(first: first, last: first))
            case 2 where ends[1].isEmpty: ranges.append(Range(first: first, last: nil))
            default:
                guard let last = TaskIDArgument(argument: String(ends[1]))?.id.rawValue, first <= last else {
                    return nil
                }
                ranges.append(Range(first: first, last: last))
            }
        }
        self.ranges = ranges
    }

    /// True if it lists every id, without a range.
    var hasOnlySingles: Bool { singles.count == ranges.count }

    var hasOpenEnd: Bool { ranges.contains { $0.last == nil } }

    /// The ids listed singly, which must exist; ids in a range may be of removed tasks.
    var singles: [TaskID] { ranges.filter { $0.first == $0.last }.map { TaskID($0.first) } }

    /// All ids, at most one more than a call takes.
    func ids(newest: TaskID?) -> [TaskID] {
        let most = TaskLimits.batchSize + 1
        var ids: [TaskID] = []
        for range in ranges {
            let last = range.last ?? newest?.rawValue ?? 0
            guard range.first <= last else { continue }
            let count = min(last.subtractingSaturated(range.first), Int64(clamping: most - ids.count)) + 1
            ids += (0..<count).map { TaskID(range.first + $0) }
            if ids.count >= most { return Array(ids.prefix(most)) }
        }
        return ids
    }
}
