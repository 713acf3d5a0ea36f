import CLinux
import Glibc
public import XferModel

/// Looks at the files a client wants sent, when it asks for that: what they are is noted, so that later nothing else is sent
/// in their place.
///
/// The path is resolved first and then opened from its root with openat2(2) `RESOLVE_BENEATH`, as `AllowedRoots` does
/// for directories; who may read is judged by the inode that was opened, not by its path.
public struct SourceAdmission: Sendable {
    /// A client that may not read everything the service may.
    public struct Reader: Hashable, Sendable {
        public var uid: UInt32
        /// Its group and its supplementary ones.
        public var groups: [UInt32]

        public init(uid: UInt32, groups: [UInt32]) {
            self.uid = uid
            self.groups = groups
        }
    }

    private let roots: AllowedRoots
    private let reader: Reader?

    /// For operators: any regular file the service can read.
    ///
    /// - Parameter forbidden: state, configuration and credential directories; absolute.
    public init(forbidden: [String]) {
        roots = AllowedRoots(roots: ["/"], forbidden: forbidden)
        reader = nil
    }

    /// For others: regular files beneath their roots that they could read themselves.
    public init(roots: [String], forbidden: [String], reader: Reader) {
        self.roots = AllowedRoots(roots: roots, forbidden: forbidden)
        self.reader = reader
    }

    /// What the file is now.
    ///
    /// - Parameter path: absolute; links and `..` may occur as long as they stay beneath a root.
    public func admit(_ path: String) throws(SourceError) -> SourceFile {
        let facts: stat
        do throws(FileError) {
            facts = try open(path)
        } catch {
            throw SourceError(error)
        }
        try SourceError.requireRegular(facts, path)
        if let reader, !reader.mayRead(facts) { throw .unreadable(path: path, code: EACCES) }
        return SourceFile(path: path, facts)
    }

    private func open(_ path: String) throws(FileError) -> stat {
        let place = try ResolvedPath(path)
        let root = try roots.root(of: place)
        if let problem = place.problem { throw problem }
        guard place.missing.isEmpty else { throw .missing(path: path) }
        guard place.existing != root else { throw .isADirectory(path: path) }
        let (parent, name) = Self.split(place.existing)
        let directory = try openDirectory(parent, from: root, asked: path)
        try roots.refuseForbidden(place, directory)
        // Opening a device or a pipe has effects of its own: only what is a file is opened.
        var facts = stat()
        try perform("inspect", on: path) { fstatat(directory.raw, name, &facts, AT_SYMLINK_NOFOLLOW) }
        guard facts.st_mode & S_IFMT == S_IFREG else { return facts }
        let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC
        switch retryingInterrupts({ xfer_open_beneath(directory.raw, name, flags) }) {
        case .value(let raw):
            let file = Descriptor(owning: raw)
            let opened = try status(of: file.raw, path: path)
            if let reader, reader.isNotOwner(opened), Self.hasAccessList(file) {
                throw .system(operation: "read the access control list of", path: path, code: EACCES)
            }
            return opened
        case .failure(let code): throw .system(operation: "open", path: path, code: code)
        }
    }

    /// For searching only: a directory on the way need not be readable.
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
        // EAGAIN: something on the way was renamed meanwhile (openat2(2)).
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

    /// acl(5): the group bits are then a mask and say nothing about one group.
    private static func hasAccessList(_ file: Descriptor) -> Bool {
        xfer_has_access_list(file.raw) != 0
    }
}

extension SourceAdmission.Reader {
    /// As the kernel decides (path_resolution(7)): the owner's bits for the owner, the group's for its members, the rest's
    /// for the rest.
    func mayRead(_ facts: stat) -> Bool {
        if facts.st_uid == uid { return facts.st_mode & S_IRUSR != 0 }
        if groups.contains(facts.st_gid) { return facts.st_mode & S_IRGRP != 0 }
        return facts.st_mode & S_IROTH != 0
    }

    /// Whether more than the owner's bits count, so that an access control list may say otherwise.
    func isNotOwner(_ facts: stat) -> Bool { facts.st_uid != uid }
}

extension SourceFile {
    init(path: String, _ facts: stat) {
        self.init(
            path: path, identity: FileIdentity(facts), length: Int64(clamping: facts.st_size),
            modifiedAt: facts.modificationNanoseconds)
    }
}
