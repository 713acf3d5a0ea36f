import Glibc
import Testing
import XferTestSupport

@testable import XferDaemon

@Suite struct RootStatusTests {
    @Test func whatIsAtTheRootIsFoundOut() throws {
        let base = try TemporaryDirectory("roots")
        try FileTree.write("x", to: base.file("file"))
        #expect(RootStatus(of: base.path) == .directory)
        #expect(RootStatus(of: base.file("file")) == .other)
        #expect(RootStatus(of: base.file("missing")) == .unreachable(ENOENT))
        #expect(RootStatus(of: base.file("file/x")) == .unreachable(ENOTDIR))
    }
}
