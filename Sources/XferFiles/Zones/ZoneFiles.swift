import CLinux
import Glibc
import XferModel

/// The files of the machine's time zone database (tzfile(5), localtime(5)).
public struct ZoneFiles: Sendable {
    private let directory: String
    private let localFile: String

    /// The highest number of bytes of a file; the largest real ones have a few thousand.
    private static let largestSize = 1 << 20

    /// Identifies a version of a file.
    public struct Stamp: Hashable, Sendable {
        let identity: FileIdentity
        let size: Int64
        let modifiedAt: Int64
    }

    public init(directory: String = "/usr/share/zoneinfo", localFile: String = "/etc/localtime") {
        self.directory = directory
        self.localFile = localFile
    }

    /// True if the text can be a zone's name at all: it never leads out of the database.
    public static func isName(_ name: String) -> Bool {
        guard (1...255).contains(name.utf8.count) else { return false }
        let isPlain = name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: "_+-/".utf8.contains(byte)
            }
        }
        return isPlain && name.split(separator: "/", omittingEmptySubsequences: false).allSatisfy { !$0.isEmpty }
    }

    /// The file's bytes; nil when there is none, which for the machine's own zone means UTC.
    ///
    /// - Parameter name: nil is the machine's own zone.
    /// - Throws: `FileError`.
    public func read(_ name: String?) throws(FileError) -> (bytes: [UInt8], stamp: Stamp)? {
        let path = try path(of: name)
        let descriptor: Descriptor
        // Non-blocking, since the name may be a FIFO's.
        switch openDescriptor(path, flags: O_RDONLY | O_NONBLOCK | O_NOCTTY) {
        case .value(let opened): descriptor = opened
        case .failure(ENOENT), .failure(ENOTDIR): return nil
        case .failure(let code): throw .system(operation: "open", path: path, code: code)
        }
        let status = try status(of: descriptor.raw, path: path)
        guard status.st_mode & S_IFMT == S_IFREG else { throw .isADirectory(path: path) }
        guard status.st_size <= Self.largestSize else {
            throw .lengthMismatch(
                path: path, expected: Int64(clamping: Self.largestSize), found: Int64(clamping: status.st_size))
        }
        var bytes = [UInt8](repeating: 0, count: Int(clamping: status.st_size))
        var filled = 0
        while filled < bytes.count {
            let count = try perform("read", on: path) {
                bytes.withUnsafeMutableBytes {
                    Glibc.read(descriptor.raw, $0.baseAddress?.advanced(by: filled), $0.count - filled)
                }
            }
            guard count > 0 else { break }
            filled += count
        }
        bytes.removeLast(bytes.count - filled)
        return (bytes, Stamp(status))
    }

    /// The present version of the file; nil when there is none.
    public func stamp(of name: String?) -> Stamp? {
        guard let path = try? path(of: name) else { return nil }
        var status = Glibc.stat()
        return stat(path, &status) == 0 ? Stamp(status) : nil
    }

    private func path(of name: String?) throws(FileError) -> String {
        guard let name else { return localFile }
        guard Self.isName(name) else { throw .invalidName(name, problem: "it is not the name of a time zone") }
        return "\(directory)/\(name)"
    }
}

extension ZoneFiles.Stamp {
    fileprivate init(_ status: stat) {
        identity = FileIdentity(status)
        size = Int64(clamping: status.st_size)
        modifiedAt = status.modificationNanoseconds
    }
}
