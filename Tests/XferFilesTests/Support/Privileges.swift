import Glibc
import XferTestSupport

/// Whether permission bits mean nothing to this process.
let isRoot = geteuid() == 0

/// Runs `body` on a thread of its own as a user to whom permission bits apply: under root with the file system uid of
/// nobody (setfsuid(2) concerns one thread and drops the capabilities that override permissions), else as it is.
func withoutPrivileges(_ body: @escaping @Sendable () -> Void) async {
    await withCheckedContinuation { continuation in
        startThread {
            if isRoot {
                call("setfsgid", 65534)
                call("setfsuid", 65534)
            }
            body()
            continuation.resume()
        }
    }
}

// Glibc hides sys/fsuid.h from Swift.

private func call(_ name: String, _ id: UInt32) {
    _ = unsafeBitCast(dlsym(nil, name), to: (@convention(c) (UInt32) -> Int32).self)(id)
}
