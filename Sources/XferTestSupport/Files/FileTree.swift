public import Glibc

/// Reading, writing and listing whole files and trees, for tests.
public enum FileTree {
    /// The file's bytes.
    public static func read(_ path: String) throws -> [UInt8] {
        var bytes: [UInt8] = []
        _ = try forEachChunk(of: path) { chunk in
            bytes += chunk
            return true
        }
        return bytes
    }

    /// Reads the file piece by piece while `body` returns true. Returns true if it reached the end.
    static func forEachChunk(of path: String, body: ([UInt8]) throws -> Bool) throws -> Bool {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw PosixError("open \(path)") }
        defer { close(descriptor) }
        while true {
            let chunk = try [UInt8](unsafeUninitializedCapacity: 1 << 20) { buffer, count in
                count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
                guard count >= 0 else {
                    count = 0
                    throw PosixError("read \(path)")
                }
            }
            if chunk.isEmpty { return true }
            guard try body(chunk) else { return false }
        }
    }

    /// The file as text; bytes that are not UTF-8 are replaced.
    public static func text(_ path: String) throws -> String { String(decoding: try read(path), as: UTF8.self) }

    /// Makes or replaces the file.
    public static func write(_ bytes: some Collection<UInt8>, to path: String, mode: mode_t = 0o644) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw PosixError("open \(path)") }
        defer { close(descriptor) }
        var rest = Array(bytes)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { throw PosixError("write \(path)") }
            rest = rest.dropFirst(count)
        }
    }

    /// Makes or replaces the file with UTF-8 text.
    public static func write(_ text: String, to path: String, mode: mode_t = 0o644) throws {
        try write(text.utf8, to: path, mode: mode)
    }

    public static func exists(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }

    /// The size in bytes; nil if there is no such file.
    public static func size(_ path: String) -> Int64? {
        var status = stat()
        return stat(path, &status) == 0 ? Int64(status.st_size) : nil
    }

    /// The permission bits; nil if there is no such file.
    public static func mode(_ path: String) -> mode_t? {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_mode & 0o7777 : nil
    }

    /// Sorted relative paths of everything below `path`; directories end in `/`.
    public static func entries(below path: String) throws -> [String] {
        try names(in: path).flatMap { name -> [String] in
            guard isDirectory("\(path)/\(name)") else { return [name] }
            return ["\(name)/"] + (try entries(below: "\(path)/\(name)")).map { "\(name)/\($0)" }
        }
    }

    /// Removes the file or the whole tree; files that cannot be removed stay.
    public static func remove(_ path: String) {
        if isDirectory(path) {
            _ = chmod(path, 0o700)
            for name in (try? names(in: path)) ?? [] { remove("\(path)/\(name)") }
            rmdir(path)
        } else {
            unlink(path)
        }
    }

    private static func isDirectory(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// Names in a directory, sorted.
    public static func names(in path: String) throws -> [String] {
        guard let directory = opendir(path) else { throw PosixError("opendir \(path)") }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names.sorted()
    }
}
