import Glibc
import Testing
import XferModel

@testable import XferFiles

@Suite struct PartialFileTests {
    let base: TestDirectory
    let directory: DirectoryHandle

    init() throws {
        base = try TestDirectory()
        directory = try base.handle()
    }

    @Test func aPartialFileIsPrivateAndKeepsItsBytesOverReopening() throws {
        let part = try PartialFile.create(in: directory, named: "part")
        #expect(try directory.status(of: "part")?.mode == 0o600)
        #expect(try part.identity == directory.identity(of: "part"))
        #expect(throws: FileError.nameTaken(path: base.at("part"))) {
            try PartialFile.create(in: directory, named: "part")
        }
        try part.put("hello world")
        try part.sync()
        try part.sync(.everything)
        try part.truncate(to: 5)
        #expect(try part.length() == 5)
        part.close()
        let again = try PartialFile.open(in: directory, named: "part")
        #expect(again.identity == part.identity)
        #expect(try again.length() == 5)
        #expect(base.read("part") == "hello")
    }

    @Test func aPartialFileReplacedByAnotherIsThatFileUnderItsOwnName() throws {
        let part = try PartialFile.create(in: directory, named: "part")
        try part.put("old bytes")
        let other = try PartialFile.create(in: directory, named: "other")
        try other.put("new")
        let (identity, descriptor) = (other.identity, other.descriptor)
        try part.replace(with: other)
        #expect(part.identity == identity && part.descriptor == descriptor && other.descriptor == -1)
        try part.requireInPlace()
        #expect(try part.length() == 3)
        try part.sync()
        #expect(base.read("part") == "new")
        #expect(try directory.status(of: "other") == nil)
        #expect(throws: FileError.closed(path: base.at("other"))) { try part.replace(with: other) }
        #expect(base.read("part") == "new")
    }

    @Test func aPartialFileGetsASecondNameOnItsFileSystemOnly() throws {
        let target = try DirectoryHandle(ofService: base.makeDirectory("target"))
        let part = try PartialFile.create(in: directory, named: "part")
        try part.put("bytes")
        let linked = try #require(try PartialFile.link(part, in: target, named: "copy"))
        #expect(linked.identity == part.identity && base.read("target/copy") == "bytes")
        #expect(throws: FileError.nameTaken(path: base.at("target/copy"))) {
            try PartialFile.link(part, in: target, named: "copy")
        }
        try directory.remove("part")
        try linked.requireInPlace()
        #expect(base.read("target/copy") == "bytes")
        #expect(throws: FileError.partChanged(path: base.at("part"), problem: "it was removed")) {
            try PartialFile.link(part, in: target, named: "other")
        }
        try base.write("part", "another file")
        #expect(throws: FileError.partChanged(path: base.at("part"), problem: "another file has its name")) {
            try PartialFile.link(part, in: target, named: "other")
        }
        #expect(try target.status(of: "other") == nil)
        let memory = try TestDirectory(in: "/dev/shm")
        #expect(try PartialFile.link(linked, in: memory.handle(), named: "copy") == nil)
        #expect(try memory.names().isEmpty)
    }

    @Test func aPartialFileClosesOnceAndThenRefusesUse() throws {
        let part = try PartialFile.create(in: directory, named: "part")
        let descriptor = part.descriptor
        #expect(fcntl(descriptor, F_GETFD) == FD_CLOEXEC)
        part.close()
        part.close()
        #expect(part.descriptor == -1)
        #expect(throws: FileError.closed(path: base.at("part"))) { try part.sync() }
        #expect(throws: FileError.closed(path: base.at("part"))) { try part.length() }
        #expect(throws: FileError.closed(path: base.at("part"))) { try part.truncate(to: 0) }
        #expect(!part.preallocate(upTo: 1))
    }

    @Test func aFileOfAnotherKindUnderThePartsNameIsRefused() throws {
        try base.write("file", "")
        try base.link("link", to: "file")
        try base.makeDirectory("directory")
        #expect(mkfifo(base.at("fifo"), 0o600) == 0)
        for name in ["link", "directory", "fifo"] {
            #expect(throws: FileError.notAPartialFile(path: base.at(name), problem: "not a regular file")) {
                try PartialFile.open(in: directory, named: name)
            }
        }
        #expect(throws: FileError.missing(path: base.at("none"))) { try PartialFile.open(in: directory, named: "none") }
        #expect(throws: FileError.nameTaken(path: base.at("link"))) {
            try PartialFile.create(in: directory, named: "link")
        }
    }

    @Test(.enabled(if: isRoot, "only root may give files away"))
    func aPartialFileOfAnotherUserIsRefused() throws {
        try base.write("part", "")
        chown(base.at("part"), 65534, 65534)
        #expect { try PartialFile.open(in: directory, named: "part") } throws: {
            ($0 as? FileError)?.transferError.reason == .fileMoveFailed
        }
    }

    @Test(
        arguments: [
            (length: 10, committed: 4, kept: 4, isIntact: true), (10, 10, 10, true), (3, 10, 0, false),
            (10, 0, 0, true), (0, 5, 0, false),
        ])
    func aRestartTruncatesAPartialFileToItsCommittedBytesOrStartsAnew(
        length: Int, committed: Int64, kept: Int64, isIntact: Bool
    ) throws {
        try base.write("part", String(repeating: "x", count: length))
        let restored = try PartialFile.restore(
            in: directory, named: "part", segments: [Segment(start: 0, committed: committed)], record: nil)
        #expect((restored.remains == .intact) == isIntact)
        #expect(try restored.file.length() == kept)
    }

    @Test func aRestartCreatesAMissingOrReplacedPartialFileAnew() throws {
        let segments = [Segment(start: 0, committed: 10)]
        let restored = try PartialFile.restore(in: directory, named: "part", segments: segments, record: nil)
        #expect(restored.remains == .void("it is gone"))
        #expect(try restored.file.length() == 0)
        try base.write("target", String(repeating: "x", count: 10))
        try base.link("link", to: "target")
        let other = try PartialFile.restore(in: directory, named: "link", segments: segments, record: nil)
        #expect(other.remains == .void("not a regular file"))
        #expect(base.read("target") == String(repeating: "x", count: 10))
    }

    /// A database that was restored on another machine knows no inode numbers of this one.
    @Test(
        arguments: [
            (text: "right", keepsTime: true, wasAtRest: true, isIntact: true), ("right", false, true, false),
            ("right", true, false, false), ("longer", true, true, false),
        ])
    func aCopyOfAPartIsRecognisedByLengthAndTime(
        text: String, keepsTime: Bool, wasAtRest: Bool, isIntact: Bool
    ) throws {
        try base.write("original", "right")
        var facts = stat()
        #expect(stat(base.at("original"), &facts) == 0)
        let time = Int64(facts.st_mtim.tv_sec) * 1_000_000_000 + Int64(facts.st_mtim.tv_nsec)
        var record = PartRecord(mark: FileMark(identity: .unknown))
        if wasAtRest { record.rest = PartRecord.Rest(length: 5, modifiedAt: time) }
        try base.write("part", text)
        var times = [facts.st_mtim, facts.st_mtim]
        if !keepsTime { times[1].tv_sec -= 1 }
        #expect(utimensat(AT_FDCWD, base.at("part"), times, 0) == 0)
        let restored = try PartialFile.restore(
            in: directory, named: "part", segments: [Segment(start: 0, committed: 5)], record: record)
        #expect((restored.remains == .intact) == isIntact, "\(restored.remains)")
        #expect(try restored.file.length() == (isIntact ? 5 : 0))
    }

    @Test func aPartialFileIsNotTrustedAfterAFailedFsync() throws {
        // A pipe's write end: fdatasync answers EINVAL (fsync(2)).
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        defer { close(ends[0]) }
        let handle = Descriptor(owning: ends[1])
        let part = try PartialFile(directory: directory, name: "part", handle: handle, isEntryNew: true)
        #expect(throws: FileError.system(operation: "write out", path: base.at("part"), code: EINVAL)) {
            try part.sync()
        }
        #expect(throws: FileError.poisoned(path: base.at("part"))) { try part.sync() }
        #expect(throws: FileError.poisoned(path: base.at("part"))) { try part.sync(.everything) }
        #expect(FileError.poisoned(path: "x").transferError.reason == .diskError)
    }

    @Test(.enabled(if: canMountImages, "this process may not mount images"))
    func preallocationReservesBlocksWithoutGrowingTheFile() throws {
        try withSmallDisk { disk in
            let part = try PartialFile.create(in: disk.handle(), named: "part")
            try part.put("abc")
            #expect(part.preallocate(upTo: 1 << 20))
            #expect(try part.length() == 3)
            #expect(try status(of: part.descriptor, path: "").st_blocks >= (1 << 20) / 512)
            try part.releaseReserve()
            #expect(try part.length() == 3)
            #expect(try status(of: part.descriptor, path: "").st_blocks < (1 << 20) / 512)
        }
    }

    @Test func preallocationReservesNothingOnAMemoryFileSystem() throws {
        let base = try TestDirectory(in: "/dev/shm")
        let part = try PartialFile.create(in: base.handle(), named: "part")
        #expect(!part.preallocate(upTo: 1 << 20))
        #expect(try status(of: part.descriptor, path: "").st_blocks == 0)
    }

    @Test(
        .enabled(if: canMountImages, "this process may not mount images"))
    func excessPreallocationIsReturned() throws {
        try withSmallDisk { disk in
            let directory = try disk.handle()
            let part = try PartialFile.create(in: directory, named: "part")
            try part.put("abc")
            try part.sync()
            let free = try directory.freeSpace()
            #expect(!part.preallocate(upTo: 64 << 20))
            try part.releaseReserve()
            #expect(try part.length() == 3)
            // Less some blocks of metadata.
            #expect(try directory.freeSpace() > free - (1 << 20))
        }
    }

    @Test(.enabled(if: canMount, "this process may not mount"))
    func aFullDiskIsReported() throws {
        try withSmallFileSystem(size: "1m") { small in
            let directory = try small.handle()
            let part = try PartialFile.create(in: directory, named: "part")
            try part.put("abc")
            let free = try directory.freeSpace()
            let block = String(repeating: "x", count: 4096)
            var length = 4096
            while (try? part.put(block, at: length)) != nil { length += 4096 }
            #expect(try directory.freeSpace() == 0)
            #expect { try part.put(block, at: length) } throws: {
                ($0 as? FileError)?.transferError.reason == .insufficientSpace
            }
            try part.truncate(to: 3)
            #expect(try directory.freeSpace() == free)
            #expect(try part.length() == 3)
        }
    }
}
