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
    let images = try TestDirectory()
    let image = images.at("image")
    try run("truncate -s \(size) \(image) && \(make(image))")
    return try withImage(image, body)
}

/// A disk of the kind that `mkfs` names, with its options; what `body` made durable there is given to `later`, as after a
/// power cut.
func withPowerCut(_ mkfs: String, _ body: (TestDirectory) throws -> Void, later: (TestDirectory) throws -> Void) throws
{
    let images = try TestDirectory()
    let (image, copy) = (images.at("image"), images.at("copy"))
    try run("truncate -s 16M \(image) && mkfs.\(mkfs) -q \(image)")
    try withImage(image) { directory in
        // What lies under the mount was there before.
        try run("sync -f \(directory.path)")
        try body(directory)
        try run("cp --sparse=always \(image) \(copy)")
    }
    try withImage(copy, later)
}

/// A union (overlayfs) of two file systems, which numbers the devices of its files otherwise than those of its
/// directories, for the time of `body`.
func withUnion<Result>(_ body: (TestDirectory) throws -> Result) throws -> Result {
    try withSmallFileSystem(size: "1m") { lower in
        try withSmallFileSystem(size: "1m") { upper in
            try lower.makeDirectory("layer/below")
            for name in ["layer", "work"] { try upper.makeDirectory(name) }
            let union = try TestDirectory()
            try mountOrThrow(
                "overlay", union.path, "overlay", 0,
                "lowerdir=\(lower.at("layer")),upperdir=\(upper.at("layer")),workdir=\(upper.at("work"))")
            defer { unmount(union.path) }
            return try body(union)
        }
    }
}

/// Whether this process may mount a union.
let canMountUnions: Bool = { (try? withUnion { _ in }) != nil }()

/// Mounts an image for the time of `body`.
private func withImage<Result>(_ image: String, _ body: (TestDirectory) throws -> Result) throws -> Result {
    let directory = try TestDirectory()
    try run("mount -o loop \(image) \(directory.path)")
    defer { unmount(directory.path) }
    return try body(directory)
}

private func run(_ command: String) throws {
    guard system("PATH=$PATH:/usr/sbin:/sbin; (\(command)) >/dev/null 2>&1") == 0 else {
        throw MountFailed(code: EPERM)
    }
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
