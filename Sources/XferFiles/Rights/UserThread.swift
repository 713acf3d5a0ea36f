import CLinux
import Glibc
import XferSystem

/// Runs code in threads that have the file permissions of one user, and no other permissions.
///
/// Each thread runs one closure and ends. It cannot get its earlier ids back, so it cannot be used for another user.
/// The ids are set with raw system calls, because Glibc's functions would change them for all threads of the process.
enum UserThread {
    /// True if this process may take the ids of users: it has CAP_SETUID and CAP_SETGID, as root usually has.
    static var isPossible: Bool { xfer_may_act_as_others() }

    /// Runs `body` with the user's permissions and waits until it has ended. If the user's groups are unknown, the
    /// thread gets `overflowGroup` and no supplementary groups.
    ///
    /// - Throws: the errors of `body`; `system` if the thread cannot be started or the kernel refuses the ids.
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

    /// The id of the group that represents "no group": the default of `/proc/sys/kernel/overflowgid`.
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
