import StrictJSON
import XferModel
import XferProtocol

/// Splits many tasks into several calls of `task.add`. The calls are small, so that the first tasks run while later
/// ones are being added, and well below the longest message.
struct TaskBatches: Sequence, IteratorProtocol {
    private var rest: ArraySlice<NewTask>
    /// The highest number of tasks in the next call.
    private var limit: Int

    /// The highest number of tasks in one call.
    static let largestCount = 1000
    /// The highest number of bytes of the tasks' JSON in one call, unless it has a single task. The longest message has
    /// 4 MiB.
    static let largestMessage = 3 << 20

    /// - Parameter first: the highest number of tasks in the first call.
    init(_ tasks: [NewTask], first: Int = largestCount) {
        rest = tasks[...]
        limit = Swift.max(1, Swift.min(first, Self.largestCount))
    }

    mutating func next() -> ArraySlice<NewTask>? {
        guard !rest.isEmpty else { return nil }
        var size = 0
        var bytes: [UInt8] = []
        let count = rest.prefix(limit).prefix { task in
            bytes.removeAll(keepingCapacity: true)
            task.write(to: &bytes)
            size += bytes.count + 1
            return size <= Self.largestMessage
        }.count
        // A task that is larger than `largestMessage` gets a call of its own, and the daemon's error says what is
        // wrong.
        defer {
            rest = rest.dropFirst(Swift.max(1, count))
            limit = Self.largestCount
        }
        return rest.prefix(Swift.max(1, count))
    }
}

extension CommandFailure {
    /// Extends a refusal by the URL that `tasks[N]` in the daemon's message refers to, and by the number of tasks that
    /// were added before.
    /// - Parameters:
    ///   - start: index in `tasks` of the first task of the refused call.
    ///   - added: number of tasks that earlier calls have added. They stay.
    func naming(_ start: Int, in tasks: [NewTask], added: Int) -> CommandFailure {
        var text = message
        if let open = message.firstRange(of: "tasks["), let close = message[open.upperBound...].firstIndex(of: "]"),
            let index = Int(message[open.upperBound..<close], radix: 10),
            tasks.indices.contains(start.addingSaturated(index))
        {
            // Of several URLs the number says which; of one there is nothing to say.
            let place = "tasks[\(index)]"
            for prefix in ["\(place).url: ", "\(place).", "\(place): "] where text.hasPrefix(prefix) {
                text.removeFirst(prefix.count)
            }
            text = text.replacingOtherTask { "URL number \(start.addingSaturated($0).addingSaturated(1))" }
            if tasks.count > 1 {
                let url = tasks[start + index].firstURL
                // The login of a URL without a scheme cannot be recognised.
                let isShown = url.contains("://") || !url.contains("@")
                let name = isShown ? " (\(SafeText.sanitised(String(Redaction.url(url).prefix(200)))))" : ""
                text = "URL number \(start + index + 1)\(name): \(text)"
            }
        }
        text += added == 0 ? "; nothing was added" : "; \(added) tasks before it were added"
        return CommandFailure(status, status == .refused ? text : message)
    }
}
