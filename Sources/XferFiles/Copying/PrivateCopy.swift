import Glibc

/// Copies a file of the service to a path that a user chose, and back.
///
/// The copy is a new file with mode 0600: no existing name is replaced, and a symbolic link is not followed as the last
/// component. Blocks.
public enum PrivateCopy {
    /// Writes a durable copy. Returns its length in bytes.
    ///
    /// - Throws: `notAbsolute`, `containsNUL`, `nameTaken`, `notWritable`, `missing`, `system`; then there is no copy.
    public static func write(_ source: String, to target: String) throws(FileError) -> Int64 {
        guard !target.utf8.contains(0) else { throw .containsNUL(path: target) }
        guard target.hasPrefix("/") else { throw .notAbsolute(path: target) }
        let from = try open(source, flags: O_RDONLY | O_NONBLOCK)
        let status = try XferFiles.status(of: from.raw, path: source)
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw .system(operation: "copy (it is not a regular file)", path: source, code: EINVAL)
        }
        let into = try open(target, flags: O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW)
        do throws(FileError) {
            // The umask may have been wider or narrower.
            try perform("make private", on: target) { fchmod(into.raw, 0o600) }
            let length = Int64(clamping: status.st_size)
            _ = try FileCopy.copy(from: from.raw, to: into.raw, length: length)
            try perform("write out", on: target) { fsync(into.raw) }
            try syncParent(of: target)
            return length
        } catch {
            unlink(target)
            throw error
        }
    }

    private static func open(_ path: String, flags: Int32) throws(FileError) -> Descriptor {
        switch openDescriptor(path, flags: flags, mode: 0o600) {
        case .value(let descriptor): return descriptor
        case .failure(EEXIST), .failure(ELOOP): throw .nameTaken(path: path)
        case .failure(ENOENT), .failure(ENOTDIR): throw .missing(path: path)
        case .failure(let code) where [EACCES, EPERM, EROFS].contains(code): throw .notWritable(path: path, code: code)
        case .failure(let code): throw .system(operation: "open", path: path, code: code)
        }
    }

    private static func syncParent(of path: String) throws(FileError) {
        let parent = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ""
        try DirectoryHandle(ofService: parent.isEmpty ? "/" : parent).sync()
    }
}
