import Glibc
public import XferModel

/// One version of a server's resource: bytes that follow from a seed, and its validators.
///
/// Every 4 KiB page of every version differs from all others, so that a file spliced from two versions, or with a piece
/// in the wrong place, never equals one.
public struct SourceVersion: Sendable, Hashable {
    public var seed: UInt64
    public var length: Int64
    /// `ETag` verbatim, quotes and all; nil sends none.
    public var etag: String?
    /// `Last-Modified` verbatim; nil sends none.
    public var lastModified: String?
    /// `Date` verbatim; nil sends the present time.
    public var date: String?
    /// Further fields of every 200 and 206, for example `Content-Disposition`.
    public var headers: [HeaderField]
    private let pattern: Pattern

    public init(
        seed: UInt64, length: Int64, etag: String? = nil, lastModified: String? = nil, date: String? = nil,
        headers: [HeaderField] = []
    ) {
        self.seed = seed
        self.length = length
        self.etag = etag
        self.lastModified = lastModified
        self.date = date
        self.headers = headers
        pattern = Pattern(seed: seed)
    }

    /// A version with the strong ETag `"v<seed>"` and no date.
    public static func tagged(_ seed: UInt64, length: Int64, headers: [HeaderField] = []) -> SourceVersion {
        SourceVersion(seed: seed, length: length, etag: "\"v\(seed)\"", headers: headers)
    }

    /// The bytes at these offsets, which have to be within the version.
    public func bytes(_ range: Range<Int64>) -> [UInt8] { pattern.bytes(range) }

    /// All bytes.
    public var bytes: [UInt8] { bytes(0..<length) }

    /// Offset of the first byte at which the two differ, nil when `other` is this version's bytes from `offset` on.
    public func firstDifference(from other: [UInt8], at offset: Int64 = 0) -> Int64? {
        let own = bytes(min(offset, length)..<min(offset + Int64(other.count), length))
        if own == other { return nil }
        let same = zip(own, other).prefix { $0 == $1 }.count
        return offset + Int64(same)
    }

    /// True if the file contains exactly these bytes.
    public func equals(file path: String) throws -> Bool {
        guard FileTree.size(path) == length else { return false }
        var offset: Int64 = 0
        return try FileTree.forEachChunk(of: path) { chunk in
            defer { offset += Int64(chunk.count) }
            guard offset + Int64(chunk.count) <= length else { return false }
            // This code is not optimised, so == would compare byte by byte through witnesses.
            return memcmp(chunk, bytes(offset..<offset + Int64(chunk.count)), chunk.count) == 0
        } && offset == length
    }

    /// Writes all bytes into this file, which is created if it does not exist, and overwritten if it does.
    public func write(to path: String) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw PosixError("open \(path)") }
        defer { close(descriptor) }
        for start in stride(from: 0, to: length, by: 1 << 20) {
            let chunk = bytes(start..<min(length, start + 1 << 20))
            guard Glibc.write(descriptor, chunk, chunk.count) == chunk.count else { throw PosixError("write \(path)") }
        }
    }

    /// The digest over all bytes.
    public func checksum(_ algorithm: Checksum.Algorithm = .sha256) -> Checksum {
        var digest = Digest(algorithm)
        var offset: Int64 = 0
        while offset < length {
            let end = min(length, offset + 1 << 20)
            digest.update(bytes(offset..<end))
            offset = end
        }
        return digest.finish()
    }
}

/// The source of a version's bytes: 8 KiB of noise. Each page takes 4 KiB from its own place in it, and is stamped.
private struct Pattern: Sendable, Hashable {
    static let pageSize: Int64 = 4096

    let seed: UInt64
    let noise: [UInt8]

    init(seed: UInt64) {
        self.seed = seed
        var random = SplitMix64(seed: seed)
        noise = (0..<1024).flatMap { _ in withUnsafeBytes(of: random.next()) { Array($0) } }
    }

    func bytes(_ range: Range<Int64>) -> [UInt8] {
        let firstPage = range.lowerBound / Self.pageSize
        let endPage = (range.upperBound + Self.pageSize - 1) / Self.pageSize
        var output: [UInt8] = []
        output.reserveCapacity(Int(max(0, endPage - firstPage) * Self.pageSize))
        for page in firstPage..<max(firstPage, endPage) { append(page: page, to: &output) }
        let skipped = Int(range.lowerBound - firstPage * Self.pageSize)
        if skipped > 0 { output.removeFirst(skipped) }
        output.removeLast(output.count - range.count)
        return output
    }

    private func append(page: Int64, to output: inout [UInt8]) {
        let stamp = SplitMix64.mix(seed ^ SplitMix64.mix(UInt64(page) &+ 1))
        let start = Int(stamp & 4095)
        withUnsafeBytes(of: stamp) { output.append(contentsOf: $0) }
        output.append(contentsOf: noise[start..<start + Int(Self.pageSize) - 8])
    }

    static func == (left: Pattern, right: Pattern) -> Bool { left.seed == right.seed }
    func hash(into hasher: inout Hasher) { hasher.combine(seed) }
}
