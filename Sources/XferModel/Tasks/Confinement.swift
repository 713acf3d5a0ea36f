/// The limits of a task that a client on the network added without the scope `operate`.
///
/// Such a task writes beneath one directory only, under no path with a hidden component, and replaces only files that
/// another such task of its owner published. The rule is stored with the task: it is enforced at each opening of the
/// directory and when the file gets its name, not only when the task is added.
public struct Confinement: Hashable, Sendable, Codable {
    /// Absolute path of the directory.
    public var directory: String

    public init(directory: String) { self.directory = directory }
}

/// Components of a path that begin with a dot.
public enum HiddenComponents {
    /// True if a file or directory of this name is hidden, such as `.bashrc`.
    public static func isHidden(_ name: some StringProtocol) -> Bool { name.utf8.first == UInt8(ascii: ".") }

    /// The directories in which `path` has a hidden component below `prefix`, outermost first.
    ///
    /// - Parameters:
    ///   - path: an absolute path without `.` and links.
    ///   - prefix: a directory that contains the path. Components of its own do not count.
    public static func parents(in path: String, below prefix: String) -> [String] {
        // By bytes: a combining mark after a slash would hide the slash from a comparison of characters.
        let above = prefix.utf8.split(separator: UInt8(ascii: "/")).count
        let components = path.utf8.split(separator: UInt8(ascii: "/")).map { String(decoding: $0, as: UTF8.self) }
        return components.indices.filter { $0 >= above && isHidden(components[$0]) }.map { index in
            "/" + components[..<index].joined(separator: "/")
        }
    }
}
