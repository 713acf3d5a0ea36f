import Glibc
import XferTestSupport

/// A directory without new names: immutable for root (chattr(1)), without write permission for other users.
final class FrozenDirectory: Sendable {
    private let path: String

    init(_ path: String) throws {
        self.path = path
        try Self.set(path, frozen: true)
    }

    func thaw() throws { try Self.set(path, frozen: false) }

    deinit { try? thaw() }

    static let isPossible: Bool = {
        guard let directory = try? TemporaryDirectory("xfer-frozen"), let frozen = try? FrozenDirectory(directory.path)
        else { return false }
        defer { try? frozen.thaw() }
        return (try? FileTree.write("x", to: directory.file("x"))) == nil
    }()

    private static func set(_ path: String, frozen: Bool) throws {
        guard Machine.isRoot else {
            guard chmod(path, frozen ? 0o555 : 0o755) == 0 else { throw PosixError("chmod \(path)") }
            return
        }
        guard let chattr = Command.find("chattr"),
            system("\(chattr) \(frozen ? "+i" : "-i") '\(path)' 2>/dev/null") == 0
        else { throw TimedOut("chattr cannot change \(path)") }
    }
}
