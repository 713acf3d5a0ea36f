import CLinux
import Glibc
import XferModel

/// Opening on behalf of users: their permissions are checked on every directory from `/` on. `PathWalk` itself finds
/// the roots.
extension AllowedRoots {
    func openForUsers(
        _ path: String, createMissing: Bool, for purpose: Purpose
    ) throws(FileError) -> DirectoryHandle {
        let found = try asUser(path) { () throws(FileError) in
            try walk(path, createMissing: createMissing, for: purpose)
        }
        // Opened with the service's permissions: syncing entries needs read permission, which the user may not have.
        let handle: Descriptor
        switch openDescriptor(at: found.raw, ".", flags: O_RDONLY | O_DIRECTORY) {
        case .value(let opened): handle = opened
        case .failure(let code) where code == EACCES: throw .notWritable(path: path, code: code)
        case .failure(let code): throw .system(operation: "open", path: path, code: code)
        }
        if purpose == .writing { try requireWritable(handle, path) }
        return try DirectoryHandle(path: ResolvedPath.tidy(path), handle: handle, for: self)
    }

    /// Runs `body` with the first user's rights if that is possible.
    func asUser<Value: Sendable>(
        _ path: String, _ body: @escaping @Sendable () throws(FileError) -> Value
    ) throws(FileError) -> Value {
        guard actsAsUser, let user = users.first else { return try body() }
        return try UserThread.run(as: user, path: path, body)
    }

    // MARK: The way

    /// A descriptor of the directory, fit for nothing but being opened (O_PATH).
    private func walk(_ path: String, createMissing: Bool, for purpose: Purpose) throws(FileError) -> Descriptor {
        let way = try admittedWay(path)
        guard way.file == nil else { throw .notADirectory(path: path) }
        if !way.missing.isEmpty, !createMissing || way.missing.contains("..") { throw .missing(path: path) }
        var last = way.last
        for name in way.missing {
            last = try make(name, in: last, way, asked: path)
        }
        if purpose == .writing {
            try way.require([.write, .search], of: last.permissions, "write in")
            if actsAsUser { try requireWritable(last.handle, path) }
        } else {
            try way.require(.search, of: last.permissions, "search")
        }
        return last.handle
    }

    /// A path beneath a root, outside the service's own directories; the file or directory itself may be missing.
    func admittedWay(_ path: String) throws(FileError) -> PathWalk {
        let way = try PathWalk(path, for: users, isActing: actsAsUser)
        guard way.passes(Set(roots.compactMap { FileIdentity(ofPath: $0) })) else { throw outside(way) }
        try requireWithinLimit(way.whole, asked: way.asked) { directory throws(FileError) in
            try PathWalk(directory, for: users, isActing: actsAsUser).whole
        }
        if let problem = way.problem { throw problem }
        try refuseForbidden(way.asked, leadingTo: way.whole, way.last.handle)
        return way
    }

    /// The error for a path that leads beneath no root. It reveals nothing outside the roots except directories on the
    /// path to a root.
    private func outside(_ way: PathWalk) -> FileError {
        let named = roots.filter { ResolvedPath.isWithin(way.asked, ResolvedPath.tidy($0)) }
        if let problem = way.problem, !named.isEmpty, problem.isAboutRights { return problem }
        if let gone = named.first(where: { FileIdentity(ofPath: $0) == nil }) { return .missing(path: gone) }
        return .outsideRoots(path: way.asked, roots: roots)
    }

    // MARK: Directories that are missing

    /// Creates a directory in which its user can write, too: as that user, or else with the permissions of its parent.
    private func make(
        _ name: String, in parent: PathWalk.Step, _ way: PathWalk, asked path: String
    ) throws(FileError) -> PathWalk.Step {
        try way.require([.write, .search], of: parent.permissions, "make a directory in")
        let isNew: Bool
        switch retryingInterrupts({ mkdirat(parent.handle.raw, name, 0o777) }) {
        case .value:
            isNew = true
            makeDurable(parent.handle)
        case .failure(EEXIST): isNew = false
        case .failure(let code) where [EACCES, EPERM, EROFS].contains(code): throw .notWritable(path: path, code: code)
        case .failure(let code): throw .system(operation: "make the directory", path: path, code: code)
        }
        let flags = Int32(XFER_O_PATH) | O_DIRECTORY | O_NOFOLLOW
        guard case .value(let handle) = openDescriptor(at: parent.handle.raw, name, flags: flags) else {
            throw .missing(path: path)
        }
        let made = PathWalk.Step(handle: handle, facts: try status(of: handle.raw, path: path), name: name)
        guard isNew, !actsAsUser else { return made }
        return try open(made, to: way, like: parent, asked: path)
    }

    /// Makes the directory durable if its user can do that: a directory that the user may write but not read is not
    /// synced.
    private func makeDurable(_ parent: Descriptor) {
        guard case .value(let handle) = openDescriptor(at: parent.raw, ".", flags: O_RDONLY | O_DIRECTORY) else {
            return
        }
        _ = fsync(handle.raw)
    }

    private func open(
        _ made: PathWalk.Step, to way: PathWalk, like parent: PathWalk.Step, asked path: String
    ) throws(FileError) -> PathWalk.Step {
        let mode = parent.facts.st_mode & 0o777 | made.facts.st_mode & mode_t(S_ISGID)
        guard made.facts.st_uid == geteuid(),
            case .value(let handle) = openDescriptor(at: made.handle.raw, ".", flags: O_RDONLY | O_DIRECTORY)
        else { return made }
        do throws(FileError) {
            try perform("set the mode of", on: path) { fchmod(handle.raw, mode) }
            let opened = PathWalk.Step(
                handle: made.handle, facts: try status(of: handle.raw, path: path), name: made.name)
            try way.require(
                [.write, .search], of: opened.permissions, "write in a directory that the service makes for it in")
            return opened
        } catch {
            _ = unlinkat(parent.handle.raw, made.name, AT_REMOVEDIR)
            throw error
        }
    }
}

extension FileError {
    /// True if a permission is missing, which the operator has to know.
    fileprivate var isAboutRights: Bool {
        switch self {
        case .notPermitted, .undecidable, .notWritable: true
        case .system(_, _, let code): code != ELOOP
        default: false
        }
    }
}
