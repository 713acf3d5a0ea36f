import Glibc
import SystemPackage
public import XferModel

/// The reason why an operation on a file failed. `description` is a sentence for people; `transferError` is the error
/// of a task that fails because of it.
public enum FileError: Error, Hashable, Sendable {
    /// A path that has to start with `/` does not.
    case notAbsolute(path: String)
    /// A path contains a NUL byte.
    case containsNUL(path: String)
    /// A path leads outside the allowed roots, by its text or through a symbolic link.
    case outsideRoots(path: String, roots: [String])
    /// A path is in one of the service's own directories: state, configuration or credentials.
    case forbidden(path: String, roots: [String])
    /// A path leads outside the directory beneath which a client on the network may write.
    case outsideConfinement(path: String, directory: String)
    /// A path has a hidden component: directly beneath `home`, or anywhere if `home` is nil.
    case hidden(path: String, home: String?)
    /// A file or directory does not exist.
    case missing(path: String)
    /// The file system that contained a path at its last use is not mounted.
    case unmounted(path: String, mountPoint: String)
    /// The file system that contains a path does not answer.
    case unanswering(path: String, mountPoint: String)
    /// A path that has to be a directory is a file.
    case notADirectory(path: String)
    /// A path that has to be a file is a directory.
    case isADirectory(path: String)
    /// A path that has to be a file is a device, a socket or a pipe.
    case isSpecial(path: String)
    /// The service may not write in a directory (`code`: EACCES, EPERM or EROFS).
    case notWritable(path: String, code: Int32)
    /// The user for whom the service opens a path lacks a permission on it. `wish` describes the permission and the
    /// place.
    case notPermitted(path: String, uid: UInt32, wish: String)
    /// The user's permissions at a place of the path cannot be determined.
    case undecidable(path: String, uid: UInt32, at: String)
    /// A name from the client cannot be the name of a file.
    case invalidName(String, problem: String)
    /// The final name is taken and the conflict policy is `fail`.
    case nameTaken(path: String)
    /// The search for a free numbered name ended after `tried` existing names.
    case noFreeName(path: String, tried: Int)
    /// The file with a partial file's name is not a file of this service.
    case notAPartialFile(path: String, problem: String)
    /// A file to be sent has changed since its task was added.
    case sourceChanged(path: String, problem: String)
    /// The file system lacks `missing` bytes.
    case noRoom(path: String, missing: Int64)
    /// A file does not have the expected length.
    case lengthMismatch(path: String, expected: Int64, found: Int64)
    /// An earlier fsync of this open file failed, so its bytes cannot be trusted: reopen and fetch again (fsync(2)).
    case poisoned(path: String)
    /// The file was closed.
    case closed(path: String)
    /// After a restart neither the partial file nor the published file exists.
    case publishLost(path: String)
    /// A partial file is missing, or differs from what the service wrote. The service fetches its bytes again.
    case partChanged(path: String, problem: String)
    /// A file was published, but its path leads to another file or to none.
    case destinationChanged(path: String, problem: String)
    /// The file is complete, but the system refuses to give it its final name (`code`: EACCES, EPERM, EROFS or EXDEV).
    case notMoved(path: String, code: Int32)
    /// The file system does not allow a name (`code`: EINVAL, ENAMETOOLONG or EILSEQ).
    case nameRefused(path: String, code: Int32)
    /// A file of `length` bytes is larger than `limit`, that of the process, or than the file system allows if nil.
    case fileTooLarge(path: String, length: Int64, limit: Int64?)
    /// The kernel or the file system lacks a necessary feature.
    case unsupported(String)
    /// Another daemon uses this state directory.
    case alreadyLocked(path: String, pid: Int32?, socket: String? = nil)
    /// The state directory is not safe to use.
    case insecureStateDirectory(path: String, problem: String)
    /// The content of a cached file differs from the stored content.
    case damagedBlob(path: String, problem: String)
    /// libcrypto refuses an algorithm (a FIPS provider refuses MD5).
    case digestUnavailable(algorithm: String)
    /// The caller cancelled the operation.
    case cancelled
    /// A system call failed with the `errno` in `code`.
    case system(operation: String, path: String, code: Int32)
}

