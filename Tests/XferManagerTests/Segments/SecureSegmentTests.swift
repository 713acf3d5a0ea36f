import Testing
import XferCore
import XferModel
import XferTestSupport

@testable import XferManager

/// Segments of a server that would rather speak HTTP/2, whose streams would share one connection.
@Suite(.enabled(if: NginxFixture.isInstalled)) struct SecureSegmentTests {
    @Test func segmentsOfAServerWithHTTP2AskForHTTP1OverSeveralConnections() async throws {
        let fixture = try await ManagerFixture()
        let authority = try TestCA()
        let leaf = try authority.issue()
        let caFile = fixture.directory.file("ca.pem")
        try FileTree.write(authority.pem, to: caFile)
        var options = NginxFixture.Options()
        options.tls = (authority.chain(for: leaf), leaf.privateKey)
        // Slow enough for the others to come before the first has all of it.
        options.limitRate = 200_000
        let nginx = try await NginxFixture(options)
        let version = SourceVersion.tagged(170, length: 1_500_000)
        try nginx.publish(version, as: "f")
        try nginx.publish(.tagged(171, length: 1000), as: "small")
        let manager = try await fixture.open(change: {
            $0.authoritiesFile = caFile
            $0.smallestSegment = 64 << 10
        })
        try await manager.start()

        func download(_ path: String, as name: String, _ segments: SegmentCount?) async throws -> [NginxFixture.LogLine]
        {
            let id = try await fixture.add(url: nginx.secureURL(path), as: name, to: manager) { $0.segments = segments }
            let task = try await fixture.end(of: id, in: manager)
            #expect(task.state == .completed, "\(String(describing: task.error))")
            return try nginx.log.filter { $0.target == path }
        }
        #expect(try await download("/small", as: "small", nil).map(\.httpVersion) == ["HTTP/2.0"])
        let lines = try await download("/f", as: "four", .exactly(4))
        #expect(try version.equals(file: "\(fixture.downloads)/four"))
        #expect(lines.count >= 4 && lines.allSatisfy { $0.httpVersion == "HTTP/1.1" }, "\(lines)")
        // Streams of HTTP/2 would share one. A busy machine may begin a segment after another's end, over its connection.
        #expect(Set(lines.map(\.connection)).count >= 2, "\(lines)")
        let automatic = try await download("/small?auto", as: "auto", .automatic)
        #expect(automatic.map(\.httpVersion) == ["HTTP/1.1"])
        await manager.shutdown(.suspend)
    }
}
