import Glibc
import Testing
import XferModel
import XferTestSupport

@testable import XferFiles

/// Bytes handed from one file to another.
@Suite struct FileCopyTests {
    private static let bytes = SourceVersion.tagged(1, length: 20_000_000 + 123).bytes

    /// An open source with these bytes, and an open target.
    private final class Pair {
        let source: Descriptor
        let target: Descriptor
        let targetPath: String

        init(in directory: String, to other: String, _ bytes: [UInt8]) throws {
            targetPath = other + "/target"
            try FileTree.write(bytes, to: directory + "/source", mode: 0o600)
            func open(_ path: String, _ flags: Int32) throws -> Descriptor {
                guard case .value(let opened) = openDescriptor(path, flags: flags, mode: 0o600) else {
                    throw TimedOut("\(path) cannot be opened")
                }
                return opened
            }
            source = try open(directory + "/source", O_RDONLY)
            target = try open(targetPath, O_RDWR | O_CREAT)
        }

        func copy(_ length: Int, isCancelled: () -> Bool = { false }) throws -> FileCopy.Means {
            try FileCopy.copy(
                from: source.raw, to: target.raw, length: Int64(length), isCancelled: isCancelled)
        }
    }

    @Test(arguments: [0, 1, 8 << 20, (8 << 20) + 1, 20_000_000]) func onlyTheRequestedFirstBytesAreCopied(length: Int)
        throws
    {
        let directory = try TestDirectory()
        let pair = try Pair(in: directory.path, to: directory.path, Self.bytes)
        _ = try pair.copy(length)
        #expect(try FileTree.read(pair.targetPath) == Array(Self.bytes[..<length]))
    }

    /// What the user does with the one file is none of the other's business.
    @Test func aCopyIsIndependentOfItsSource() throws {
        let directory = try TestDirectory()
        let pair = try Pair(in: directory.path, to: directory.path, Self.bytes)
        _ = try pair.copy(Self.bytes.count)
        #expect(pwrite(pair.target.raw, [0, 1, 2, 3], 4, 0) == 4)
        #expect(try FileTree.read(directory.at("source")) == Self.bytes)
    }

    @Test(.enabled(if: canMount)) func aCopyBetweenFileSystemsIsComplete() throws {
        let directory = try TestDirectory()
        try withSmallFileSystem(size: "32m") { other in
            let pair = try Pair(in: directory.path, to: other.path, Self.bytes)
            #expect(try pair.copy(Self.bytes.count) == .copy)
            #expect(try FileTree.read(pair.targetPath) == Self.bytes)
        }
    }

    @Test(.enabled(if: canMount)) func aFullDiskIsReported() throws {
        let directory = try TestDirectory()
        try withSmallFileSystem(size: "64k") { other in
            let pair = try Pair(in: directory.path, to: other.path, Self.bytes)
            #expect(performing { try pair.copy(Self.bytes.count) }?.transferError.reason == .insufficientSpace)
        }
    }

    @Test func aShortSourceOrACancellationEndsTheCopy() throws {
        let directory = try TestDirectory()
        let pair = try Pair(in: directory.path, to: directory.path, Array(Self.bytes[..<1000]))
        guard case .lengthMismatch(_, 1001, 1000)? = performing({ try pair.copy(1001) }) else {
            Issue.record("a source that is too short was taken")
            return
        }
        var questions = 0
        let long = try Pair(in: directory.path, to: directory.path, Self.bytes)
        let error = performing {
            try long.copy(Self.bytes.count) {
                questions += 1
                return true
            }
        }
        #expect(error == .cancelled && questions == 1)
    }

    /// Where the file system shares blocks, they are shared, and the files part when one is written.
    @Test(
        .enabled(if: sharesBlocks, "no file system that shares blocks can be made here: mkfs.btrfs or mkfs.xfs, root"))
    func aCopyOnASharingFileSystemSharesBlocks() throws {
        try withBlockSharingDisk { disk in
            let pair = try Pair(in: disk.path, to: disk.path, Self.bytes)
            #expect(try pair.copy(10_000_000) == .reflink)
            #expect(try FileTree.read(pair.targetPath) == Array(Self.bytes[..<10_000_000]))
            #expect(pwrite(pair.target.raw, [0, 1, 2, 3], 4, 0) == 4)
            #expect(try FileTree.read(disk.at("source")) == Self.bytes)
        }
    }

    private func performing(_ body: () throws -> FileCopy.Means) -> FileError? {
        do {
            _ = try body()
            return nil
        } catch {
            return error as? FileError
        }
    }
}
