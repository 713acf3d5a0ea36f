import CLinux
import Glibc
import XferThreads

/// Threads that have a user's file permissions, and no others.
///
/// Each runs one piece of work and ends: it cannot get its former ids back, so no state of another user can remain. The
/// ids are set with raw system calls, since Glibc's functions would change them for all threads of the process.
enum UserThread {
    /// Whether this process may take users' ids: it runs as root, or with CAP_SETUID and CAP_SETGID.
    static var isPossible: Bool { xfer_may_act_as_others() }

    /// Runs `body` with the user's permissions and waits for it. A user whose groups are unknown gets those of no
    /// group.
    ///
    /// - Throws: what `body` throws; `system` when there is no thread, or the kernel refuses the ids.
    static func run<Value: Sendable>(
        as user: FileUser, path: String, _ body: @escaping @Sendable () throws(FileError) -> Value
    ) throws(FileError) -> Value {
        let work = Work<Value>()
        do throws(ThreadError) {
            try BackgroundThread.start("xferd-user") {
                work.end(Self.act(as: user, path: path, body))
            }
        } catch {
            throw .system(operation: "start a thread to open", path: path, code: error.code)
        }
        return try work.wait().get()
    }

    private static func act<Value>(
        as user: FileUser, path: String, _ body: () throws(FileError) -> Value
    ) -> Result<Value, FileError> {
        let groups = (user.groups ?? []).sorted()
        guard xfer_act_as(user.uid, user.gid ?? overflowGroup, groups, UInt(groups.count)) == 0 else {
            return .failure(.system(operation: "act as user \(user.uid) to open", path: path, code: errno))
        }
        do throws(FileError) { return .success(try body()) } catch { return .failure(error) }
    }

    /// Stands for no group (`/proc/sys/kernel/overflowgid`'s default).
    private static var overflowGroup: UInt32 { 65534 }

    private final class Work<Value: Sendable>: @unchecked Sendable {
        // Sendable: `result` is only touched while `hasEnded` is locked.
        private let hasEnded = ThreadCondition()
        private var result: Result<Value, FileError>?

        func end(_ result: Result<Value, FileError>) {
            hasEnded.lock()
            self.result = result
            hasEnded.unlock()
            hasEnded.signal()
        }

        func wait() -> Result<Value, FileError> {
            hasEnded.lock()
            defer { hasEnded.unlock() }
            while true {
                if let result { return result }
                hasEnded.wait()
            }
        }
    }
}
