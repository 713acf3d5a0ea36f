import Glibc
import Testing
import XferModel
import XferTestSupport

@testable import XferFiles

/// Ext4 and XFS give the inode number of a removed file to the next one. A program that knows a file by its
/// number alone mistakes another file for it.
@Suite(.serialized, .enabled(if: canMountImages, "this process may not mount images"))
struct ReusedInodeTests {
    static let kinds = ["ext4", "xfs"].filter { Command.find("mkfs.\($0)") != nil }

    /// Makes files under `name` until one has that number; false when the file system gives it to none.
    private static func reuse(_ number: UInt64, as name: String, _ text: String, in base: TestDirectory) throws -> Bool
    {
        for attempt in 0..<2000 {
            // XFS frees inodes in the background; being asked for its space makes it hurry.
            _ = try base.handle().freeSpace()
            let handle = try PartialFile.create(in: base.handle(), named: name)
            try handle.put(text)
            if handle.identity.inode == number { return true }
            // Kept, so that the next one gets another.
            rename(base.at(name), base.at("other-\(attempt)"))
        }
        return false
    }

    @Test(arguments: kinds)
    func aFileWithTheReusedInodeNumberOfAPublishedFileIsNotTakenForIt(kind: String) throws {
        try withReusingDisk(kind) { base in
            let directory = try base.handle()
            let publisher = Publisher(directory: directory)
            let (part, intent) = try makePart("part", "whole", in: directory, as: "file")
            #expect(intent.part.mark.isCertain)
            #expect(try publisher.rename("part", as: intent, isReplacing: false) == .published)
            #expect(try publisher.isPublished(intent))
            part.close()
            #expect(unlink(base.at("file")) == 0)
            #expect(try Self.reuse(intent.part.identity.inode, as: "file", "whole", in: base))
            // The same number, length and time, as an attacker could set them.
            let times = [timespec(tv_sec: 0, tv_nsec: 0), timespec(nanoseconds: intent.part.modifiedAt)]
            #expect(utimensat(AT_FDCWD, base.at("file"), times, 0) == 0)
            #expect(try directory.facts(of: "file")?.modifiedAt == intent.part.modifiedAt)
            #expect(try !publisher.isPublished(intent))
            #expect(try publisher.settle(intent, partName: "part") == .none)
            #expect(base.read("file") == "whole")
        }
    }

    @Test(arguments: kinds)
    func aFileWithTheReusedInodeNumberOfAPartIsNotContinued(kind: String) throws {
        try withReusingDisk(kind) { base in
            let directory = try base.handle()
            let segments = [Segment(start: 0, committed: 5)]
            let part = try PartialFile.create(in: directory, named: "part")
            try part.put("right")
            let record = PartRecord(mark: try part.mark())
            part.close()
            #expect(unlink(base.at("part")) == 0)
            #expect(try Self.reuse(record.mark.identity.inode, as: "part", "wrong, and longer", in: base))
            // The file has another name, under which its content must stay.
            #expect(link(base.at("part"), base.at("theirs")) == 0)
            let restored = try PartialFile.restore(
                in: directory, named: "part", segments: segments, record: record)
            #expect(restored.remains == .void("another file has its name"))
            #expect(try restored.file.length() == 0)
            #expect(base.read("theirs") == "wrong, and longer")
        }
    }

    @Test(arguments: kinds)
    func aPartThatWasTruncatedAndGrewAgainIsNotReadAsZeros(kind: String) throws {
        try withReusingDisk(kind) { base in
            let directory = try base.handle()
            let part = try PartialFile.create(in: directory, named: "part")
            try part.put(String(repeating: "x", count: 100_000))
            try part.sync()
            let record = PartRecord(mark: try part.mark())
            try part.requireWhole(100_000)
            #expect(truncate(base.at("part"), 10_000) == 0)
            // The engine goes on where it was.
            try part.put("more", at: 100_000)
            #expect(throws: FileError.self) { try part.requireWhole(100_004) }
            part.close()
            let restored = try PartialFile.restore(
                in: directory, named: "part", segments: [Segment(start: 0, committed: 100_000)], record: record)
            #expect(restored.remains != .intact)
            #expect(try restored.file.length() == 0)
        }
    }

    @Test(arguments: kinds)
    func anIdlePartIsVoidIfTouchedAndIntactOtherwise(kind: String) throws {
        try withReusingDisk(kind) { base in
            let directory = try base.handle()
            let segments = [Segment(start: 0, committed: 5)]
            let part = try PartialFile.create(in: directory, named: "part")
            try part.put("right")
            let record = try part.restingRecord()
            part.close()
            // What a backup or an administrator does to it is no change of its content.
            #expect(chmod(base.at("part"), 0o640) == 0)
            var restored = try PartialFile.restore(
                in: directory, named: "part", segments: segments, record: record)
            #expect(restored.remains == .intact)
            restored.file.close()
            try base.write("part", "wrong")
            restored = try PartialFile.restore(in: directory, named: "part", segments: segments, record: record)
            #expect(restored.remains == .void("it was changed since it was closed"))
        }
    }

    @Test(arguments: kinds)
    func aRemovedOrReplacedPartIsNoticedWhileItIsOpen(kind: String) throws {
        try withReusingDisk(kind) { base in
            let part = try PartialFile.create(in: base.handle(), named: "part")
            try part.requireInPlace()
            #expect(rename(base.at("part"), base.at("elsewhere")) == 0)
            #expect(throws: FileError.partChanged(path: base.at("part"), problem: "it was removed")) {
                try part.requireInPlace()
            }
            try base.write("part", "")
            #expect(throws: FileError.partChanged(path: base.at("part"), problem: "another file has its name")) {
                try part.requireInPlace()
            }
        }
    }
}

extension timespec {
    fileprivate init(nanoseconds: Int64) {
        self.init(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
    }
}
