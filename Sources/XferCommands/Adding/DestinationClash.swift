import XferModel
import XferProtocol

/// Tasks of one call that would write the same file with different content: the last one would replace the others, and
/// all would end completed.
enum DestinationClash {
    /// Two tasks with one file.
    struct Pair: Hashable {
        /// The file's path; only its name if the daemon chooses the directory. Not sanitised.
        let path: String
        /// The lines or URLs of the tasks.
        let tasks: [String]
        /// True if no answer of a server can give the files different names.
        let isCertain: Bool

        var words: String { "\(tasks.joined(separator: " and ")) are both \"\(SafeText.sanitised(path))\"" }
    }

    /// Refuses tasks that certainly write the same file, and warns of those that may.
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
        guard !pairs.isEmpty else { return }
        Output.error.line(
            "xferctl: \(words(pairs)) unless the server names them: one would replace the other; out=NAME below a URL "
                + "of -i gives a name")
    }

    /// Each task whose file an earlier one has, with that one. Tasks of the same URLs and checksum are the same.
    static func pairs(_ tasks: [ListedTask]) -> [Pair] {
        var first: [String: (index: Int, isCertain: Bool)] = [:]
        var pairs: [Pair] = []
        for (index, listed) in tasks.enumerated() where policy(of: listed.task) != .rename {
            guard let place = place(of: listed.task) else { continue }
            guard let earlier = first[place.path] else {
                first[place.path] = (index, place.isCertain)
                continue
            }
            let other = tasks[earlier.index]
            guard other.task.firstURL != listed.task.firstURL || other.task.checksum != listed.task.checksum else {
                continue
            }
            pairs.append(
                Pair(
                    path: place.path, tasks: [name(of: other), name(of: listed)],
                    isCertain: earlier.isCertain && place.isCertain))
        }
        return pairs
    }

    /// The first pairs, and the number of the others.
    private static func words(_ pairs: [Pair]) -> String {
        let most = 3
        let more = pairs.count > most ? "; and \(pairs.count - most) more pairs" : ""
        return pairs.prefix(most).map(\.words).joined(separator: "; ") + more
    }

    private static func name(of listed: ListedTask) -> String {
        let url = SafeText.sanitised(Redaction.url(listed.task.firstURL))
        guard let line = listed.line else { return url }
        return "line \(line)" + (listed.list.map { " of \(SafeText.sanitised($0))" } ?? "") + " (\(url))"
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
        let isCertain = !task.mirrors.isEmpty || [.update, .verify, .continue].contains(policy(of: task))
        return (directory + name, isCertain)
    }

    private static func policy(of task: NewTask) -> ConflictPolicy {
        if case .set(let policy) = task.destination.onConflict { return policy }
        return .rename
    }
}
