import Glibc

/// Makes paths absolute: relative ones mean the caller's directory, not the daemon's.
struct PathResolver: Sendable {
    /// Absolute.
    let workingDirectory: String

    init(workingDirectory: String) { self.workingDirectory = workingDirectory }

    /// Nil when the working directory is gone.
    static func current() -> PathResolver? {
        guard let path = getcwd(nil, 0) else { return nil }
        defer { free(path) }
        return PathResolver(workingDirectory: String(cString: path))
    }

    /// The absolute path without `.`, `..` and doubled slashes, resolved by text alone as a shell's `cd` does.
    func absolute(_ path: String) -> String {
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

    /// The `dir` and `output` of a file named by `-d` and `-o`. Either may be nil: no directory means the caller's once a
    /// name is given, no name leaves it to the server.
    ///
    /// What the user named with `-o` stays in `output`, an absolute path unless it lies right in the directory of `-d`, so
    /// that an error names the option it came from.
    func destination(directory: String?, output: String?) throws(CommandFailure) -> (dir: String?, output: String?) {
        guard let output else { return (directory.map(absolute), nil) }
        guard !output.isEmpty else { throw .usage("-o: expected a file name, found nothing") }
        guard !output.hasSuffix("/") else {
            throw .usage("-o: expected a file name, \"\(SafeText.sanitised(output))\" is a directory; use -d for those")
        }
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
