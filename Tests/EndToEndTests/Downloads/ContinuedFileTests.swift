import Testing
import XferModel
import XferTestSupport

/// `add -c`: files that other programs left.
@Suite struct ContinuedFileTests {
    @Test func aFileThatIsContinuedIsCompleteTheSecondTime() async throws {
        let server = try await FaultServer()
        let source = SourceVersion.tagged(197, length: 50_000)
        server.serve("/f", source)
        try await withDaemon { daemon in
            let path = "\(daemon.downloads)/f"
            try FileTree.write(source.bytes(0..<20_000), to: path)
            func add() async throws -> Command.Result {
                try await daemon.ctl(
                    "add", "-c", "--wait", "-d", daemon.downloads, "--checksum", source.checksum().hexDigits,
                    server.url("/f"))
            }
            let first = try await add()
            #expect(first.isSuccess && first.output.contains("-> \(path)"), "\(first)")
            #expect(try source.equals(file: path))
            #expect(server.requests.map { $0.header("Range") } == ["bytes=19999-"])
            let second = try await add()
            #expect(second.isSuccess && second.output.contains("already complete, verified: \(path)"), "\(second)")
            #expect(server.requests.count == 1)
            let verified = try await daemon.ctl("verify", path)
            #expect(verified.isSuccess && verified.output.hasSuffix("\(path): right\n"), "\(verified)")
        }
    }
}
