import Testing
import XferModel
import XferTestSupport

/// Lists of digests: `add --checksums`.
@Suite struct ChecksumListDownloadTests {
    @Test func aFetchedListAddsItsFilesVerifiesThemAndCostsNothingTheSecondTime() async throws {
        let server = try await FaultServer()
        let sources = (0..<2).map { SourceVersion.tagged(UInt64(195 + $0), length: 1000) }
        for (index, source) in sources.enumerated() { server.serve("/p/f\(index)", source) }
        let lines = sources.enumerated().map { "\($1.checksum().hexDigits)  f\($0)\n" }.joined()
        server.on("/p/SHA256SUMS") { _ in Reply(200, text: lines) }
        try await withDaemon { daemon in
            func add() async throws -> Command.Result {
                try await daemon.ctl(
                    "add", "--wait", "--on-conflict", "verify", "-d", daemon.downloads, "--checksums",
                    server.url("/p/SHA256SUMS"))
            }
            let first = try await add()
            #expect(first.isSuccess && first.output.contains("2 tasks: 2 downloaded"), "\(first)")
            for (index, source) in sources.enumerated() {
                #expect(try source.equals(file: "\(daemon.downloads)/f\(index)"))
            }
            let requests = server.requests.filter { !$0.path.hasSuffix("SUMS") }.count
            let second = try await add()
            #expect(second.isSuccess && second.output.contains("2 tasks: 2 were there already"), "\(second)")
            #expect(server.requests.filter { !$0.path.hasSuffix("SUMS") }.count == requests)
            try FileTree.write("corrupt", to: "\(daemon.downloads)/f0")
            let third = try await add()
            #expect(third.output.contains("1 downloaded") && third.output.contains("1 was there already"), "\(third)")
            #expect(try sources[0].equals(file: "\(daemon.downloads)/f0"))
        }
    }
}
