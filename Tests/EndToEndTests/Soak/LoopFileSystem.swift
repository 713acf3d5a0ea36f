import NIOConcurrencyHelpers
import XferTestSupport

/// An ext4 file system in a file, mounted over a loop device, whose image can be copied as a power cut would leave it.
final class LoopFileSystem: Sendable {
    let path: String
    let image: String
    /// The device the image is attached to; freed lazily, so each attachment takes one of its own.
    private let device = NIOLockedValueBox("")
    private let directory: TemporaryDirectory

    /// Makes and mounts one. Its journal commits only when a program asks for durability.
    init(megabytes: Int) async throws {
        directory = try TemporaryDirectory("xfer-loop")
        path = try directory.makeDirectory("mnt")
        image = directory.file("image")
        try await Self.run("truncate", "-s", "\(megabytes)M", image)
        try await Self.run("mkfs.ext4", "-q", "-F", image)
        try await attach(image)
    }

    /// Mounts another image in this one's place.
    func replace(with other: String) async throws {
        try await detach()
        try await attach(other)
    }

    /// What the disk would hold if the power went now. Nothing may be writing meanwhile.
    func snapshot(_ name: String) async throws -> String {
        let copy = directory.file(name)
        try await Self.run("cp", "--sparse=always", image, copy)
        return copy
    }

    /// Unmounts and frees the device; has to be called in the end.
    func detach() async throws {
        try await Self.run("umount", path)
        try await Self.run("losetup", "-d", device.withLockedValue { $0 })
    }

    /// Whether the unmounted image is sound.
    func check(_ image: String) async throws { try await Self.run("e2fsck", "-f", "-n", image) }

    private func attach(_ image: String) async throws {
        let found = try await Self.run("losetup", "--find", "--show", image)
        let device = found.output.split(separator: "\n").first.map(String.init) ?? ""
        self.device.withLockedValue { $0 = device }
        try await Self.run("mount", "-t", "ext4", "-o", "commit=300", device, path)
    }

    @discardableResult
    private static func run(_ name: String, _ arguments: String...) async throws -> Command.Result {
        guard let program = Command.find(name) else { throw TimedOut("\(name) is not installed") }
        let result = try await Command.run(program, arguments)
        guard result.isSuccess else { throw TimedOut("\(name) \(arguments): \(result)") }
        return result
    }
}

/// Turns the kernel's periodic write-back off, so that only what was asked to be durable reaches a disk.
final class WriteBackOff {
    private static let file = "/proc/sys/vm/dirty_writeback_centisecs"
    private let before: String

    init() throws {
        before = try FileTree.text(Self.file)
        try FileTree.write("0\n", to: Self.file)
    }

    deinit { try? FileTree.write(before, to: Self.file) }
}
