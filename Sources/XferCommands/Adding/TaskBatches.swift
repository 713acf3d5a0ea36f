import StrictJSON
import XferModel
import XferProtocol

/// Cuts many tasks into calls of `task.add`: small enough for the first to run while the next are being added, and well below
/// the longest message.
struct TaskBatches: Sequence, IteratorProtocol {
    private var rest: ArraySlice<NewTask>

    /// Tasks in one call.
    static let largestCount = 1000
    /// Bytes of JSON in one call: the longest message is 4 MiB.
    static let largestMessage = 3 << 20

    init(_ tasks: [NewTask]) { rest = tasks[...] }

    mutating func next() -> ArraySlice<NewTask>? {
        guard !rest.isEmpty else { return nil }
        var size = 0
        var bytes: [UInt8] = []
        let count = rest.prefix(Self.largestCount).prefix { task in
            bytes.removeAll(keepingCapacity: true)
            task.wire.write(to: &bytes)
            size += bytes.count + 1
            return size <= Self.largestMessage
        }.count
        // A task that is too large by itself goes alone: the daemon says what is wrong with it.
        defer { rest = rest.dropFirst(Swift.max(1, count)) }
        return rest.prefix(Swift.max(1, count))
    }
}

extension CommandFailure {
    /// Names the URL where the daemon names `tasks[N]`, and says what became of the others.
    /// - Parameters:
    ///   - start: where the refused call's tasks begin among all.
    ///   - added: tasks of earlier calls, which stay.
    func naming(_ start: Int, in tasks: [NewTask], added: Int) -> CommandFailure {
        var text = message
        if let open = message.firstRange(of: "tasks["), let close = message[open.upperBound...].firstIndex(of: "]"),
            let index = Int(message[open.upperBound..<close], radix: 10),
            tasks.indices.contains(start.addingSaturated(index))
        {
            text += "; this is URL number \(start + index + 1)"
        }
        text += added == 0 ? "; nothing was added" : "; \(added) tasks before it were added"
        return CommandFailure(status, status == .refused ? text : message)
    }
}
