import CLinux
import Glibc
import XferModel

/// Follows a path from `/` on, a directory at a time, as path_resolution(7) does, and checks that its users may search
/// each of them. It keeps descriptors open: even if a directory is renamed meanwhile, it was allowed when it was
/// passed.
struct PathWalk {
    /// A directory on the way.
    struct Step {
        let handle: Descriptor
        let facts: stat
        let name: String

        var identity: FileIdentity { FileIdentity(facts) }
        var permissions: FilePermissions { FilePermissions(of: handle, facts) }
    }

    let asked: String
    private let users: [FileUser]
    /// True if the calling thread has the first user's permissions: where mode bits do not decide, the kernel did.
    private let isActing: Bool
    /// The directories from `/` to the end of the path, links resolved.
    private(set) var steps: [Step] = []
    /// The components that do not exist.
    private(set) var missing: [String] = []
    /// The file at the end of the path, if that is not a directory.
    private(set) var file: (handle: Descriptor, facts: stat, name: String)?
    /// The reason why it ended where it did, unless the rest is just missing.
    private(set) var problem: FileError?

    /// The highest number of symbolic links on a path, as in the kernel.
    private static let maxLinks = 40

    init(_ path: String, for users: [FileUser], isActing: Bool) throws(FileError) {
        guard !path.utf8.contains(0) else { throw .containsNUL(path: path) }
        guard path.hasPrefix("/") else { throw .notAbsolute(path: path) }
        asked = ResolvedPath.tidy(path)
        self.users = users
        self.isActing = isActing
        switch openDescriptor("/", flags: Int32(XFER_O_PATH) | O_DIRECTORY) {
        case .value(let handle): steps = [Step(handle: handle, facts: try status(of: handle.raw, path: "/"), name: "")]
        case .failure(let code): throw .system(operation: "open", path: "/", code: code)
        }
        do throws(FileError) { try follow() } catch { problem = error }
    }

    /// The directory it ended in.
    var last: Step { steps[steps.count - 1] }

    /// The path with its links resolved, including missing parts.
    var whole: String {
        "/" + (steps.dropFirst().map(\.name) + (file.map { [$0.name] } ?? []) + missing).joined(separator: "/")
    }

    func passes(_ directories: Set<FileIdentity>) -> Bool { steps.contains { directories.contains($0.identity) } }

    /// Throws unless every user may do this with a file or directory that was reached.
    func require(
        _ access: FilePermissions.Access, of permissions: FilePermissions, _ wish: String
    ) throws(FileError) {
        for user in users {
            switch permissions.decision(about: access, for: user) {
            case .permitted: break
            case .denied: throw .notPermitted(path: asked, uid: user.uid, wish: "\(wish) \(whole.quoted)")
            case .undecided: if !isActing { throw .undecidable(path: asked, uid: user.uid, at: whole) }
            }
        }
    }

    // MARK: Steps

    private mutating func follow() throws(FileError) {
        var rest = Array(ResolvedPath.components(asked).reversed())
        var links = 0
        while let name = rest.popLast() {
            try require(.search, of: last.permissions, "search")
            if name == ".." {
                if steps.count > 1 { steps.removeLast() }
                continue
            }
            guard let (handle, facts) = try look(at: name) else {
                missing = [name] + rest.reversed()
                return
            }
            switch facts.st_mode & S_IFMT {
            case S_IFDIR: steps.append(Step(handle: handle, facts: facts, name: name))
            case S_IFLNK:
                links += 1
                guard links <= Self.maxLinks else { throw .system(operation: "resolve", path: asked, code: ELOOP) }
                let target = try target(of: handle)
                if target.hasPrefix("/") { steps.removeSubrange(1...) }
                rest += ResolvedPath.components(target).reversed()
            default:
                file = (handle, facts, name)
                guard rest.isEmpty else { throw .notADirectory(path: asked) }
            }
        }
    }

    /// The entry of that name; nil when there is none.
    private func look(at name: String) throws(FileError) -> (Descriptor, stat)? {
        // First as a directory: that triggers automounts.
        for flags in [O_DIRECTORY, 0] {
            switch openDescriptor(at: last.handle.raw, name, flags: Int32(XFER_O_PATH) | O_NOFOLLOW | flags) {
            case .value(let handle): return (handle, try status(of: handle.raw, path: asked))
            case .failure(ENOENT): return nil
            case .failure(ENOTDIR) where flags != 0: continue
            case .failure(let code) where code == EACCES:
                throw .notWritable(path: asked, code: code)
            case .failure(let code): throw .system(operation: "open", path: asked, code: code)
            }
        }
        return nil
    }

    private func target(of link: Descriptor) throws(FileError) -> String {
        var bytes = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = try perform("read the link", on: asked) {
            bytes.withUnsafeMutableBytes { room in
                room.baseAddress.map { readlinkat(link.raw, "", $0, room.count) } ?? 0
            }
        }
        guard count > 0, count < bytes.count else {
            throw .system(operation: "resolve", path: asked, code: ENAMETOOLONG)
        }
        return String(decoding: bytes[..<count], as: UTF8.self)
    }
}
