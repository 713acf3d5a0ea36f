import XferModel
import XferProtocol

/// Tasks of one call that would write the same file with different content, of which one replaces an existing file: it
/// would replace the other's, and both would end completed.
enum DestinationClash {
    /// Two tasks with one file.
    struct Pair: Hashable {
        /// The file's path; only its name if the daemon chooses the directory. Not sanitised.
        let path: String
        /// The lines or URLs of the tasks.
        let tasks: [String]
        /// True if no answer of a server can give the files different names.
        let isCertain: Bool
        /// The index of the later task.
        let later: Int

        var words: String { "\(tasks.joined(separator: " and ")) are both \"\(SafeText.sanitised(path))\"" }
    }

    /// Refuses all tasks if two certainly write the same file, and warns of those that may.
    ///
    /// - Throws: the refusal, if there is such a pair.
    static func check(_ tasks: [ListedTask]) throws(CommandFailure) {
        let pairs = pairs(tasks)
        let certain = pairs.filter(\.isCertain)
        guard certain.isEmpty else {
            throw CommandFailure(
                .refused,
                "\(words(certain)), from different URLs or with different checksums: one would replace the other. Give "
                    + "them names (out=NAME below a URL of -i), add them by separate commands with a -d each, or use "
                    + "--on-conflict rename; nothing was added")
        }
        warn(of: pairs)
    }

    /// Removes each task of a list that certainly writes the file of an earlier one, and warns of those that may.
    ///
    /// - Parameter refused: gets a remark for each removed task.
    static func removeLater(from tasks: inout [ListedTask], refused: inout [InputList.Remark]) {
        let pairs = pairs(tasks)
        let certain = pairs.filter(\.isCertain)
        for pair in certain {
            let text =
                "\"\(SafeText.sanitised(pair.path))\" is also the file of \(pair.tasks[0]), which has another URL or "
                + "checksum: one would replace the other; out=NAME below the URL gives a name"
            refused.append(tasks[pair.later].remark(text, path: nil))
        }
        let later = Set(certain.map(\.later))
        tasks = tasks.enumerated().filter { !later.contains($0.offset) }.map(\.element)
        warn(of: pairs.filter { !$0.isCertain })
    }

    private static func warn(of pairs: [Pair]) {
        guard !pairs.isEmpty else { return }
        Output.error.line(
            "xferctl: \(words(pairs)) unless the server names them: one would replace the other; out=NAME below a URL "
                + "of -i gives a name")
    }

    /// Each task whose file an earlier one has, with that one, in the order of the later tasks. Tasks of the same URLs
    /// and checksum are the same.
    static func pairs(_ tasks: [ListedTask]) -> [Pair] {
        guard tasks.contains(where: { policy(of: $0.task).replaces }) else { return [] }
        var certain: [String: SameFileTasks<Content, Int>] = [:]
        var all: [String: SameFileTasks<Content, Int>] = [:]
        var pairs: [Pair] = []
        for (index, listed) in tasks.enumerated() {
            let task = listed.task
            guard let place = place(of: task) else { continue }
            let content = Content(urls: task.urls ?? [task.firstURL], checksum: task.checksum)
            func pair(with earlier: Int, isCertain: Bool) -> Pair {
                Pair(path: place.path, tasks: [tasks[earlier].name, listed.name], isCertain: isCertain, later: index)
            }
            if place.isCertain,
                let earlier = certain[place.path, default: SameFileTasks()].insert(
                    index, content: content, policy(of: task))
            {
                pairs.append(pair(with: earlier, isCertain: true))
            } else if let earlier = all[place.path, default: SameFileTasks()].insert(
                index, content: content, policy(of: task))
            {
                pairs.append(pair(with: earlier, isCertain: false))
            }
        }
        return pairs
    }

    private struct Content: Equatable {
        let urls: [String]
        let checksum: Checksum?
    }

    /// The first pairs, and the number of the others.
    private static func words(_ pairs: [Pair]) -> String {
        let most = 3
        let more = pairs.count > most ? "; and \(pairs.count - most) more pairs" : ""
        return pairs.prefix(most).map(\.words).joined(separator: "; ") + more
    }

    /// The path of the file, as far as this program knows it; nil for tasks without a file or a name.
    ///
    /// A URL's own name is certain where the server's name does not count: with mirrors, and with `update`, `verify` and
    /// `continue`.
    private static func place(of task: NewTask) -> (path: String, isCertain: Bool)? {
        guard task.kind ?? .download == .download else { return nil }
        let directory = task.dir.map { $0.hasSuffix("/") ? $0 : $0 + "/" } ?? ""
        if let output = task.output {
            return (output.hasPrefix("/") ? output : directory + output, true)
        }
        let name = TaskSearch.path(of: task.firstURL).split(separator: "/", omittingEmptySubsequences: false).last
        guard let name, !name.isEmpty else { return nil }
        let isCertain = !task.mirrors.isEmpty || policy(of: task).compares
        return (directory + name, isCertain)
    }

    private static func policy(of task: NewTask) -> ConflictPolicy {
        if case .set(let policy) = task.destination.onConflict { return policy }
        return .rename
    }
}
