import Glibc
import Testing
import XferFiles
import XferTestSupport

@testable import XferManager

@Suite struct OpenDirectoriesTests {
    @Test func anOpenDirectoryIsReusedWhileItsPathLeadsToIt() throws {
        let place = try TemporaryDirectory("xfer-open")
        let path = try place.makeDirectory("a")
        let roots = AllowedRoots(roots: [place.path], forbidden: [])
        let directories = OpenDirectories()
        let first = try directories.open(path, beneath: roots)
        #expect(try directories.open(path, beneath: roots) === first)
        #expect(rename(path, place.file("b")) == 0)
        #expect(throws: FileError.self) { try directories.open(path, beneath: roots) }
        _ = try place.makeDirectory("a")
        let second = try directories.open(path, beneath: roots)
        #expect(second !== first && second.identity != first.identity)
        #expect(try directories.open(path, beneath: roots) === second)
    }

    @Test func otherRootsJudgeAnOpenDirectoryAgain() throws {
        let place = try TemporaryDirectory("xfer-open")
        let path = try place.makeDirectory("a")
        let other = try place.makeDirectory("other")
        let directories = OpenDirectories()
        let first = try directories.open(path, beneath: AllowedRoots(roots: [place.path], forbidden: []))
        #expect(throws: FileError.self) {
            try directories.open(path, beneath: AllowedRoots(roots: [other], forbidden: []))
        }
        #expect(throws: FileError.self) {
            try directories.open(path, beneath: AllowedRoots(roots: [place.path], forbidden: [path]))
        }
        withExtendedLifetime(first) {}
    }
}
