import Glibc

extension DatabaseFile {
    /// The schema version at the end of the write-ahead log beside the file; nil when the log has none of this
    /// program's (https://sqlite.org/fileformat2.html#walformat). SQLite would tell it only after it has changed the
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
