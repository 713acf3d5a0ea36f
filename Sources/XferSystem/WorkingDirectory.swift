import Glibc

/// The process's working directory (getcwd(3)).
public enum WorkingDirectory {
    /// The absolute path, or nil if the directory was removed or cannot be reached.
    public static var path: String? {
        guard let path = getcwd(nil, 0) else { return nil }
        defer { free(path) }
        return String(cString: path)
    }
}
