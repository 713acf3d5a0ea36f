public import Glibc

/// A new empty directory that is removed with its contents when the last reference is released.
///
/// It is below `XFER_TEST_TMP` if that is set, else below /tmp, so that soak runs can choose the file system.
public final class TemporaryDirectory: Sendable {
    /// Absolute, without symbolic links.
    public let path: String

    /// The parent for databases of tests whose subject is not the disk: a file system in memory. A commit syncs there
    /// as everywhere, and does not wait for the disk that all tests share.
    ///
    /// It is nil, which is the default parent, if `XFER_TEST_TMP` is set or less than 4 GiB are free.
    public static let memory: String? = {
        let path = "/dev/shm"
        var facts = statvfs()
        guard getenv("XFER_TEST_TMP") == nil, access(path, W_OK | X_OK) == 0, statvfs(path, &facts) == 0 else {
            return nil
        }
        return facts.f_bavail >= (4 << 30) / max(1, facts.f_frsize) ? path : nil
    }()

    /// - Parameter parent: the directory's parent; nil for the default described above.
    public init(_ prefix: String = "xfer-test", in parent: String? = nil) throws {
        let parent = parent ?? getenv("XFER_TEST_TMP").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(parent)/\(prefix).XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw PosixError("mkdtemp \(parent)") }
        let made = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        guard let resolved = realpath(made, nil) else { throw PosixError("realpath \(made)") }
        defer { free(resolved) }
        path = String(cString: resolved)
    }

    deinit { FileTree.remove(path) }

    /// The path of a file within the directory.
    public func file(_ name: String) -> String { "\(path)/\(name)" }

    /// Creates a directory within this one and returns its path.
    public func makeDirectory(_ name: String, mode: mode_t = 0o755) throws -> String {
        let created = file(name)
        guard mkdir(created, mode) == 0 else { throw PosixError("mkdir \(created)") }
        return created
    }

    /// All entries below the directory, as sorted relative paths; directories end in `/`.
    public func entries() throws -> [String] { try FileTree.entries(below: path) }
}

/// A failed system call with errno's meaning.
public struct PosixError: Error, CustomStringConvertible {
    public let description: String

    /// Reads errno: create it right after the failed call.
    public init(_ what: String) {
        description = "\(what): \(String(cString: strerror(errno)))"
    }
}
