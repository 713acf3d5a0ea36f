import Glibc
import Testing

@testable import XferFiles

@Suite("The umask")
struct ProcessUmaskTests {
    @Test("gives published files the mode any new file has")
    func mode() throws {
        let base = try TestDirectory()
        close(open(base.at("file"), O_CREAT | O_WRONLY, 0o666))
        #expect(try base.handle().status(of: "file")?.mode == ProcessUmask.defaultFileMode())
    }
}
