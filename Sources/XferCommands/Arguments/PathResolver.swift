import Glibc
import XferSystem

/// Makes paths absolute. Relative paths are relative to the caller's working directory, not to the daemon's.
///
/// Paths for a daemon on another machine stay unchanged: only it knows what they are relative to.
struct PathResolver: Sendable {
    /// An absolute path; nil if paths are of another machine.
    let workingDirectory: String?
    /// True if a bare file name belongs in the daemon's own directory, and not in the working directory: always on
    /// another machine, and in a fleet, whose nodes need not have the working directory.
    let namesAreDaemons: Bool

    init(workingDirectory: String, namesAreDaemons: Bool = false) {
        self.workingDirectory = workingDirectory
        self.namesAreDaemons = namesAreDaemons
    }

    private init() { (workingDirectory, namesAreDaemons) = (nil, true) }

    /// A resolver for another machine.
    static let remote = PathResolver()

    var isRemote: Bool { workingDirectory == nil }

    /// A resolver for a connection: another machine, or else the process's working directory.
    static func current(for connection: ConnectionOptions) -> PathResolver? {
        connection.isRemote ? .remote : here(namesAreDaemons: connection.isFleet)
    }

    /// A resolver for the process's working directory; nil when that directory was removed.
    static func here(namesAreDaemons: Bool = false) -> PathResolver? {
        WorkingDirectory.path.map { PathResolver(workingDirectory: $0, namesAreDaemons: namesAreDaemons) }
    }

    /// The absolute path without `.`, `..` and doubled slashes, resolved by text alone as a shell's `cd` does.
    func absolute(_ path: String) -> String {
        guard let workingDirectory else { return path }
        // Shells do not expand it in `--dir=~/x`. A directory of that name is `./~`.
        if path == "~" || path.hasPrefix("~/"), let home = getenv("HOME").map({ String(cString: $0) }),
            home.hasPrefix("/")
        {
            return absolute(home + path.dropFirst())
        }
        let whole = path.hasPrefix("/") ? path : workingDirectory + "/" + path
        var components: [Substring] = []
        for component in whole.split(separator: "/") {
            switch component {
            case ".": continue
            case "..": _ = components.popLast()
            default: components.append(component)
            }
        }
        return "/" + components.joined(separator: "/")
    }

    /// The task's `dir` and `output` for the options `-d` and `-o`. A relative `-o` is relative to the directory of
    /// `-d`, or without `-d` to the working directory, unless the names are the daemon's. Without `-o`, `output` is
    /// nil, and the server's response decides the file's name.
    ///
    /// If the file is directly in the directory of `-d`, `output` is its bare name. Otherwise `dir` is nil, and
    /// `output` is an absolute path. So an error about `output` is always about `-o`.
    func destination(directory: String?, output: String?) throws(CommandFailure) -> (dir: String?, output: String?) {
        if isRemote, let directory, !directory.hasPrefix("/") {
            throw .usage(
                "-d: expected an absolute path of the daemon's machine, found \"\(SafeText.sanitised(directory))\"; "
                    + "without -d, a relative -o is below the daemon's own directory")
        }
        guard let output else { return (directory.map(absolute), nil) }
        guard !output.isEmpty else { throw .usage("-o: expected a file name, found nothing") }
        guard !output.hasSuffix("/") else {
            throw .usage("-o: expected a file name, \"\(SafeText.sanitised(output))\" is a directory; use -d for those")
        }
        guard !isRemote else { return (directory, output) }
        if namesAreDaemons, directory == nil, !output.contains("/") { return (nil, output) }
        let path = output.hasPrefix("/") ? absolute(output) : absolute((directory ?? ".") + "/" + output)
        guard let slash = path.lastIndex(of: "/"), path.count > 1, !output.hasSuffix("/.."), output != ".." else {
            throw .usage("-o: expected a file name, \"\(SafeText.sanitised(output))\" is a directory; use -d for those")
        }
        guard let directory = directory.map(absolute), path[..<slash] == (directory == "/" ? "" : directory) else {
            return (nil, path)
        }
        return (directory, String(path[path.index(after: slash)...]))
    }
}
