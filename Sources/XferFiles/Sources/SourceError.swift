import Glibc
import SystemPackage
import XferModel

/// The reason why a file that a client named cannot be sent. `description` is a sentence for people.
public enum SourceError: Error, Hashable, Sendable {
    case notAbsolute(path: String)
    case containsNUL(path: String)
    /// Beneath none of the caller's roots, by its text or through a symbolic link.
    case outsideRoots(path: String)
    /// The path is in one of the service's own directories: state, configuration or credentials.
    case forbidden(path: String)
    case missing(path: String)
    /// A directory, a socket, a device, a pipe.
    case notAFile(path: String, kind: String)
    /// The client, or the service, may not read it.
    case unreadable(path: String, code: Int32)
    /// The client's user lacks a permission for a directory of the path, or its permissions cannot be determined.
    case notPermitted(reason: String)
    case system(path: String, code: Int32)
}

extension SourceError {
    init(_ error: FileError) {
        switch error {
        case .notAbsolute(let path): self = .notAbsolute(path: path)
        case .containsNUL(let path): self = .containsNUL(path: path)
        case .outsideRoots(let path, _): self = .outsideRoots(path: path)
        case .forbidden(let path, _): self = .forbidden(path: path)
        case .missing(let path), .notADirectory(let path): self = .missing(path: path)
        case .isADirectory(let path): self = .notAFile(path: path, kind: "a directory")
        case .notWritable(let path, let code): self = .unreadable(path: path, code: code)
        case .notPermitted, .undecidable: self = .notPermitted(reason: error.description)
        case .system(_, let path, let code) where code == EACCES || code == EPERM:
            self = .unreadable(path: path, code: code)
        case .system(_, let path, let code) where code == ENOENT || code == ELOOP: self = .missing(path: path)
        case .system(_, let path, let code): self = .system(path: path, code: code)
        default: self = .system(path: "", code: EIO)
        }
    }

    static func requireRegular(_ facts: stat, _ path: String) throws(SourceError) {
        let kind: String
        switch facts.st_mode & S_IFMT {
        case S_IFREG:
            // Sums with its length have to fit into 64 bits.
            guard facts.st_size <= ByteCount.greatest else { throw .unreadable(path: path, code: EFBIG) }
            return
        case S_IFDIR: kind = "a directory"
        case S_IFSOCK: kind = "a socket"
        case S_IFIFO: kind = "a pipe"
        default: kind = "a device"
        }
        throw .notAFile(path: path, kind: kind)
    }

    /// True if no file descriptor was available for the check.
    public var isDescriptorShortage: Bool {
        guard case .system(_, let code) = self else { return false }
        return Descriptors.isShortage(code)
    }

    /// True if the file exists, but this client may not use it.
    public var isPermission: Bool {
        switch self {
        case .outsideRoots, .forbidden, .unreadable, .notPermitted: true
        default: false
        }
    }
}

extension SourceError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .notAbsolute(let path): "\(path.quoted) is not an absolute path"
        case .containsNUL(let path): "\(path.quoted) contains a NUL byte"
        case .outsideRoots(let path):
            "\(path.quoted) is outside the directories this user may read from, or a symbolic link in it leads out of them"
        case .forbidden(let path): "\(path.quoted) belongs to the service itself"
        case .missing(let path): "\(path.quoted) does not exist"
        case .notAFile(let path, let kind): "\(path.quoted) is \(kind), expected a regular file"
        case .unreadable(let path, let code): "\(path.quoted) cannot be read: \(Errno(rawValue: code))"
        case .notPermitted(let reason): reason
        case .system(let path, let code): "cannot read \(path.quoted): \(Errno(rawValue: code))"
        }
    }
}
