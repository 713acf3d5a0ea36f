import Glibc

/// Whether this process may mount (root outside most containers).
let canMount: Bool = { (try? withSmallFileSystem(size: "64k") { _ in }) != nil }()

/// Whether it may mount an image of its own making.
let canMountImages: Bool = { (try? withSmallDisk { _ in }) != nil }()

/// Whether it may mount a file system whose files can share blocks, and there are the tools to make one.
let sharesBlocks: Bool = { (try? withBlockSharingDisk { _ in }) != nil }()

/// Mounts a small tmpfs for the time of `body`.
func withSmallFileSystem<Result>(size: String, _ body: (TestDirectory) throws -> Result) throws -> Result {
    let directory = try TestDirectory()
    try mountOrThrow("none", directory.path, "tmpfs", 0, "size=\(size)")
    defer { unmount(directory.path) }
    return try body(directory)
}

/// Mounts a small ext4 image for the time of `body`.
func withSmallDisk<Result>(_ body: (TestDirectory) throws -> Result) throws -> Result {
    try withDisk(size: "16M", made: { "mkfs.ext4 -q \($0)" }, body)
}

/// Mounts a small btrfs or XFS image, whose files can share blocks, for the time of `body`.
func withBlockSharingDisk<Result>(_ body: (TestDirectory) throws -> Result) throws -> Result {
    try withDisk(size: "512M", made: { "(mkfs.btrfs -q \($0) || mkfs.xfs -q -m reflink=1 \($0))" }, body)
}

/// Mounts a small image of a file system that gives inode numbers again at once, for the time of `body`.
func withReusingDisk<Result>(_ kind: String, _ body: (TestDirectory) throws -> Result) throws -> Result {
    try withDisk(size: "512M", made: { "mkfs.\(kind) -q \($0)" }, body)
}

private func withDisk<Result>(
    size: String, made make: (String) -> String, _ body: (TestDirectory) throws -> Result
) throws -> Result {
    let image = try TestDirectory()
    let directory = try TestDirectory()
    let file = image.at("image")
    let command = "truncate -s \(size) \(file) && \(make(file)) && mount -o loop \(file) \(directory.path)"
    guard system("PATH=$PATH:/usr/sbin:/sbin; (\(command)) >/dev/null 2>&1") == 0 else {
        throw MountFailed(code: EPERM)
    }
    defer { unmount(directory.path) }
    return try body(directory)
}

/// Shows `source` at `target` too for the time of `body`.
func withBindMount<Result>(_ source: String, at target: String, _ body: () throws -> Result) throws -> Result {
    try mountOrThrow(source, target, "none", bindFlag, "")
    defer { unmount(target) }
    return try body()
}

struct MountFailed: Error { let code: Int32 }

// Glibc hides sys/mount.h from Swift.

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
