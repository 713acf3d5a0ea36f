import Glibc
import Testing
import XferTestSupport

@testable import XferFiles

@Suite struct ZoneFilesTests {
    @Test(arguments: [
        "", "/etc/passwd", "../etc/passwd", "Europe/../Berlin", "Europe//Berlin", "Europe/", ".", "Europe/Berlin\n",
        "a b",
        "Europe/Bérlin", String(repeating: "a", count: 256),
    ]) func aTextThatIsNoZoneNameIsNeverOpened(name: String) throws {
        #expect(!ZoneFiles.isName(name))
        #expect(throws: FileError.self) { try ZoneFiles().read(name) }
        #expect(ZoneFiles().stamp(of: name) == nil)
    }

    @Test(arguments: ["UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires", "Etc/GMT+12", "EST5EDT"])
    func zoneNamesAreAccepted(name: String) { #expect(ZoneFiles.isName(name)) }

    @Test func zoneFilesAreReadAndChangesAreNoticed() throws {
        let directory = try TemporaryDirectory("zones")
        _ = try directory.makeDirectory("Here")
        try FileTree.write("one", to: directory.file("Here/There"))
        try FileTree.write("local", to: directory.file("localtime"))
        let files = ZoneFiles(directory: directory.path, localFile: directory.file("localtime"))
        let found = try #require(try files.read("Here/There"))
        #expect(found.bytes == Array("one".utf8) && found.stamp == files.stamp(of: "Here/There"))
        #expect(try files.read(nil)?.bytes == Array("local".utf8))
        #expect(try files.read("Here/Nowhere") == nil && files.stamp(of: "Nowhere") == nil)
        try FileTree.write("another", to: directory.file("Here/There"))
        #expect(files.stamp(of: "Here/There") != found.stamp)
    }

    /// A directory, a FIFO and a huge file are refused at once.
    @Test func aDirectoryFIFOOrHugeFileIsRefused() throws {
        let directory = try TemporaryDirectory("zones")
        _ = try directory.makeDirectory("Here")
        #expect(mkfifo(directory.file("Pipe"), 0o600) == 0)
        try FileTree.write("", to: directory.file("Huge"))
        #expect(truncate(directory.file("Huge"), 2 << 20) == 0)
        let files = ZoneFiles(directory: directory.path, localFile: directory.file("none"))
        for name in ["Here", "Pipe", "Huge"] { #expect(throws: FileError.self) { try files.read(name) } }
        #expect(try files.read(nil) == nil)
    }

    /// On tmpfs, whose times have 64 bits (ext4's stop at 1901 and 2446).
    @Test(arguments: [16_725_225_600, -16_725_225_600, 1 << 40] as [Int])
    func aFileModifiedInAnotherMillenniumIsReadLikeAnyOther(seconds: Int) throws {
        let directory = try TemporaryDirectory("zones", in: "/dev/shm")
        try FileTree.write("zone", to: directory.file("Zone"))
        let files = ZoneFiles(directory: directory.path, localFile: directory.file("none"))
        let before = files.stamp(of: "Zone")
        var times = [timespec(tv_sec: seconds, tv_nsec: 1), timespec(tv_sec: seconds, tv_nsec: 1)]
        #expect(utimensat(AT_FDCWD, directory.file("Zone"), &times, 0) == 0)
        #expect(try files.read("Zone")?.stamp == files.stamp(of: "Zone"))
        #expect(files.stamp(of: "Zone") != before)
    }
}
