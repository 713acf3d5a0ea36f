import CLinux
import Glibc
import XferModel

/// The directories whose files a client may use, and the service's own directories that no client may use.
///
/// A path is first resolved and then opened from its root with openat2(2) and `RESOLVE_BENEATH`. So a link that is
/// changed in between cannot lead out of the root. Links that stay within the roots are followed, including absolute
/// ones. If `users` is not empty, `PathWalk` opens the path instead.
public struct AllowedRoots: Hashable, Sendable {
    /// Absolute paths. A client may use the directories beneath them.
    public let roots: [String]
    /// Absolute paths of state, configuration and credential directories. No client may use a path in them.
    public let forbidden: [String]
    /// Users who need permissions on every directory from `/` on, in addition to the service itself. Each user is
    /// checked separately. Empty for operators.
    public let users: [FileUser]
    /// The paths that are refused beneath the roots.
    public let limit: PathLimit
    /// True if paths are walked in a thread with the first user's permissions.
    let actsAsUser: Bool

    public init(
        roots: [String], forbidden: [String], users: [FileUser] = [], limit: PathLimit = .none
    ) {
        self.init(
            roots: roots, forbidden: forbidden, users: users,
            actsAsUser: !users.isEmpty && UserThread.isPossible, limit: limit)
    }

    init(
        roots: [String], forbidden: [String], users: [FileUser], actsAsUser: Bool, limit: PathLimit = .none
    ) {
        self.roots = roots
        self.forbidden = forbidden
        self.users = users
        self.limit = limit
        self.actsAsUser = actsAsUser && !users.isEmpty
    }

    /// The same directories with another limit.
    public func limited(by limit: PathLimit) -> AllowedRoots {
        AllowedRoots(roots: roots, forbidden: forbidden, users: users, actsAsUser: actsAsUser, limit: limit)
    }

    /// The use for which a directory is opened.
    public enum Purpose: Hashable, Sendable {
        /// The purpose of creating, renaming and removing files in it.
        case writing
        /// The purpose of reading files in it. If `users` is empty, reading needs the same permissions as `writing`.
        case reading
    }

    /// Opens a directory beneath a root.
    ///
    /// - Parameters:
    ///   - path: an absolute path. It may contain links and `..` if it stays beneath a root.
    ///   - createMissing: true if directories missing beneath the root are made (0777 less the umask) and made durable.
    ///     Pass false if the directory is known to have existed: its file system may be unmounted.
    /// - Throws: `outsideRoots`, `forbidden`, `outsideConfinement`, `hidden`, `missing`, `notADirectory`,
    ///   `notWritable`, `notAbsolute`, `containsNUL`, `notPermitted` and `undecidable` if `users` is not empty,
    ///   `unsupported` for a kernel before 5.6, `system`.
    public func open(
        directory path: String, createMissing: Bool = false, for purpose: Purpose = .writing
    ) throws(FileError) -> DirectoryHandle {
        guard users.isEmpty else { return try openForUsers(path, createMissing: createMissing, for: purpose) }
        let place = try ResolvedPath(path)
        let outermost = try root(of: place)
        let root = try limitedRoot(of: place, in: outermost)
        if let problem = place.problem { throw problem }
        var handle = try openExisting(place, from: root)
        try refuseForbidden(place.asked, leadingTo: place.whole, handle)
        if !place.missing.isEmpty, !createMissing || place.missing.contains("..") { throw .missing(path: path) }
        var here = place.existing
        for name in place.missing {
            handle = try makeDirectory(name, in: handle, at: here, asked: path)
            here = ResolvedPath.join(here, name)
        }
        try requireWritable(handle, path)
        return try DirectoryHandle(path: place.asked, handle: handle)
    }
}

// MARK: - Steps

extension AllowedRoots {
    /// The innermost root that contains the resolved, existing part of the path.
    ///
    /// Roots that contain it by their text come first: another root may be on a file system that does not answer.
    func root(of place: ResolvedPath) throws(FileError) -> String {
        let isLikely = { ResolvedPath.isWithin(place.existing, ResolvedPath.tidy($0)) }
        for some in [roots.filter(isLikely), roots.filter { !isLikely($0) }] {
            let candidates = some.compactMap(ResolvedPath.real).filter { ResolvedPath.isWithin(place.existing, $0) }
            if let root = candidates.max(by: { $0.utf8.count < $1.utf8.count }) { return root }
        }
        let unavailable = roots.first {
            ResolvedPath.real($0) == nil && ResolvedPath.isWithin(place.asked, ResolvedPath.tidy($0))
        }
        if let unavailable { throw .missing(path: unavailable) }
        throw .outsideRoots(path: place.asked, roots: roots)
    }

