import Glibc
public import XferModel

/// A rule that refuses paths beneath allowed roots.
public enum PathLimit: Hashable, Sendable {
    case none
    /// Hidden names directly beneath a home directory, such as `~/.ssh`: files there configure programs. A root and
    /// `configured`, the directory for downloads, may contain such a component, because the configuration contains
    /// them.
    case noHiddenNamesInHomes(configured: String)
    /// Refuses paths that do not lead into the directory of the confinement, and hidden names in it.
    case confined(Confinement)
}

extension AllowedRoots {
    /// The directory from which a path is opened: the confinement's, if the path is confined and it exists, else the
    /// root.
    ///
    /// - Throws: `outsideConfinement`, `hidden`.
    func limitedRoot(of place: ResolvedPath, in root: String) throws(FileError) -> String {
        try requireWithinLimit(place.whole, asked: place.asked) { directory throws(FileError) in
            try ResolvedPath(directory).whole
        }
        guard case .confined(let confinement) = limit, let base = ResolvedPath.real(confinement.directory),
            ResolvedPath.isWithin(base, root), ResolvedPath.isWithin(place.existing, base)
        else { return root }
        return base
    }

    /// Throws unless the limit allows a path that the roots allow.
    ///
    /// - Parameters:
    ///   - whole: the path with its links resolved, including the part that does not exist.
    ///   - isHome: true if a directory is a user's home.
    ///   - resolve: resolves the links of a directory's path in the same way.
    func requireWithinLimit(
        _ whole: String, asked: String, isHome: (String) -> Bool = HomeDirectories.contains,
        _ resolve: (String) throws(FileError) -> String
    ) throws(FileError) {
        switch limit {
        case .none: return
        case .confined(let confinement):
            let base = try resolve(confinement.directory)
            guard ResolvedPath.isWithin(whole, base) else {
                throw .outsideConfinement(path: asked, directory: confinement.directory)
            }
            guard HiddenComponents.parents(in: whole, below: base).isEmpty else {
                throw .hidden(path: asked, home: nil)
            }
        case .noHiddenNamesInHomes(let configured):
            guard !HiddenComponents.parents(in: whole, below: "/").isEmpty else { return }
            let named = (roots + [configured]).compactMap(ResolvedPath.real).filter { ResolvedPath.isWithin(whole, $0) }
            let prefix = named.max { $0.utf8.count < $1.utf8.count } ?? "/"
            let homes = HiddenComponents.parents(in: whole, below: prefix).filter(isHome)
            if let home = homes.first { throw .hidden(path: asked, home: home) }
        }
    }

    /// Throws if the limit refuses a file of this name in the directory. Blocks.
    ///
    /// - Parameter directory: a path that `open` allows.
    /// - Throws: `hidden`, and the errors of `open`.
    public func requireAllowedName(_ name: String, in directory: String) throws(FileError) {
        guard HiddenComponents.isHidden(name) else { return }
        let asked = ResolvedPath.join(ResolvedPath.tidy(directory), name)
        switch limit {
        case .none: return
        case .confined: throw .hidden(path: asked, home: nil)
        case .noHiddenNamesInHomes:
            let whole = try asUser(directory) { () throws(FileError) in
                users.isEmpty
                    ? try ResolvedPath(directory).whole
                    : try PathWalk(directory, for: users, isActing: actsAsUser).whole
            }
            try requireWithinLimit(ResolvedPath.join(whole, name), asked: asked) { directory throws(FileError) in
                directory
            }
        }
    }
}

/// The home directories of users.
enum HomeDirectories {
    /// True if a directory is the home of this process, or of the user who owns it.
    ///
    /// - Parameter path: without links.
    static func contains(_ path: String) -> Bool {
        guard path != "/" else { return false }
        let own = getenv("HOME").map { String(cString: $0) }
        if let own, ResolvedPath.real(own) == path { return true }
        var facts = stat()
        let owner = stat(path, &facts) == 0 ? facts.st_uid : nil
        return Set([geteuid(), owner].compactMap(\.self)).contains { uid in
            home(of: uid).flatMap(ResolvedPath.real) == path
        }
    }

    /// The home directory of a user according to the account database; nil if the database does not have the user. May
    /// block.
    private static func home(of uid: uid_t) -> String? {
        var entry = passwd()
        var size = 4096
        while size <= 1 << 20 {
            let buffer = UnsafeMutablePointer<CChar>.allocate(capacity: size)
            defer { buffer.deallocate() }
            var found: UnsafeMutablePointer<passwd>?
            let status = getpwuid_r(uid, &entry, buffer, size, &found)
            if status != ERANGE { return found.flatMap { $0.pointee.pw_dir }.map { String(cString: $0) } }
            size *= 4
        }
        return nil
    }
}
