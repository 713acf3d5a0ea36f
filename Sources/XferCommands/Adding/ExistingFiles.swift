import Glibc
import XferModel
import XferProtocol

/// The files of a list that exist before its tasks are added.
enum ExistingFiles {
    /// Says on standard error how many exist, and what the tasks do with them; nothing for another machine's files, or
    /// if their directories do not answer in time.
    static func report(_ tasks: [NewTask], _ connection: ConnectionOptions) {
        guard !connection.isRemote, !connection.isFleet else { return }
        let lines = lines(tasks, within: BoundedLookup.limit) { access($0, F_OK) == 0 }
        for line in lines ?? [] { Output.error.line("xferctl: \(line)") }
    }

    /// The lines, or nil if looking for all files takes longer than the limit.
    static func lines(
        _ tasks: [NewTask], within limit: Duration, exists: @escaping @Sendable (String) -> Bool
    ) -> [String]? {
        BoundedLookup.run(within: limit) { isAbandoned in lines(tasks) { !isAbandoned() && exists($0) } }
    }

    /// One line for each policy that applies to a file that is there.
    ///
    /// - Parameter exists: true if there is a file at the path.
    static func lines(_ tasks: [NewTask], exists: (String) -> Bool) -> [String] {
        var counts: [ConflictPolicy: Int] = [:]
        for task in tasks {
            guard let path = path(of: task), exists(path) else { continue }
            counts[policy(of: task), default: 0] += 1
        }
        return ConflictPolicy.allCases.compactMap { policy in
            counts[policy].map {
                "\($0) of \(tasks.count) files \($0 == 1 ? "exists" : "exist") already: \(action(policy))"
            }
        }
    }

    /// The path that the file gets unless the server or the daemon decides; nil if they do.
    private static func path(of task: NewTask) -> String? {
        guard task.kind ?? .download == .download else { return nil }
        if let output = task.output, output.hasPrefix("/") { return output }
        guard let dir = task.dir else { return nil }
        let path = TaskSearch.path(of: task.firstURL)
        let name = task.output ?? path.split(separator: "/", omittingEmptySubsequences: false).last.map(String.init)
        guard let name, !name.isEmpty else { return nil }
        return "\(dir)/\(name)"
    }

    private static func policy(of task: NewTask) -> ConflictPolicy {
        if case .set(let policy) = task.destination.onConflict { return policy }
        return .rename
    }

    private static func action(_ policy: ConflictPolicy) -> String {
        switch policy {
        case .rename: "fetched again under other names; --on-conflict skip keeps them, verify compares checksums"
        case .overwrite: "fetched again and replaced"
        case .skip: "kept; with a checksum, those that have another one fail"
        case .fail: "their tasks fail"
        case .update: "fetched again if the server has another version"
        case .verify:
            "kept if they have their checksums, fetched again otherwise; without one, the server is asked first"
        case .continue: "continued, or kept if they have their checksums"
        }
    }
}
