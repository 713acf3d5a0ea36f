import NIOConcurrencyHelpers
import XferTestSupport

/// An ext2 or ext4 file system in a file, mounted over a loop device, whose image can be copied as a power cut would leave it.
final class LoopFileSystem: Sendable {
    let path: String
    let image: String
    /// The device the image is attached to; freed lazily, so each attachment takes one of its own.
    private let device = NIOLockedValueBox("")
    private let directory: TemporaryDirectory
    private let kind: Kind

    enum Kind: String, CaseIterable {
        /// Its journal commits only when a program asks for durability.
        case ext4
        case ext4WithoutJournal
        case ext2

        var type: String { self == .ext2 ? "ext2" : "ext4" }
        var makeOptions: [String] { self == .ext4WithoutJournal ? ["-O", "^has_journal"] : [] }
        var mountOptions: [String] { self == .ext4 ? ["-o", "commit=300"] : [] }
    }

    /// Makes and mounts one.
    init(megabytes: Int, kind: Kind = .ext4) async throws {
        self.kind = kind
        directory = try TemporaryDirectory("xfer-loop")
        path = try directory.makeDirectory("mnt")
        image = directory.file("image")
        try await Self.run("truncate", "-s", "\(megabytes)M", image)
        try await Self.run("mkfs.\(kind.type)", ["-q", "-F"] + kind.makeOptions + [image])
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

    /// Does to an unmounted image what a machine does at its start after a power cut: without a journal, inconsistencies are
    /// expected, and files to which no inode's count of links leads are deleted.
    func repair(_ image: String) async throws {
        guard let program = Command.find("e2fsck") else { throw TimedOut("e2fsck is not installed") }
        let result = try await Command.run(program, ["-f", "-y", image])
        // 1: errors were corrected (e2fsck(8)).
        guard [.code(0), .code(1)].contains(result.exit) else { throw TimedOut("e2fsck \(image): \(result)") }
    }

    private func attach(_ image: String) async throws {
        let found = try await Self.run("losetup", "--find", "--show", image)
        let device = found.output.split(separator: "\n").first.map(String.init) ?? ""
        self.device.withLockedValue { $0 = device }
        try await Self.run("mount", ["-t", kind.type] + kind.mountOptions + [device, path])
    }

    @discardableResult
    private static func run(_ name: String, _ arguments: String...) async throws -> Command.Result {
        try await run(name, arguments)
    }

    @discardableResult
    private static func run(_ name: String, _ arguments: [String]) async throws -> Command.Result {
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
