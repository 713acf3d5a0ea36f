import CLinux
import Glibc
public import XferModel

/// Checks the files that a client wants to send, at the time of its request, and records their facts, so that no other
/// file is sent later in their place.
///
/// For operators the path is resolved first and then opened from its root with openat2(2) `RESOLVE_BENEATH`, as
/// `AllowedRoots` does for directories. For other users it is walked with their permissions, at admission and at each
/// opening (`open(asUser:)`).
public struct SourceAdmission: Sendable {
    private let roots: AllowedRoots

    /// Creates the rules for operators: any regular file the service can read.
    ///
    /// - Parameter forbidden: state, configuration and credential directories; absolute.
    public init(forbidden: [String]) {
        roots = AllowedRoots(roots: ["/"], forbidden: forbidden)
    }

    /// Creates the rules for other users: regular files beneath their roots that they could read themselves.
    public init(_ roots: AllowedRoots) { self.roots = roots }

    /// The present facts of the file.
    ///
    /// - Parameter path: absolute; links and `..` may occur as long as they stay beneath a root.
    public func admit(_ path: String) throws(SourceError) -> SourceFile {
        SourceFile(path: path, try facts(of: path))
    }

    /// Admits the file as `admit` does, and returns the user number of its owner.
    public func owner(of path: String) throws(SourceError) -> UInt32 { try facts(of: path).st_uid }

    private func facts(of path: String) throws(SourceError) -> stat {
        let facts: stat
        do throws(FileError) {
            facts = roots.users.isEmpty ? try open(path) : try open(asUser: path).facts
        } catch {
            throw SourceError(error)
        }
        try SourceError.requireRegular(facts, path)
        return facts
    }

    /// Opens a file to be sent, at any time after it was admitted. The reader checks that it is still the same file.
    func reopen(_ path: String) throws(FileError) -> Descriptor {
        guard roots.users.isEmpty else {
            guard let handle = try open(asUser: path).handle else { throw .missing(path: path) }
            return handle
        }
        // Non-blocking, since the name may be a FIFO's.
        switch openDescriptor(path, flags: O_RDONLY | O_NONBLOCK | O_NOCTTY) {
        case .value(let opened): return opened
        case .failure(ENOENT), .failure(ENOTDIR), .failure(ELOOP), .failure(ENXIO): throw .missing(path: path)
        case .failure(let code): throw .system(operation: "open", path: path, code: code)
        }
    }

    // MARK: With a user's rights

    /// The file at the end of the path, open for reading when it is a regular file.
    private func open(asUser path: String) throws(FileError) -> (handle: Descriptor?, facts: stat) {
        let found = try roots.asUser(path) { [roots] () throws(FileError) in
            let way = try roots.admittedWay(path)
            guard way.missing.isEmpty else { throw .missing(path: path) }
            guard let file = way.file else { throw .isADirectory(path: path) }
            guard file.facts.st_mode & S_IFMT == S_IFREG else { return Found(handle: nil, facts: file.facts) }
            do throws(FileError) {
                try way.require(.read, of: FilePermissions(of: file.handle, file.facts), "read")
            } catch {
                guard case .notPermitted = error else { throw error }
                throw .system(operation: "open", path: path, code: EACCES)
            }
            // The very file that was checked, whichever file has its name by now.
            let flags = O_RDONLY | O_NONBLOCK | O_NOCTTY
            switch openDescriptor("/proc/self/fd/\(file.handle.raw)", flags: flags) {
            case .value(let handle): return Found(handle: handle, facts: try status(of: handle.raw, path: path))
            case .failure(let code): throw .system(operation: "open", path: path, code: code)
            }
        }
        return (found.handle, found.facts)
    }

    private struct Found: Sendable {
        let handle: Descriptor?
        let facts: stat
    }

    // MARK: With the service's

    private func open(_ path: String) throws(FileError) -> stat {
        let place = try ResolvedPath(path)
        let root = try roots.root(of: place)
        if let problem = place.problem { throw problem }
        guard place.missing.isEmpty else { throw .missing(path: path) }
        guard place.existing != root else { throw .isADirectory(path: path) }
        let (parent, name) = Self.split(place.existing)
        let directory = try openDirectory(parent, from: root, asked: path)
        try roots.refuseForbidden(place.asked, leadingTo: place.whole, directory)
        // Opening a device or a pipe has side effects: only a regular file is opened.
        var facts = stat()
        try perform("inspect", on: path) { fstatat(directory.raw, name, &facts, AT_SYMLINK_NOFOLLOW) }
        guard facts.st_mode & S_IFMT == S_IFREG else { return facts }
        let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC
        switch retryingInterrupts({ xfer_open_beneath(directory.raw, name, flags) }) {
        case .value(let raw):
            let file = Descriptor(owning: raw)
            return try status(of: file.raw, path: path)
        case .failure(let code): throw .system(operation: "open", path: path, code: code)
        }
    }

    /// Opens a directory for searching only: a directory of the path need not be readable.
    private func openDirectory(_ path: String, from root: String, asked: String) throws(FileError) -> Descriptor {
        let flags = Int32(XFER_O_PATH) | O_DIRECTORY
        let start: Descriptor
        switch openDescriptor(root, flags: flags) {
        case .value(let opened): start = opened
        case .failure(let code) where Descriptors.isShortage(code):
            throw .system(operation: "open", path: root, code: code)
        case .failure: throw .missing(path: root)
        }
        let relative = ResolvedPath.relative(path, to: root)
        // EAGAIN: a part of the path was renamed meanwhile (openat2(2)).
        for _ in 0..<64 {
            switch retryingInterrupts({ xfer_open_beneath(start.raw, relative, flags | O_CLOEXEC) }) {
            case .value(let raw): return Descriptor(owning: raw)
            case .failure(EAGAIN): continue
            case .failure(EXDEV), .failure(ELOOP): throw .outsideRoots(path: asked, roots: roots.roots)
            case .failure(let code): throw .system(operation: "open", path: asked, code: code)
            }
        }
        throw .system(operation: "open", path: asked, code: EAGAIN)
    }

    private static func split(_ path: String) -> (parent: String, name: String) {
        let slash = path.lastIndex(of: "/") ?? path.startIndex
        return (slash == path.startIndex ? "/" : String(path[..<slash]), String(path[path.index(after: slash)...]))
    }
}

extension SourceFile {
    init(path: String, _ facts: stat) {
        self.init(
            path: path, identity: FileIdentity(facts), length: Int64(clamping: facts.st_size),
            modifiedAt: facts.modificationNanoseconds)
    }
}
