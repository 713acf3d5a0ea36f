import Glibc

/// The kind of a database file, found without SQLite, which would write to it
/// (https://sqlite.org/fileformat2.html#the_database_header).
enum DatabaseFile {
    enum Kind: Equatable {
        /// The file is missing, empty, or without a schema.
        case blank
        /// The file was created by this program, with the schema version in its header; the write-ahead log may contain
        /// a newer one.
        case ours(version: Int)
        case foreign
    }

    static func inspect(_ path: String) throws(StoreError) -> Kind {
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            guard errno == ENOENT else { throw failure(path) }
            return .blank
        }
        defer { Glibc.close(descriptor) }
        var header = [UInt8](repeating: 0, count: 108)
        let count = pread(descriptor, &header, header.count, 0)
        guard count >= 0 else { throw failure(path) }
        guard count > 0 else { return .blank }
        guard count == header.count, header.starts(with: "SQLite format 3\0".utf8) else { return .foreign }
        func big(_ offset: Int) -> UInt32 { header[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32(clamping: $1) } }
        switch Int32(bitPattern: big(68)) {
        case Migration.applicationID: return .ours(version: Int(clamping: big(60)))
        // Page 1 is the schema's: a leaf (13) with no cells is a database whose first migration is in the log or
        // failed.
        case 0 where header[100] == 13 && header[103] == 0 && header[104] == 0: return .blank
        default: return .foreign
        }
    }

    /// Checks for damage without SQLite, which would write to the files, or remove a log whose database is missing and
    /// continue with an empty queue.
    ///
    /// - Returns: the schema version that results from the log; nil if the log does not contain it.
    /// - Throws: `damaged` with advice; `cannotOpen` when a file cannot be read.
    @discardableResult
    static func refuseDamage(_ path: String) throws(StoreError) -> Int? {
        var findings: [String] = []
        let length = try length(of: path)
        if length ?? 0 == 0, LogInspection.hasFrames(path) {
            findings.append(
                """
                \(path) is \(length == nil ? "missing" : "empty") beside its write-ahead log \(path)-wal of \
                \(LogInspection.length(of: path)) bytes: restore the database file, together with the log that belongs \
                to it, or use --recover, which keeps the log's contents
                """)
        } else if let length, !hasLog(path), let expected = try expectedLength(of: path), length < expected {
            findings.append("\(path) has \(length) bytes, expected \(expected): its end is missing")
        }
        let log = try LogInspection.inspect(path)
        if let fault = log.fault { findings.append(fault) }
        if !findings.isEmpty { throw .damaged(findings) }
        return log.version
    }

    /// The length in bytes, or nil when there is no such file.
    private static func length(of path: String) throws(StoreError) -> Int? {
        var status = stat()
        if stat(path, &status) == 0 { return status.st_size }
        guard errno == ENOENT else { throw failure(path) }
        return nil
    }

    /// The length that the header of a database without a log states; nil when it states none.
    private static func expectedLength(of path: String) throws(StoreError) -> Int? {
        guard let header = try header(of: path) else { return nil }
        func big(_ offset: Int) -> UInt32 { header[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32(clamping: $1) } }
        // The number of pages is valid only if it was written with the last change.
        guard big(24) == big(92), big(28) > 0 else { return nil }
        let size = UInt32(clamping: header[16]) << 8 | UInt32(clamping: header[17])
        return Int(clamping: big(28)) * Int(clamping: size == 1 ? 65_536 : size)
    }

    /// The first bytes; nil when there are fewer, or no such file.
    private static func header(of path: String) throws(StoreError) -> [UInt8]? {
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            guard errno == ENOENT else { throw failure(path) }
            return nil
        }
        defer { Glibc.close(descriptor) }
        var header = [UInt8](repeating: 0, count: 100)
        return pread(descriptor, &header, header.count, 0) == header.count ? header : nil
    }

    /// True if a write-ahead log exists: a clean close removes it.
    static func hasLog(_ path: String) -> Bool {
        var status = stat()
        return stat(path + "-wal", &status) == 0 && status.st_size > 0
    }

    /// Makes the file with mode 0600 before SQLite opens it; SQLite gives -wal and -shm the same mode. An existing file
    /// is made private.
    static func make(_ path: String) throws(StoreError) {
        let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure(path) }
        defer { Glibc.close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure(path) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw .cannotOpen(path: path, reason: "it is not a regular file")
        }
        if status.st_mode & 0o077 != 0, fchmod(descriptor, 0o600) != 0 { throw failure(path) }
        if status.st_size == 0 { try syncDirectory(of: path) }
    }

    /// Makes added and removed names in the file's directory durable.
    static func syncDirectory(of path: String) throws(StoreError) {
        let directory = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        let descriptor = Glibc.open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(directory) }
        defer { Glibc.close(descriptor) }
        guard fsync(descriptor) == 0 else { throw failure(directory) }
    }

    static func failure(_ path: String) -> StoreError {
        .cannotOpen(path: path, reason: String(cString: strerror(errno)))
    }
}

extension DatabaseFile {
    /// The schema version at the end of the write-ahead log beside the file; nil when the log contains none of this
    /// program's (https://sqlite.org/fileformat2.html#walformat). SQLite would report it only after it has changed the
    /// files.
    ///
    /// Checksums are not verified: the result can only lead to a refusal, or to SQLite, which verifies them.
    static func versionInLog(_ path: String) -> Int? {
        let descriptor = Glibc.open(path + "-wal", O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { Glibc.close(descriptor) }
        func words(_ count: Int, at offset: Int64) -> [UInt32]? {
            var bytes = [UInt8](repeating: 0, count: count * 4)
            guard pread(descriptor, &bytes, bytes.count, off_t(clamping: offset)) == bytes.count else { return nil }
            return (0..<count).map { index in
                bytes[index * 4..<index * 4 + 4].reduce(0) { $0 << 8 | UInt32(truncatingIfNeeded: $1) }
            }
        }
        guard let header = words(8, at: 0), header[0] | 1 == 0x377f_0683 else { return nil }
        let pageSize = Int64(clamping: header[2])
        guard (512...65_536).contains(pageSize) else { return nil }
        var committed: Int?
        var pending: Int?
        var offset: Int64 = 32
        // Frames of an earlier round have other salts; a frame with a size of the database ends a transaction.
        while let frame = words(6, at: offset), frame[2] == header[4], frame[3] == header[5] {
            if frame[0] == 1, let page = words(18, at: offset + 24),
                Int32(bitPattern: page[17]) == Migration.applicationID
            {
                pending = Int(clamping: page[15])
            }
            if frame[1] != 0 { committed = pending }
            offset += 24 + pageSize
        }
        return committed
    }
}