extension FileError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .notAbsolute(let path): "\(path.quoted) is not an absolute path"
        case .containsNUL(let path): "\(path.quoted) contains a NUL byte"
        case .outsideRoots(let path, let roots):
            "\(path.quoted) is outside the allowed directories (\(Self.list(roots))), or a symbolic link in it leads out of them; download.roots and access.users of the daemon's configuration allow more"
        case .forbidden(let path, let roots):
            "\(path.quoted) belongs to the service itself; choose another directory in \(Self.list(roots))"
        case .outsideConfinement(let path, let directory):
            "\(path.quoted) is outside \(directory.quoted), or a symbolic link in it leads out of it: clients on the network without the scope operate write beneath that directory only; a token for another one is made with `xferctl token add NAME --dir DIR`"
        case .hidden(let path, let home?):
            "\(path.quoted) has a hidden name directly beneath the home directory \(home.quoted), where files configure programs: allow_hidden (--allow-hidden) or the setting download.allow_hidden allows it"
        case .hidden(let path, nil):
            "\(path.quoted) has a component that begins with a dot: clients on the network without the scope operate write to no such path"
        case .missing(let path): "\(path.quoted) does not exist"
        case .unmounted(let path, let mountPoint):
            "\(path.quoted) was on the file system that was mounted at \(mountPoint.quoted), and is not mounted now: mount it, or request a reload (systemctl reload xferd, or SIGHUP) to use the directory without it"
        case .unanswering(let path, let mountPoint):
            "\(mountPoint.quoted.dropFirst().dropLast()) does not answer (it contains \(path.quoted))"
        case .notADirectory(let path): "\(path.quoted) is not a directory"
        case .isADirectory(let path): "\(path.quoted) is a directory, expected a file name"
        case .isSpecial(let path): "\(path.quoted) is a device, a socket or a pipe, which a file never replaces"
        case .notWritable(let path, let code): "cannot write in \(path.quoted): \(Self.text(code))"
        case .notPermitted(let path, let uid, let wish): "\(path.quoted) cannot be used: user \(uid) may not \(wish)"
        case .undecidable(let path, let uid, let place):
            "\(path.quoted) cannot be used: what user \(uid) may do in \(place.quoted) is decided by another machine or program; only a service that runs as root can check it"
        case .invalidName(let name, let problem): "\(name.quoted) cannot be a file name: \(problem)"
        case .nameTaken(let path): "\(path.quoted) exists"
        case .noFreeName(let path, let tried): "\(path.quoted) and \(tried) numbered names after it exist"
        case .notAPartialFile(let path, let problem): "\(path.quoted) is not a partial file of this service: \(problem)"
        case .noRoom(let path, let missing): "\(path.quoted) lacks \(missing) bytes, the reserve included"
        case .sourceChanged(let path, let problem): "\(path.quoted) changed since the task was added: \(problem)"
        case .lengthMismatch(let path, let expected, let found):
            "\(path.quoted) has \(found) bytes, expected \(expected)"
        case .poisoned(let path): "an earlier write to \(path.quoted) failed; its bytes have to be fetched again"
        case .closed(let path): "\(path.quoted) was closed"
        case .publishLost(let path): "\(path.quoted) was being published, and neither it nor its partial file exists"
        case .partChanged(let path, let problem):
            "\(path.quoted) is not the partial file that was written: \(problem); its bytes are fetched again"
        case .destinationChanged(let path, let problem): "\(path.quoted) is not the published file: \(problem)"
        case .notMoved(let path, let code):
            "the complete file cannot be given the name \(path.quoted): \(Self.text(code)); its bytes are kept"
        case .nameRefused(let path, let code):
            "the file system does not allow the name \(path.quoted): \(Self.text(code)); choose another name"
        case .fileTooLarge(let path, let length, let limit?):
            "\(path.quoted) would have \(length) bytes; a file of this process has at most \(limit) (ulimit -f)"
        case .fileTooLarge(let path, let length, nil):
            "\(path.quoted) would have \(length) bytes, more than a file of its file system can have"
        case .unsupported(let what): what
        case .alreadyLocked(let path, let pid, let socket):
            "another daemon\(pid.map { ", pid \($0)," } ?? "") uses the state directory \(path.quoted): use that one\(socket.map { " (XFERD_SOCKET=\($0))" } ?? ""), or give this one another --state-dir"
        case .insecureStateDirectory(let path, let problem): "the state directory \(path.quoted) \(problem)"
        case .damagedBlob(let path, let problem): "\(path.quoted) is not the stored file: \(problem)"
        case .digestUnavailable(let algorithm): "libcrypto does not offer \(algorithm)"
        case .cancelled: "cancelled"
        case .system(let operation, let path, let code): "cannot \(operation) \(path.quoted): \(Self.text(code))"
        }
    }

    private static func text(_ code: Int32) -> String { Errno(rawValue: code).description }

    private static func list(_ roots: [String]) -> String {
        roots.isEmpty ? "none are configured" : roots.map(\.quoted).joined(separator: ", ")
    }
}

