import CLinux
import Glibc
import XferModel

/// The directories a client may have files put into, and the service's own ones that it may not.
///
/// A path is resolved first and then opened from its root with openat2(2) `RESOLVE_BENEATH`, so that a link changed in
/// between cannot lead out. Links that stay within the roots, absolute ones too, are followed.
public struct AllowedRoots: Hashable, Sendable {
    /// Absolute paths; what lies beneath them is allowed.
    public let roots: [String]
    /// Absolute paths of state, configuration and credential directories; nothing in them is allowed.
    public let forbidden: [String]

    public init(roots: [String], forbidden: [String]) {
        self.roots = roots
        self.forbidden = forbidden
    }

    /// Opens a directory beneath a root to put files into.
    ///
    /// - Parameters:
    ///   - path: absolute; links and `..` may occur as long as they stay beneath a root.
    ///   - createMissing: whether directories missing beneath the root are made (0777 less the umask) and made
    ///     durable. Never for a directory that is known to have existed: its disk may be unmounted.
    /// - Throws: `outsideRoots`, `forbidden`, `missing`, `notADirectory`, `notWritable`, `notAbsolute`, `containsNUL`,
    ///   `unsupported` for a kernel before 5.6, `system`.
    public func open(directory path: String, createMissing: Bool = false) throws(FileError) -> DirectoryHandle {
        let place = try ResolvedPath(path)
        let root = try root(of: place)
        if let problem = place.problem { throw problem }
        var handle = try openExisting(place, from: root)
        try refuseForbidden(place, handle)
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
    /// The innermost root that holds the part of the path that exists, resolved.
    func root(of place: ResolvedPath) throws(FileError) -> String {
        let candidates = roots.compactMap(ResolvedPath.real).filter { ResolvedPath.isWithin(place.existing, $0) }
        if let root = candidates.max(by: { $0.utf8.count < $1.utf8.count }) { return root }
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
        // EAGAIN: something on the way was renamed meanwhile (openat2(2)).
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

    private func requireWritable(_ handle: Descriptor, _ path: String) throws(FileError) {
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
        // Container runtimes answer EPERM for calls they do not know.
        case ENOSYS, EPERM: .unsupported("the kernel lacks openat2, Linux 5.6 or later is needed")
        default: .system(operation: "open", path: asked, code: code)
        }
    }
}

// MARK: - The service's own directories

extension AllowedRoots {
    /// Compares text, for forbidden directories that do not exist yet, and identities, for ones reached by bind mounts.
    func refuseForbidden(_ place: ResolvedPath, _ handle: Descriptor) throws(FileError) {
        let refusal = FileError.forbidden(path: place.asked, roots: roots)
        for path in forbidden where ResolvedPath.isWithin(place.whole, try ResolvedPath(path).whole) { throw refusal }
        let identities = Set(forbidden.compactMap(FileIdentity.init(ofPath:)))
        guard !identities.isEmpty else { return }
        var directory = handle
        var identity = FileIdentity(try status(of: directory.raw, path: place.asked))
        while !identities.contains(identity) {
            let parent: Descriptor
            switch openDescriptor(at: directory.raw, "..", flags: Int32(XFER_O_PATH) | O_DIRECTORY) {
            case .value(let opened): parent = opened
            case .failure(let code) where Descriptors.isShortage(code):
                throw .system(operation: "open", path: place.asked, code: code)
            case .failure: throw refusal
            }
            let parentIdentity = FileIdentity(try status(of: parent.raw, path: place.asked))
            if parentIdentity == identity { return }
            (directory, identity) = (parent, parentIdentity)
        }
        throw refusal
    }
}
