import Glibc
import XferCurl
import XferModel
import XferTestSupport

/// A file that is sent, open, with the facts it is guarded by; closed and removed with the last reference.
final class SentFile: Sendable {
    let version: SourceVersion
    let source: SourceFile
    let descriptor: Int32
    private let directory: TemporaryDirectory

    /// Last modified a day ago, so that whatever a test does to it shows.
    init(_ version: SourceVersion) throws {
        directory = try TemporaryDirectory("xfer-sent")
        self.version = version
        let path = directory.file("source")
        try version.write(to: path)
        descriptor = open(path, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { throw PosixError("open \(path)") }
        var times = [
            timespec(tv_sec: time(nil) - 86_400, tv_nsec: 5), timespec(tv_sec: time(nil) - 86_400, tv_nsec: 5),
        ]
        futimens(descriptor, &times)
        source = Self.facts(descriptor, path)
    }

    deinit { close(descriptor) }

    var path: String { directory.file("source") }

    var whole: AttemptFile { AttemptFile(descriptor: descriptor, source: source) }

    func part(_ range: Range<Int64>) -> AttemptFile {
        AttemptFile(descriptor: descriptor, offset: range.lowerBound, length: Int64(range.count), source: source)
    }

    /// What the file is now.
    static func facts(_ descriptor: Int32, _ path: String) -> SourceFile {
        var facts = stat()
        fstat(descriptor, &facts)
        return SourceFile(
            path: path, identity: FileIdentity(device: UInt64(facts.st_dev), inode: UInt64(facts.st_ino)),
            length: Int64(facts.st_size),
            modifiedAt: Int64(facts.st_mtim.tv_sec) * 1_000_000_000 + Int64(facts.st_mtim.tv_nsec))
    }

    enum Change: CaseIterable {
        case shorter, longer, otherBytes

        func apply(to file: SentFile) {
            switch self {
            case .shorter: ftruncate(file.descriptor, off_t(file.version.length - 1))
            case .longer: ftruncate(file.descriptor, off_t(file.version.length + 1))
            case .otherBytes: pwrite(file.descriptor, [1, 2, 3], 3, off_t(file.version.length - 3))
            }
        }
    }
}
