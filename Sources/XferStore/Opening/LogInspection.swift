import Glibc

/// Finds commits in a write-ahead log that SQLite would ignore without an error.
///
/// SQLite reads a log up to the first frame whose checksum is wrong (https://sqlite.org/fileformat2.html#walformat),
/// since a commit torn by a power cut looks like that. A commit is synced before the next one begins, so after a torn
/// frame there is at most one commit of the same log. Two commits in an unbroken chain of checksums after a wrong frame
/// prove that the frame was once complete: these commits were confirmed, and would be lost if the log were read.
struct LogInspection {
    private static let headerSize = 32
    private static let frameHeaderSize = 24
    private static let syncedCommits = 2

    private let isBigEndian: Bool
    private let pageSize: Int
    private let salts: ArraySlice<UInt8>
    private var sum: (UInt32, UInt32)
    /// The schema version after the last readable commit.
    private var version: Int?

    /// Returns the length of a database's log in bytes, 0 when there is none.
    static func length(of path: String) -> Int {
        var status = stat()
        return stat(path + "-wal", &status) == 0 ? status.st_size : 0
    }

    /// True if the database's log is long enough for at least one frame.
    static func hasFrames(_ path: String) -> Bool { length(of: path) > headerSize }

    /// The fault of the log beside the database; nil when no committed data is known to be missing.
    static func fault(inLogOf path: String) throws(StoreError) -> String? { try inspect(path).fault }

    /// The log's fault, and the schema version that its readable commits leave: nil if none of them changed the first
    /// page.
    static func inspect(_ path: String) throws(StoreError) -> (fault: String?, version: Int?) {
        guard hasFrames(path) else { return (nil, nil) }
        let descriptor = Glibc.open(path + "-wal", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw DatabaseFile.failure(path + "-wal") }
        defer { Glibc.close(descriptor) }
        var header = [UInt8](repeating: 0, count: headerSize)
        guard pread(descriptor, &header, headerSize, 0) == headerSize else { throw DatabaseFile.failure(path + "-wal") }
        guard var inspection = LogInspection(header) else {
            return ("the head of the log \(path)-wal is damaged: none of its commits can be read", nil)
        }
        let lost = inspection.findLostCommits(descriptor).map { frame, commits in
            "frame \(frame) of the log \(path)-wal is damaged: at least \(commits) commits after it cannot be read"
        }
        return (lost, inspection.version)
    }

    /// Reads the header. Returns nil when its own checksum is wrong.
    private init?(_ header: [UInt8]) {
        let magic = Self.big(header[0..<4])
        guard magic | 1 == 0x377F_0683 else { return nil }
        isBigEndian = magic & 1 == 1
        pageSize = Int(clamping: Self.big(header[8..<12]))
        guard (512...65_536).contains(pageSize), pageSize.nonzeroBitCount == 1 else { return nil }
        salts = header[16..<24]
        sum = (0, 0)
        add(header[0..<24])
        guard sum == (Self.big(header[24..<28]), Self.big(header[28..<32])) else { return nil }
    }

    /// The first wrong frame, counted from 1, if synced commits follow it.
    private mutating func findLostCommits(_ descriptor: Int32) -> (frame: Int, commits: Int)? {
        let size = Self.frameHeaderSize + pageSize
        var frame = [UInt8](repeating: 0, count: size)
        var number = 0
        var wrongFrame: Int?
        var commits = 0
        var uncommitted: Int?
        while pread(descriptor, &frame, size, off_t(clamping: Self.headerSize + number * size)) == size {
            number += 1
            add(frame[0..<8])
            add(frame[Self.frameHeaderSize...])
            let stored = (Self.big(frame[16..<20]), Self.big(frame[20..<24]))
            let isRight = sum == stored && frame[8..<16].elementsEqual(salts)
            // The next frame's checksum continues from the stored one, damaged or not.
            sum = stored
            let isCommit = Self.big(frame[4..<8]) != 0
            guard let first = wrongFrame else {
                if !isRight { wrongFrame = number }
                // The first page has the schema version at offset 60.
                if isRight, Self.big(frame[0..<4]) == 1 { uncommitted = Int(clamping: Self.big(frame[84..<88])) }
                if isRight, isCommit { version = uncommitted ?? version }
                continue
            }
            guard isRight else {
                commits = 0
                continue
            }
            if isCommit { commits += 1 }
            if commits >= Self.syncedCommits { return (first, commits) }
        }
        return nil
    }

    /// Adds to the format's checksum, over pairs of 32-bit integers.
    private mutating func add(_ bytes: ArraySlice<UInt8>) {
        bytes.withUnsafeBytes { bytes in
            var (first, second) = sum
            for offset in stride(from: 0, to: bytes.count - 7, by: 8) {
                let left = bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
                let right = bytes.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)
                first &+= (isBigEndian ? UInt32(bigEndian: left) : UInt32(littleEndian: left)) &+ second
                second &+= (isBigEndian ? UInt32(bigEndian: right) : UInt32(littleEndian: right)) &+ first
            }
            sum = (first, second)
        }
    }

    private static func big(_ bytes: ArraySlice<UInt8>) -> UInt32 { bytes.reduce(0) { $0 << 8 | UInt32(clamping: $1) } }
}
