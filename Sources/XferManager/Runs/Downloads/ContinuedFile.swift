import Logging
import XferCore
import XferFiles
import XferModel

/// The decision about the existing file when a download with `on_conflict: continue` is published.
///
/// It is replaced if that loses nothing: the new file begins with all of its bytes, or has the digest that the client
/// demands of the name. Any other file is kept, and the new one gets a number.
struct ContinuedFile: Sendable {
    /// The policy under which the new file gets its name.
    let policy: ConflictPolicy
    /// Files that are of no use once the new file has its name: a browser's unfinished file, aria2's control file.
    let leftovers: [(name: String, facts: FileFacts)]

    /// Decides by the present content of the directory. Blocks until the existing file is read.
    ///
    /// - Parameters:
    ///   - file: the finished file with the received bytes; nil if a hook has changed them.
    ///   - specification: the task's.
    /// - Throws: `FileError`; `FileError.cancelled` if `isCancelled` says so.
    init(
        named name: String, continuedBy file: PartialFile?, for specification: TaskSpecification,
        in directory: DirectoryHandle, isCancelled: () -> Bool
    ) throws(FileError) {
        func isContinued(_ existing: UnfinishedFile) throws(FileError) -> Bool {
            guard let file else { return false }
            return try existing.file.agrees(with: file, in: existing.complete, isCancelled: isCancelled)
        }
        let existing = try UnfinishedFile.open(name, in: directory)
        let isVerified = specification.checksum != nil && specification.completion.postProcess == nil
        var leftovers: [(name: String, facts: FileFacts)] = []
        if isVerified {
            policy = .verify
        } else if let existing, try isContinued(existing) {
            policy = .overwrite
        } else {
            policy = .rename
        }
        func add(_ name: String) throws(FileError) {
            if let facts = try directory.facts(of: name) { leftovers.append((name, facts)) }
        }
        if policy != .rename, existing?.hasControlFile == true { try add(name + Aria2ControlFile.suffix) }
        for suffix in UnfinishedFile.browserSuffixes {
            guard let other = try UnfinishedFile.open(name + suffix, in: directory), other.facts.length > 0,
                try isContinued(other)
            else { continue }
            leftovers.append((other.name, other.facts))
        }
        self.leftovers = leftovers
    }

    /// Removes the leftovers that are unchanged, and that the task may replace. What cannot be removed stays.
    func removeLeftovers(
        in directory: DirectoryHandle, by specification: TaskSpecification, _ services: RunServices,
        _ settings: ManagerSettings
    ) async {
        for leftover in leftovers {
            do {
                try await ReplacingRules.requireReplaceable(
                    leftover.name, in: directory, by: specification, services, settings)
                try await services.pool(in: directory).run { () throws(FileError) in
                    guard try directory.facts(of: leftover.name)?.isSame(as: leftover.facts) == true else { return }
                    try directory.remove(leftover.name)
                }
            } catch {
                services.logger.report(
                    "another program's file, which is no longer needed, could not be removed", error,
                    ["path": "\(directory.path(of: leftover.name))"])
            }
        }
    }
}