    private func openExisting(_ place: ResolvedPath, from root: String) throws(FileError) -> Descriptor {
        switch openDescriptor(root, flags: Int32(XFER_O_PATH) | O_DIRECTORY) {
        case .value(let handle):
            return try openBeneath(handle, ResolvedPath.relative(place.existing, to: root), asked: place.asked)
        case .failure(let code): throw refusal(code, asked: place.asked)
        }
    }

    private func openBeneath(_ parent: Descriptor, _ path: String, asked: String) throws(FileError) -> Descriptor {
        // EAGAIN means that another process has renamed a part of the path meanwhile (openat2(2)); try again.
        for _ in 0..<64 {
            let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC
            switch retryingInterrupts({ xfer_open_beneath(parent.raw, path, flags) }) {
            case .value(let raw): return Descriptor(owning: raw)
            case .failure(EAGAIN): continue
            case .failure(let code): throw refusal(code, asked: asked)
            }
        }
        throw refusal(EAGAIN, asked: asked)
    }

    private func makeDirectory(
        _ name: String, in parent: Descriptor, at parentPath: String, asked: String
    ) throws(FileError) -> Descriptor {
        switch retryingInterrupts({ mkdirat(parent.raw, name, 0o777) }) {
        case .value: try perform("write out", on: parentPath) { fsync(parent.raw) }
        case .failure(EEXIST): break
        case .failure(let code) where [EACCES, EPERM, EROFS].contains(code):
            throw .notWritable(path: parentPath, code: code)
        case .failure(let code):
            throw .system(operation: "make the directory", path: ResolvedPath.join(parentPath, name), code: code)
        }
        return try openBeneath(parent, name, asked: asked)
    }

    func requireWritable(_ handle: Descriptor, _ path: String) throws(FileError) {
        switch retryingInterrupts({ faccessat(handle.raw, ".", W_OK | X_OK, AT_EACCESS) }) {
        case .value: return
        case .failure(let code): throw .notWritable(path: path, code: code)
        }
    }

    private func refusal(_ code: Int32, asked: String) -> FileError {
        switch code {
        case EXDEV, ELOOP: .outsideRoots(path: asked, roots: roots)
        case ENOENT: .missing(path: asked)
        case ENOTDIR: .notADirectory(path: asked)
        case EACCES: .notWritable(path: asked, code: code)
        // Container runtimes return EPERM for system calls they do not know, systemd's RestrictSUIDSGID= returns
        // ENOSYS.
        case ENOSYS, EPERM:
            .unsupported("openat2 is needed: the kernel is older than Linux 5.6, or a filter of system calls denies it")
        default: .system(operation: "open", path: asked, code: code)
        }
    }
}

// MARK: - The service's own directories

extension AllowedRoots {
    /// Throws `forbidden` if a path is in a forbidden directory. Compares paths as text, because a forbidden directory
    /// may not exist yet. Also compares file identities, because a bind mount may lead to a forbidden directory.
    ///
    /// - Parameters:
    ///   - whole: `asked` with its links resolved, including the part that does not exist.
    ///   - handle: the deepest directory of the path that exists.
    func refuseForbidden(_ asked: String, leadingTo whole: String, _ handle: Descriptor) throws(FileError) {
        let refusal = FileError.forbidden(path: asked, roots: roots)
        for path in forbidden where ResolvedPath.isWithin(whole, try ResolvedPath(path).whole) { throw refusal }
        let identities = Set(forbidden.compactMap(FileIdentity.init(ofPath:)))
        guard !identities.isEmpty else { return }
        var directory = handle
        var identity = FileIdentity(try status(of: directory.raw, path: asked))
        while !identities.contains(identity) {
            let parent: Descriptor
            switch openDescriptor(at: directory.raw, "..", flags: Int32(XFER_O_PATH) | O_DIRECTORY) {
            case .value(let opened): parent = opened
            case .failure(let code) where Descriptors.isShortage(code):
                throw .system(operation: "open", path: asked, code: code)
            case .failure: throw refusal
            }
            let parentIdentity = FileIdentity(try status(of: parent.raw, path: asked))
            if parentIdentity == identity { return }
            (directory, identity) = (parent, parentIdentity)
        }
        throw refusal
    }
}
