import XferCore
import XferFiles
import XferModel

/// A file in a destination directory that another program may have left unfinished.
struct UnfinishedFile: Sendable {
    let file: ReadableFile
    let name: String
    let path: String
    let facts: FileFacts
    /// The segments that are known to be complete: the whole file, unless aria2's control file lists them.
    let complete: [Segment]
    /// The length of the whole in bytes; nil if unknown.
    let total: Int64?
    /// True if aria2's control file is next to it.
    let hasControlFile: Bool

    /// The endings that browsers give to the names of unfinished downloads.
    static let browserSuffixes = [".part", ".crdownload"]

    /// The file that another program may have left of a download with this name: the one with the name, unless it is
    /// empty, else a browser's. Nil if there is none. Blocks.
    ///
    /// - Throws: `notPermitted` if the users of the directory may not read it, `system`.
    static func find(_ name: String, in directory: DirectoryHandle) throws(FileError) -> UnfinishedFile? {
        for candidate in [name] + browserSuffixes.map({ name + $0 }) {
            if let found = try open(candidate, in: directory), found.facts.length > 0 { return found }
        }
        return nil
    }

    /// Opens the regular file with this name; nil if there is none. Blocks.
    static func open(_ name: String, in directory: DirectoryHandle) throws(FileError) -> UnfinishedFile? {
        guard let file = try readable(name, in: directory) else { return nil }
        let facts = try file.facts()
        let control = try control(of: name, in: directory)
        return UnfinishedFile(
            file: file, name: name, path: directory.path(of: name), facts: facts,
            complete: (control?.segments ?? [Segment(start: 0, committed: facts.length)]).compactMap { segment in
                segment.start < facts.length
                    ? Segment(start: segment.start, committed: min(segment.committed, facts.length)) : nil
            }, total: control?.totalLength, hasControlFile: control != nil)
    }

    private static func control(of name: String, in directory: DirectoryHandle) throws(FileError) -> Aria2ControlFile? {
        guard let file = try readable(name + Aria2ControlFile.suffix, in: directory) else { return nil }
        return Aria2ControlFile(try file.read(at: 0, upTo: Aria2ControlFile.mostBytes))
    }

    private static func readable(_ name: String, in directory: DirectoryHandle) throws(FileError) -> ReadableFile? {
        guard name.utf8.count <= directory.traits.longestName else { return nil }
        do throws(FileError) {
            let file = try ReadableFile(in: directory, named: name)
            try file.requireReadable(in: directory)
            return file
        } catch {
            guard case .missing = error else { throw error }
            return nil
        }
    }
}

/// An unfinished file and what is kept of it.
struct AdoptedFile: Sendable {
    let source: UnfinishedFile
    let resumeData: ResumeData

    /// The offset after the last kept byte.
    var end: Int64 { resumeData.segments.map(\.committed).max() ?? 0 }

    /// Copies the kept bytes into the partial file. False if another program has written to the file meanwhile. Blocks.
    ///
    /// - Throws: as `ReadableFile.copy`.
    func copy(to part: PartialFile, isCancelled: () -> Bool) throws(FileError) -> Bool {
        try source.file.copy(end, to: part, isCancelled: isCancelled)
        return try source.file.facts().isSame(as: source.facts)
    }
}
