import Testing
import XferCore
import XferModel
import XferTestSupport

@testable import XferCurl

/// Content over HTTP/2, and over TLS, to a real nginx.
@Suite(.enabled(if: NginxFixture.isInstalled)) struct SecureSendTests {
    let directory: TemporaryDirectory
    let ca: TestCA

    init() throws {
        directory = try TemporaryDirectory("xfer-ca")
        ca = try TestCA()
        try FileTree.write(ca.pem, to: directory.file("ca.pem"))
    }

    private func serve() async throws -> NginxFixture {
        let leaf = try ca.issue()
        var options = NginxFixture.Options()
        options.tls = (ca.chain(for: leaf), leaf.privateKey)
        options.directives = """
            dav_methods PUT DELETE;
            create_full_put_path on;
            client_max_body_size 16m;
            location /small/ { client_max_body_size 1k; }
            location /moved/ { return 307 /stored/moved; }
            location /result/ { return 303 /index; }
            """
        return try await NginxFixture(options)
    }

    private func exchange(
        _ method: HTTPMethod, _ url: String, _ content: AttemptContent? = nil,
        _ change: (inout Attempt) -> Void = { _ in }
    ) throws -> Attempt {
        let caFile = directory.file("ca.pem")
        return try .exchange(method, url, content) { attempt in
            attempt.session = { _ in SessionSpec(trust: TrustSettings(caFile: caFile)) }
            change(&attempt)
        }
    }

    @Test(arguments: [HTTPVersion.automatic, .http1])
    func aFileIsStoredWhole(version: HTTPVersion) async throws {
        let nginx = try await serve()
        let file = try SentFile(.tagged(140, length: 5_000_001))
        let harness = try Harness()
        for name in ["a", "b"] {
            let record = try await harness.run(
                exchange(.put, nginx.secureURL("/stored/\(name)"), .file(file.whole)) {
                    $0.request.httpVersion = version
                })
            #expect(record.outcome.head?.status == 201, "\(record.outcome.result)")
            #expect(try file.version.equals(file: "\(nginx.root)/stored/\(name)"))
        }
        try await eventually("all requests are logged") { try nginx.log.count == 2 }
        let lines = try nginx.log
        #expect(Set(lines.map(\.httpVersion)) == [version == .http1 ? "HTTP/1.1" : "HTTP/2.0"])
        #expect(Set(lines.map(\.connection)).count == 1)
    }

    @Test func manyFilesAreStoredOverOneConnection() async throws {
        let nginx = try await serve()
        let harness = try Harness()
        let files = try (0..<8).map { try SentFile(.tagged(UInt64(150 + $0), length: 500_000 + Int64($0))) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, file) in files.enumerated() {
                group.addTask {
                    let record = try await harness.run(
                        exchange(.put, nginx.secureURL("/stored/\(index)"), .file(file.whole)))
                    #expect(record.outcome.head?.status == 201, "\(record.outcome.result)")
                    #expect(try file.version.equals(file: "\(nginx.root)/stored/\(index)"))
                }
            }
            try await group.waitForAll()
        }
    }

    @Test(arguments: [HTTPVersion.automatic, .http1])
    func aLimitedFileIsStoredWhole(version: HTTPVersion) async throws {
        let nginx = try await serve()
        let file = try SentFile(.tagged(141, length: 300_000))
        let record = try await Harness().run(
            exchange(.put, nginx.secureURL("/stored/a"), .file(file.whole)) { attempt in
                attempt.maxSendRate = 600_000
                attempt.request.httpVersion = version
            })
        #expect(record.outcome.head?.status == 201, "\(record.outcome.result)")
        #expect(try file.version.equals(file: "\(nginx.root)/stored/a"))
    }

    @Test(arguments: [HTTPVersion.automatic, .http1])
    func aRefusedUploadReportsItsStatus(version: HTTPVersion) async throws {
        let nginx = try await serve()
        let file = try SentFile(.tagged(142, length: 8 << 20))
        let record = try await Harness().run(
            exchange(.put, nginx.secureURL("/small/a"), .file(file.whole)) { $0.request.httpVersion = version })
        #expect(record.outcome.head?.status == 413, "\(record.outcome.result)")
        #expect(record.outcome.result == .complete)
    }

    @Test(arguments: [HTTPVersion.automatic, .http1])
    func aRedirectSendsTheContentToTheNewTarget(version: HTTPVersion) async throws {
        let nginx = try await serve()
        let file = try SentFile(.tagged(143, length: 2_000_000))
        let record = try await Harness().run(
            exchange(.put, nginx.secureURL("/moved/a"), .file(file.whole)) { $0.request.httpVersion = version })
        #expect(record.outcome.head?.status == 201, "\(record.outcome.result)")
        #expect(try file.version.equals(file: "\(nginx.root)/stored/moved"))
        let parts = [AttemptPart(name: "f", content: .file(file.whole))]
        let form = try await Harness().run(
            exchange(.put, nginx.secureURL("/moved/b"), .parts(parts)) { $0.request.httpVersion = version })
        #expect(form.outcome.head?.status == 204, "\(form.outcome.result)")
        #expect((FileTree.size("\(nginx.root)/stored/moved") ?? 0) > 2_000_000)
        let result = try await Harness().run(
            exchange(.put, nginx.secureURL("/result/a"), .file(file.whole)) { $0.request.httpVersion = version })
        #expect(result.outcome.finalURL.target == "/index")
        #expect(result.outcome.head?.status == 404, "\(result.outcome.result)")
        try await eventually("all requests are logged") { try nginx.log.count == 6 }
    }

    @Test func formsAndEmptyContentAreSentOverHTTP2() async throws {
        let nginx = try await serve()
        let harness = try Harness()
        let parts = [AttemptPart(name: "a", content: .bytes(Array(repeating: 1, count: 200_000)))]
        #expect(
            try await harness.run(exchange(.put, nginx.secureURL("/stored/form"), .parts(parts))).outcome.head?.status
                == 201)
        #expect((FileTree.size("\(nginx.root)/stored/form") ?? 0) > 200_000)
        #expect(
            try await harness.run(exchange(.put, nginx.secureURL("/stored/empty"))).outcome.head?.status == 201)
        #expect(FileTree.size("\(nginx.root)/stored/empty") == 0)
        #expect(
            try await harness.run(exchange(.head, nginx.secureURL("/stored/form"))).outcome.result == .complete)
        #expect(
            try await harness.run(exchange(.delete, nginx.secureURL("/stored/form"))).outcome.head?.status == 204)
        #expect(!FileTree.exists("\(nginx.root)/stored/form"))
    }
}
