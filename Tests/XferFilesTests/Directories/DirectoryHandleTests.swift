import Glibc
import Testing
import XferModel

@testable import XferFiles

@Suite struct DirectoryHandleTests {
    let base: TestDirectory
    let handle: DirectoryHandle

    init() throws {
        base = try TestDirectory()
        handle = try base.handle()
    }

    @Test func aRememberedDirectoryIsRecognisedOnlyWhileItsPathLeadsToIt() throws {
        let path = try base.makeDirectory("destination")
        let opened = try DirectoryHandle(ofService: path)
        // Nil where the file system may be another machine's.
        guard let remembered = AdmittedDirectory(opened, path: path) else { return }
        #expect(remembered.identity == opened.identity && remembered.isWritable)
        #expect(rename(path, base.at("elsewhere")) == 0)
        #expect(!remembered.isWritable)
        try base.makeDirectory("destination")
        #expect(!remembered.isWritable)
        #expect(rmdir(path) == 0 && rename(base.at("elsewhere"), path) == 0)
        #expect(remembered.isWritable)
    }

    @Test func entriesAreInspectedWithoutFollowingLinks() throws {
        try base.write("file", "12345")
        try base.link("link", to: "file")
        try base.link("dangling", to: "nowhere")
        try base.makeDirectory("directory")
        chmod(base.at("file"), 0o640)
        let status = try #require(try handle.status(of: "file"))
        #expect(status.kind == .regular && status.length == 5 && status.mode == 0o640 && status.owner == geteuid())
        #expect(status.identity == FileIdentity(ofPath: base.at("file")))
        #expect(try handle.status(of: "link")?.kind == .symbolicLink)
        #expect(try handle.identity(of: "link") != handle.identity(of: "file"))
        #expect(try handle.exists("dangling"))
        #expect(try handle.status(of: "directory")?.kind == .directory)
        #expect(try handle.status(of: "none") == nil)
        #expect(try !handle.exists("none"))
    }

    @Test func removingReportsWhetherAFileExistedAndRefusesDirectories() throws {
        try base.write("file", "")
        try base.makeDirectory("directory")
        #expect(try handle.remove("file"))
        #expect(try !handle.remove("file"))
        #expect(throws: FileError.isADirectory(path: base.at("directory"))) { try handle.remove("directory") }
    }

    @Test(arguments: ["", ".", "..", "a/b", "/etc/passwd", "a\0b", "a/"])
    func namesThatLeadElsewhereAreRefused(name: String) {
        #expect(throws: FileError.self) { try handle.exists(name) }
        #expect(throws: FileError.self) { try handle.remove(name) }
        #expect(throws: FileError.self) { try PartialFile.create(in: handle, named: name) }
    }

    @Test func aDirectoryPutInPlaceOfAnotherIsDistinguished() throws {
        let path = try base.makeDirectory("sub")
        let sub = try DirectoryHandle(ofService: path)
        #expect(sub.isSame(asPath: path))
        rename(path, base.at("moved"))
        #expect(!sub.isSame(asPath: path))
        try base.makeDirectory("sub")
        #expect(!sub.isSame(asPath: path))
        #expect(sub.isSame(asPath: base.at("moved")))
        try base.write("moved/file", "")
        #expect(try sub.exists("file"))
    }

    @Test(.enabled(if: canMount, "this process may not mount"))
    func freeSpaceShrinksAsAFileGrows() throws {
        try withSmallFileSystem(size: "1m") { directory in
            let small = try directory.handle()
            #expect(try small.freeSpace() == 1 << 20)
            try directory.write("file", String(repeating: "x", count: 512 << 10))
            #expect(try small.freeSpace() == 512 << 10)
            #expect(small.fileSystemID != handle.fileSystemID)
        }
    }

    @Test func aSyncSucceedsOrReportsItsFailure() throws {
        try handle.sync()
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        close(ends[1])
        let broken = try DirectoryHandle(path: "/broken", handle: Descriptor(owning: ends[0]))
        #expect(throws: FileError.system(operation: "write out", path: "/broken", code: EINVAL)) { try broken.sync() }
    }
}
