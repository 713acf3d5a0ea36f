import Glibc
import Testing
import XferModel
import XferTestSupport

@testable import XferFiles

@Suite struct PublisherTests {
    let base: TestDirectory
    let directory: DirectoryHandle
    let publisher: Publisher

    init() throws {
        base = try TestDirectory()
        directory = try base.handle()
        publisher = Publisher(directory: directory)
    }

    @Test func eachOfManyPreparedPartsHasItsOwnOutcome() throws {
        let base = try TestDirectory()
        let directory = try base.handle()
        let parts = try (0..<50).map { try PartialFile.create(in: directory, named: "part\($0)") }
        for index in [3, 40] { parts[index].close() }
        try parts[7].truncate(to: 2)
        let failures = Publisher(directory: directory).prepare(
            parts.map { ($0, Publisher.Attributes(length: 0, mode: 0o604)) })
        #expect(failures.count == 50)
        for (index, failure) in failures.enumerated() {
            let path = base.at("part\(index)")
            switch index {
            case 3, 40: #expect(failure == .closed(path: path))
            case 7: #expect(failure == .lengthMismatch(path: path, expected: 0, found: 2))
            default: #expect(failure == nil && FileTree.mode(path) == 0o604)
            }
        }
        #expect(
            Publisher(directory: directory).prepare([(part: PartialFile, attributes: Publisher.Attributes)]()) == [])
    }

    @Test(arguments: [1_600_000_000_123_456, 0, -1_500_000] as [Int64])
    func preparingSetsLengthModeAndTime(microseconds: Int64) throws {
        let (part, _) = try makePart("part", "hello", in: directory, as: "file")
        try publisher.prepare(
            part, Publisher.Attributes(length: 5, mode: 0o640, modifiedAt: Timestamp(microseconds: microseconds)))
        let status = try #require(try directory.status(of: "part"))
        #expect(status.mode == 0o640)
        #expect(status.modifiedAt == Timestamp(microseconds: microseconds))
    }

    @Test func preparingNeverSetsSetUIDBits() throws {
        let (part, _) = try makePart("part", "", in: directory, as: "file")
        try publisher.prepare(part, Publisher.Attributes(length: 0, mode: 0o7755))
        #expect(try directory.status(of: "part")?.mode == 0o755)
    }

    @Test(arguments: [4, 6] as [Int64])
    func aPartOfAWrongLengthIsRefused(length: Int64) throws {
        let (part, _) = try makePart("part", "hello", in: directory, as: "file")
        #expect(throws: FileError.lengthMismatch(path: base.at("part"), expected: length, found: 5)) {
            try publisher.prepare(part, Publisher.Attributes(length: length, mode: 0o644))
        }
        #expect(try directory.status(of: "part")?.mode == 0o600)
    }

    @Test func theFirstNameNeitherTakenNorReservedIsChosen() throws {
        func choice(_ reserved: Set<String> = []) throws -> Publisher.NameChoice {
            try publisher.chooseName(for: "a.tar.gz", policy: .rename) { reserved.contains($0) }
        }
        #expect(try choice() == .publish(as: "a.tar.gz", isReplacing: false))
        try base.link("a.tar.gz", to: "dangling")
        #expect(try choice() == .publish(as: "a (1).tar.gz", isReplacing: false))
        try base.makeDirectory("a (1).tar.gz")
        #expect(try choice(["a (2).tar.gz"]) == .publish(as: "a (3).tar.gz", isReplacing: false))
    }

    @Test(arguments: [31, 32, 33, 63, 64, 65, 100, 1000, 4097])
    func aFreeNameIsFoundAfterManyTakenOnes(count: Int) throws {
        let taken = Set((0..<count).map { $0 == 0 ? "a" : FileName.numbered("a", $0) })
        var asked = 0
        let choice = try publisher.chooseName(for: "a", policy: .rename) {
            asked += 1
            return taken.contains($0)
        }
        #expect(choice == .publish(as: FileName.numbered("a", count), isReplacing: false))
        #expect(asked < 64)
    }

    @Test func theSearchForAFreeNameEndsWithAnError() {
        #expect { try publisher.chooseName(for: "a", policy: .rename) { _ in true } } throws: {
            ($0 as? FileError)?.transferError.reason == .destinationExists
        }
    }

    @Test func aTakenNameIsHandledByTheConflictPolicy() throws {
        func choice(_ policy: ConflictPolicy) throws -> Publisher.NameChoice {
            try publisher.chooseName(for: "file", policy: policy)
        }
        for policy in [ConflictPolicy.skip, .fail, .rename] {
            #expect(try choice(policy) == .publish(as: "file", isReplacing: false))
        }
        try base.write("file", "old")
        #expect(try choice(.skip) == .skip)
        #expect(throws: FileError.nameTaken(path: base.at("file"))) { try choice(.fail) }
        #expect(FileError.nameTaken(path: "x").transferError.reason == .destinationExists)
        #expect(try choice(.overwrite) == .publish(as: "file", isReplacing: true))
        #expect(try choice(.update) == .publish(as: "file", isReplacing: true))
        #expect(try directory.remove("file"))
        try base.makeDirectory("file")
        #expect(throws: FileError.isADirectory(path: base.at("file"))) { try choice(.overwrite) }
        #expect(throws: FileError.isADirectory(path: base.at("file"))) { try choice(.update) }
        #expect(rmdir(base.at("file")) == 0 && mkfifo(base.at("file"), 0o600) == 0)
        #expect(throws: FileError.isSpecial(path: base.at("file"))) { try choice(.overwrite) }
        #expect(throws: FileError.self) { try publisher.chooseName(for: "../x", policy: .rename) }
    }

    @Test(
        arguments: ["/tmp", "/dev/shm"],
        [[], [.exclusiveRename], [.exclusiveRename, .hardLinks]] as [Set<FileSystemTraits.Feature>])
    func publishingRenamesThePartAndLeavesATakenNameAlone(
        parent: String, lacking: Set<FileSystemTraits.Feature>
    ) throws {
        let base = try TestDirectory(in: parent)
        let directory = try base.handle(lacking: lacking)
        let publisher = Publisher(directory: directory)
        let (_, first) = try makePart("one", "first", in: directory, as: "file")
        let (_, second) = try makePart("two", "second", in: directory, as: "file")
        #expect(try publisher.rename("one", as: first, isReplacing: false) == .published)
        #expect(try publisher.rename("two", as: second, isReplacing: false) == .nameTaken)
        #expect(base.read("file") == "first" && base.read("two") == "second")
        #expect(try publisher.rename("two", as: second, isReplacing: true) == .published)
        #expect(base.read("file") == "second")
        #expect(try base.names() == ["file"])
    }

    @Test func overwritingALinkReplacesTheLinkAndNotItsTarget() throws {
        try base.write("target", "precious")
        try base.link("file", to: "target")
        let (_, intent) = try makePart("part", "new", in: directory, as: "file")
        #expect(try publisher.rename("part", as: intent, isReplacing: false) == .nameTaken)
        #expect(try publisher.rename("part", as: intent, isReplacing: true) == .published)
        #expect(base.read("file") == "new" && base.read("target") == "precious")
        #expect(try directory.status(of: "file")?.kind == .regular)
    }

    @Test func aDirectoryIsNeverReplaced() throws {
        try base.makeDirectory("file")
        let (_, intent) = try makePart("part", "new", in: directory, as: "file")
        #expect(try publisher.rename("part", as: intent, isReplacing: false) == .nameTaken)
        #expect(throws: FileError.isADirectory(path: base.at("file"))) {
            try publisher.rename("part", as: intent, isReplacing: true)
        }
        #expect(base.read("part") == "new")
    }

    @Test func anotherFileUnderThePartsNameIsNotPublished() throws {
        let (_, intent) = try makePart("part", "mine", in: directory, as: "file")
        rename(base.at("part"), base.at("elsewhere"))
        try base.write("part", "foreign")
        for isReplacing in [false, true] {
            #expect(
                throws: FileError.partChanged(path: base.at("part"), problem: "another file has its name")
            ) {
                try publisher.rename("part", as: intent, isReplacing: isReplacing)
            }
        }
        #expect(try !directory.exists("file"))
        #expect(FileError.publishLost(path: "x").transferError.reason == .fileMoveFailed)
        #expect(FileError.partChanged(path: "x", problem: "y").transferError.isRetriable)
    }

    @Test(.enabled(if: canMount, "this process may not mount"))
    func aFullDiskDoesNotKeepAWholeFileFromItsName() throws {
        try withSmallFileSystem(size: "64k") { small in
            let directory = try small.handle()
            var (part, intent) = try makePart("part", "x", in: directory, as: "file")
            var length: Int64 = 1
            while (try? part.put("x", at: Int(length))) != nil { length += 1 }
            #expect(try directory.freeSpace() == 0)
            let publisher = Publisher(directory: directory)
            try publisher.prepare(part, Publisher.Attributes(length: length, mode: 0o644))
            intent.part = try part.facts()
            #expect(try publisher.rename("part", as: intent, isReplacing: false) == .published)
            try directory.sync()
        }
    }
}
