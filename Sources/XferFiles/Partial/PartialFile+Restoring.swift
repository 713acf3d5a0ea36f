import CLinux
import Glibc
public import XferModel

/// Continues with the file that an earlier run, or an earlier process, left.
extension PartialFile {
    /// The state of the committed bytes after a restart.
    public enum Remains: Hashable, Sendable {
        /// True if all bytes are present, as far as that can be checked.
        case intact
        /// The bytes are not reliable, for this reason; the file is new and empty.
        case void(String)
    }

    /// Opens the file if it is the one whose bytes were committed, and cuts off uncommitted bytes; replaces any other
    /// file by a new one. A file that is not provably the service's is neither cut nor written, since it may have
    /// another name elsewhere. It only loses this name.
    ///
    /// - Parameters:
    ///   - segments: the committed segments.
    ///   - record: the file with the committed bytes; nil if an earlier version committed them.
    ///   - isNew: no file of this name is expected.
    ///   - isCancelled: called before a file loses this name, which another call may have made meanwhile.
    /// - Throws: `isADirectory`, `notWritable`, `cancelled`, `system`.
    public static func restore(
        in directory: DirectoryHandle, named name: String, segments: [Segment], record: PartRecord?,
        isNew: Bool = false, isCancelled: () -> Bool = { false }
    ) throws(FileError) -> (file: PartialFile, remains: Remains) {
        let kept = segments.filter { $0.committed > $0.start }
        if isNew {
            do throws(FileError) {
                return (try create(in: directory, named: name), .intact)
            } catch {
                guard case .nameTaken = error else { throw error }
            }
        }
        var problem = "nothing was committed"
        if !kept.isEmpty {
            do throws(FileError) {
                let file = try open(in: directory, named: name)
                guard let found = try file.problem(with: kept, record) else {
                    let end = kept.map(\.committed).max() ?? 0
                    if try file.length() > end { try file.truncate(to: end) }
                    return (file, .intact)
                }
                file.close()
                problem = found
            } catch {
                switch error {
                case .missing: problem = "it is gone"
                case .notAPartialFile(_, let what): problem = what
                default: throw error
                }
            }
        }
        guard !isCancelled() else { throw .cancelled }
        try directory.remove(name)
        return (try create(in: directory, named: name), kept.isEmpty ? .intact : .void(problem))
    }

    /// Opens the file if it is the one whose bytes were committed; nil if it is missing or another one. Changes
    /// nothing.
    ///
    /// - Throws: `system`.
    public static func openKept(
        in directory: DirectoryHandle, named name: String, segments: [Segment], record: PartRecord?
    ) throws(FileError) -> PartialFile? {
        do throws(FileError) {
            let file = try open(in: directory, named: name)
            if try file.problem(with: segments.filter { $0.committed > $0.start }, record) == nil { return file }
            file.close()
            return nil
        } catch {
            switch error {
            case .missing, .notAPartialFile: return nil
            default: throw error
            }
        }
    }

    /// The reason why the open file is not the one with these segments; nil when it is.
    private func problem(with segments: [Segment], _ record: PartRecord?) throws(FileError) -> String? {
        let facts = try facts()
        if let record, record.mark.identity == .unknown {
            // The database comes from another machine. Length and time, compared below, show that this is a copy.
            guard record.rest != nil else { return "it was in use when the database was copied" }
        } else if let record {
            let isKnown =
                directory.traits.keepsInodeNumbers
                ? record.mark.isSame(as: facts.mark) : record.mark.bornAt == facts.mark.bornAt
            guard isKnown else { return "another file has its name" }
        }
        if record?.mark.isCertain != true, try nameCount() != 1 { return "it has several names" }
        if let rest = record?.rest {
            guard rest.length == facts.length else {
                return "it has \(facts.length) bytes instead of \(rest.length)"
            }
            guard rest.modifiedAt == facts.modifiedAt else { return "it was changed since it was closed" }
        }
        for segment in segments {
            guard segment.committed <= facts.length else {
                return "it has \(facts.length) bytes instead of \(segment.committed)"
            }
            if let hole = try firstHole(from: segment.start), hole < segment.committed {
                return "the bytes at \(hole) are missing"
            }
        }
        return nil
    }

    private func nameCount() throws(FileError) -> Int {
        let handle = try handle()
        return Int(clamping: try status(of: handle.raw, path: path).st_nlink)
    }
}

// MARK: - While it is open

extension PartialFile {
    /// Throws unless its name leads to this very file, which was open all the time.
    ///
    /// - Throws: `partChanged`, `closed`, `system`.
    public func requireInPlace() throws(FileError) {
        _ = try handle()
        let found = try directory.identity(of: name)
        guard let found else { throw .partChanged(path: path, problem: "it was removed") }
        guard found == identity else { throw .partChanged(path: path, problem: "another file has its name") }
    }

    /// Throws unless the file has every byte of these segments. If another process truncated it during the transfer, it
    /// has holes, which would be read as zeros.
    ///
    /// - Throws: `partChanged`, `closed`, `system`.
    public func requireWritten(_ segments: [Segment]) throws(FileError) {
        let length = try length()
        for segment in segments where segment.committed > segment.start {
            guard segment.committed <= length else {
                throw .partChanged(path: path, problem: "it was cut to \(length) bytes")
            }
            if let hole = try firstHole(from: segment.start), hole < segment.committed {
                throw .partChanged(path: path, problem: "the bytes written at \(hole) are missing")
            }
        }
    }

    /// Requires a complete file, which must have exactly this length. Returns its facts; nil where times are not
    /// reliable, because another machine sets them or reports them late.
    @discardableResult
    public func requireWhole(_ length: Int64) throws(FileError) -> FileFacts? {
        let facts = try facts()
        guard facts.length == length else {
            throw .partChanged(path: path, problem: "it has \(facts.length) bytes instead of \(length)")
        }
        try requireWritten([Segment(start: 0, committed: length)])
        return directory.traits.isLocal ? facts : nil
    }

    /// The record that identifies the file later, once the service no longer writes it.
    public func restingRecord() throws(FileError) -> PartRecord {
        let facts = try facts()
        return directory.traits.isLocal ? PartRecord(resting: facts) : PartRecord(mark: facts.mark)
    }

    /// The first hole, or nil where the file system does not distinguish holes from zeros.
    private func firstHole(from offset: Int64) throws(FileError) -> Int64? {
        let handle = try handle()
        guard directory.traits.knowsHoles else { return nil }
        switch retryingInterrupts({ xfer_next_hole(handle.raw, Int(clamping: offset)) }) {
        case .value(let hole): return Int64(clamping: hole)
        // Nothing is there (lseek(2)).
        case .failure(ENXIO): return offset
        case .failure(let code): throw .system(operation: "look for holes in", path: path, code: code)
        }
    }
}