extension String {
    /// The text in double quotes, with control characters made visible, so that a message stays on its line.
    var quoted: String {
        var text = "\""
        for scalar in unicodeScalars {
            switch scalar {
            case "\"", "\\": text += "\\\(scalar)"
            case _ where scalar.properties.generalCategory == .control:
                text += "\\u{\(String(scalar.value, radix: 16))}"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text + "\""
    }
}

extension FileError {
    /// The error of a path whose file system does not answer. It does not touch that file system.
    public static func unansweringMount(of path: String) -> FileError {
        .unanswering(path: path, mountPoint: MountTable.present.mount(of: path)?.point ?? "/")
    }

    /// The error of a task that fails for this.
    public var transferError: TransferError { TransferError(reason, description, isRetriable: isRetriable) }

    private var reason: FailureReason {
        switch self {
        case .notWritable(_, EROFS), .notMoved(_, EROFS): .destinationUnavailable
        case .nameRefused: .nameRefused
        case .fileTooLarge: .fileTooLarge
        case .notAbsolute, .containsNUL, .outsideRoots, .forbidden, .outsideConfinement, .hidden, .notADirectory,
            .notWritable, .invalidName, .notPermitted, .undecidable:
            .destinationDenied
        case .missing, .unmounted, .unanswering: .destinationUnavailable
        case .isADirectory, .isSpecial, .nameTaken, .noFreeName: .destinationExists
        case .lengthMismatch: .lengthMismatch
        case .sourceChanged: .sourceFileChanged
        case .noRoom: .insufficientSpace
        case .poisoned, .damagedBlob: .diskError
        case .destinationChanged: .destinationChanged
        case .notAPartialFile, .publishLost, .partChanged, .notMoved, .unsupported: .fileMoveFailed
        case .closed, .alreadyLocked, .insecureStateDirectory, .digestUnavailable, .cancelled: .internalError
        case .system(_, _, let code): Self.reason(code)
        }
    }

    /// True for lack of memory, which is temporary, and for damaged bytes, which can be fetched again; nil for all
    /// other errors, to which the reason's rule applies.
    private var isRetriable: Bool? {
        if case .partChanged = self { return true }
        guard case .system(_, _, let code) = self else { return nil }
        return code == ENOMEM ? true : nil
    }

    private static func reason(_ code: Int32) -> FailureReason {
        switch code {
        case ENOSPC, EDQUOT: .insufficientSpace
        case EFBIG: .fileTooLarge
        case EACCES, EPERM, ELOOP, ENAMETOOLONG, ENOTDIR, EXDEV, ETXTBSY: .destinationDenied
        // A read-only file system may become writable, as a full one may get room.
        case EROFS, ENOENT, ESTALE, ENODEV, ENOTCONN, EHOSTDOWN, ETIMEDOUT: .destinationUnavailable
        case EEXIST, EISDIR, ENOTEMPTY: .destinationExists
        case EMFILE, ENFILE: .outOfDescriptors
        case ENOMEM, EBADF: .internalError
        default: .diskError
        }
    }
}
