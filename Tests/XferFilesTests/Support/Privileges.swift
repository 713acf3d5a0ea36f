import Glibc

/// Whether permission bits mean nothing to this process, and it may mount.
let isRoot = geteuid() == 0

/// Runs `body` on a thread of its own as a user to whom permission bits apply: under root with the file system uid of
/// nobody (setfsuid(2) concerns one thread and drops the capabilities that override permissions), else as it is.
func withoutPrivileges(_ body: @escaping @Sendable () -> Void) async {
    await withCheckedContinuation { continuation in
        let work = Work {
            if isRoot {
                call("setfsgid", 65534)
                call("setfsuid", 65534)
            }
            body()
            continuation.resume()
        }
        var thread = pthread_t()
        let status = pthread_create(&thread, nil, runWork, Unmanaged.passRetained(work).toOpaque())
        precondition(status == 0, "no thread")
        pthread_detach(thread)
    }
}

/// Mounts a small tmpfs for the time of `body`; only root may.
func withSmallFileSystem<Result>(size: String, _ body: (TestDirectory) throws -> Result) throws -> Result {
    let directory = try TestDirectory()
    try mountOrThrow("none", directory.path, "tmpfs", 0, "size=\(size)")
    defer { unmount(directory.path) }
    return try body(directory)
}

/// Shows `source` at `target` too for the time of `body`; only root may.
func withBindMount<Result>(_ source: String, at target: String, _ body: () throws -> Result) throws -> Result {
    try mountOrThrow(source, target, "none", bindFlag, "")
    defer { unmount(target) }
    return try body()
}

struct MountFailed: Error { let code: Int32 }

// Glibc hides sys/mount.h and sys/fsuid.h from Swift.

/// `MS_BIND`.
private let bindFlag: UInt = 4096
/// `MNT_DETACH`.
private let detachFlag: Int32 = 2

private func mountOrThrow(
    _ source: String, _ target: String, _ type: String, _ flags: UInt, _ options: String
) throws {
    typealias Mount =
        @convention(c) (
            UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafePointer<CChar>, UInt, UnsafePointer<CChar>
        ) -> Int32
    let mount = unsafeBitCast(dlsym(nil, "mount"), to: Mount.self)
    if mount(source, target, type, flags, options) != 0 { throw MountFailed(code: errno) }
}

private func unmount(_ target: String) {
    typealias Unmount = @convention(c) (UnsafePointer<CChar>, Int32) -> Int32
    _ = unsafeBitCast(dlsym(nil, "umount2"), to: Unmount.self)(target, detachFlag)
}

private func call(_ name: String, _ id: UInt32) {
    _ = unsafeBitCast(dlsym(nil, name), to: (@convention(c) (UInt32) -> Int32).self)(id)
}

private final class Work {
    let body: () -> Void
    init(_ body: @escaping () -> Void) { self.body = body }
}

private nonisolated func runWork(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    if let argument { Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().body() }
    return nil
}
