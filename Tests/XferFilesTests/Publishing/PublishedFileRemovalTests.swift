import Glibc
import Testing
import XferModel

@testable import XferFiles

/// Deleting a published file that an earlier call, or another process, has left under the private name.
@Suite struct PublishedFileRemovalTests {
    let base: TestDirectory
    let directory: DirectoryHandle
    let published: PublishedFile
    let digest: Checksum

    init() throws {
        base = try TestDirectory()
        directory = try base.handle()
        try base.write("file", "whole")
        let facts = try #require(try directory.facts(of: "file"))
        published = PublishedFile(mark: facts.mark, length: facts.length, modifiedAt: facts.modifiedAt, version: "v")
        digest = try ReadableFile(in: directory, named: "file").digest(.sha256, length: facts.length)
    }

    private func remove() throws(FileError) -> PublishedFileRemoval {
        try directory.removePublished(published, named: "file", privateName: "private", digest: digest)
    }

    @Test func aRepeatedCallDeletesWhatTheFirstOneHasMoved() throws {
        #expect(rename(base.at("file"), base.at("private")) == 0)
        #expect(try remove() == .removed)
        #expect(try base.names().isEmpty)
        #expect(try remove() == .missing)
    }

    @Test func aRepeatedCallDeletesBothLinks() throws {
        #expect(link(base.at("file"), base.at("private")) == 0)
        #expect(try remove() == .removed)
        #expect(try base.names().isEmpty)
    }

    /// Where files can neither be renamed without replacing nor linked, the crash comes between the placeholder of the
    /// private name and the rename.
    @Test func aRepeatedCallReplacesItsPlaceholderAndNoOtherFile() throws {
        let poor = try base.handle(lacking: [.exclusiveRename, .hardLinks])
        func remove() throws(FileError) -> PublishedFileRemoval {
            try poor.removePublished(published, named: "file", privateName: "private", digest: digest)
        }
        try base.write("private", "fil")
        #expect(throws: FileError.nameTaken(path: poor.path(of: "private"))) { try remove() }
        #expect(base.read("file") == "whole" && base.read("private") == "fil")
        try base.write("private", "file")
        #expect(try remove() == .removed)
        #expect(try base.names().isEmpty)
    }

    @Test func aRepeatedCallLeavesTheFileThatGotTheNameMeanwhile() throws {
        #expect(rename(base.at("file"), base.at("private")) == 0)
        try base.write("file", "other")
        #expect(try remove() == .removed)
        #expect(try base.names() == ["file"] && base.read("file") == "other")
    }

    @Test func anotherFileUnderThePrivateNameGoesBackIfTheNameIsFree() throws {
        #expect(unlink(base.at("file")) == 0)
        try base.write("private", "other")
        #expect(try remove() == .kept)
        #expect(try base.names() == ["file"] && base.read("file") == "other")
    }

    @Test func anotherFileUnderThePrivateNameIsAnErrorWhileThePublishedOneIsThere() throws {
        try base.write("private", "other")
        #expect(throws: FileError.nameTaken(path: directory.path(of: "private"))) { try remove() }
        #expect(try base.names().sorted() == ["file", "private"])
        #expect(base.read("file") == "whole" && base.read("private") == "other")
    }

    /// As an earlier version recorded it: without the time of modification.
    @Test func aFileThatNothingIdentifiesIsLeftUnderItsNameWithoutADigest() throws {
        var sparse = published
        sparse.modifiedAt = nil
        func remove(_ digest: Checksum?) throws(FileError) -> PublishedFileRemoval {
            try directory.removePublished(sparse, named: "file", privateName: "private", digest: digest)
        }
        #expect(try remove(nil) == .unidentified)
        #expect(try base.names() == ["file"] && base.read("file") == "whole")
        #expect(try remove(digest) == .removed)
        #expect(try base.names().isEmpty)
        #expect(try remove(nil) == .missing)
    }
}
