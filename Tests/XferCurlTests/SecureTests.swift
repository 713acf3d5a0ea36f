import Testing
import XferCore
import XferCurl
import XferModel
import XferTestSupport

/// https against a real nginx with a CA of the test's own.
@Suite(.enabled(if: NginxFixture.isInstalled)) struct SecureTests {
    let directory: TemporaryDirectory
    let ca: TestCA

    init() throws {
        directory = try TemporaryDirectory("xfer-ca")
        ca = try TestCA()
        try FileTree.write(ca.pem, to: directory.file("ca.pem"))
    }

    private func serve(_ leaf: TestCertificate? = nil, directives: String = "") async throws -> NginxFixture {
        let leaf = try leaf ?? ca.issue()
        var options = NginxFixture.Options()
        options.tls = (ca.chain(for: leaf), leaf.privateKey)
        options.directives = directives
        return try await NginxFixture(options)
    }

    private func get(
        _ url: String, into part: PartFile, _ change: (inout Attempt) -> Void = { _ in }
    ) throws -> Attempt {
        let caFile = directory.file("ca.pem")
        return try .get(url, into: part) { attempt in
            attempt.session = { _ in SessionSpec(trust: TrustSettings(caFile: caFile)) }
            change(&attempt)
        }
    }

    @Test func aFileArrivesOverHTTP2() async throws {
        let nginx = try await serve()
        let version = SourceVersion.tagged(70, length: 20 << 20)
        try nginx.publish(version, as: "file")
        let part = try PartFile()
        let record = try await Harness().run(get(nginx.secureURL("/file"), into: part))
        #expect(record.outcome.result == .complete)
        #expect(record.outcome.head?.majorVersion == 2)
        #expect(try part.bytes == version.bytes)
    }

    @Test func transfersShareOneHTTP2Connection() async throws {
        let nginx = try await serve()
        let harness = try Harness(loops: 1)
        for index in 0..<20 { try nginx.publish(.tagged(UInt64(index), length: 200_000), as: "\(index)") }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<20 {
                group.addTask {
                    let part = try PartFile()
                    let record = try await harness.run(get(nginx.secureURL("/\(index)"), into: part))
                    #expect(record.outcome.result == .complete)
                    #expect(try part.bytes == SourceVersion.tagged(UInt64(index), length: 200_000).bytes)
                }
            }
            try await group.waitForAll()
        }
        try await eventually("all requests are logged") { try nginx.log.count == 20 }
        #expect(Set(try nginx.log.map(\.connection)).count == 1)
    }

    @Test func aLimitedTransferUsesHTTP1AndConnectionsOfItsOwn() async throws {
        let nginx = try await serve()
        let version = SourceVersion.tagged(71, length: 100_000)
        try nginx.publish(version, as: "file")
        let harness = try Harness()
        for rate in [0, 1_000_000, 0] as [Int64] {
            let part = try PartFile()
            let record = try await harness.run(
                get(nginx.secureURL("/file"), into: part) { $0.maxReceiveRate = rate })
            #expect(record.outcome.result == .complete)
            #expect(record.outcome.head?.majorVersion == (rate > 0 ? 1 : 2))
        }
        try await eventually("all requests are logged") { try nginx.log.count == 3 }
        let connections = try nginx.log.map(\.connection)
        try #require(connections.count == 3)
        #expect(connections[0] == connections[2])
        #expect(connections[0] != connections[1])
    }

    @Test func aLimitSetDuringAnHTTP2DownloadContinuesItOverHTTP1() async throws {
        // The download cannot end before the limit is set; its rest is sent at once.
        let nginx = try await serve(directives: "if ($server_protocol = HTTP/2.0) { set $limit_rate 20000; }")
        let version = SourceVersion.tagged(72, length: 1 << 20)
        try nginx.publish(version, as: "file")
        let harness = try Harness()
        let part = try PartFile()
        let attempt = try get(nginx.secureURL("/file"), into: part)
        let handle = await harness.engine.start(attempt)
        try await eventually("some bytes") { handle.progress.snapshot.offset > 0 }
        await harness.engine.setMaxReceiveRate(handle.id, 10_000_000)
        let first = try await harness.follow(handle)
        #expect(first.outcome.result == .restartWithHTTP1)
        var next = attempt
        next.maxReceiveRate = 10_000_000
        next.resumeData = first.outcome.resumeData
        next.resumeData.segments = [Segment(start: 0, committed: first.outcome.offset)]
        let second = try await harness.run(next, part: part)
        #expect(second.outcome.result == .complete)
        #expect(second.outcome.head?.majorVersion == 1)
        #expect(second.outcome.head?.status == 206)
        #expect(try part.bytes == version.bytes)
    }

    @Test func pausingAnHTTP2DownloadLosesNoBytes() async throws {
        let nginx = try await serve()
        let version = SourceVersion.tagged(73, length: 24 << 20)
        try nginx.publish(version, as: "file")
        let part = try PartFile()
        let record = try await Harness().run(
            get(nginx.secureURL("/file"), into: part) { attempt in
                attempt.checkpoints = CheckpointWindow.Limits(dueBytes: 300_000, pauseBytes: 600_000)
            })
        #expect(record.outcome.result == .complete)
        #expect(try part.bytes == version.bytes)
    }

    @Test func badCertificatesAreRefusedForGood() async throws {
        let stranger = try TestCA(name: "somebody else")
        let bad: [(leaf: TestCertificate, word: String)] = [
            (try ca.issue(.wrongHost), "no alternative certificate subject name"), (try ca.issue(.expired), "expired"),
            (try ca.issue(.notYetValid), "not yet valid"), (try TestCA.selfSigned(), "self-signed"),
            (try stranger.issue(), "unable to get local issuer certificate"),
        ]
        for (leaf, word) in bad {
            let nginx = try await serve(leaf)
            let part = try PartFile()
            let record = try await Harness().run(get(nginx.secureURL("/file"), into: part))
            #expect(record.error?.reason == .trustRejected)
            #expect(record.error?.isRetriable == false)
            let message = record.error?.message ?? ""
            #expect(message.contains(word), "\(message)")
        }
    }

    @Test func aCertificateOfAnUntrustedAuthorityIsRefused() async throws {
        let nginx = try await serve()
        let harness = try Harness()
        let part = try PartFile()
        // A trusting connection to the same host must not help the distrusting one.
        _ = try await harness.run(get(nginx.secureURL("/file"), into: part))
        let record = try await harness.run(.get(nginx.secureURL("/file"), into: part))
        #expect(record.error?.reason == .trustRejected)
    }

    @Test func anUnreadableAuthorityFileIsNamedInTheError() async throws {
        let nginx = try await serve()
        let part = try PartFile()
        let record = try await Harness().run(
            .get(nginx.secureURL("/file"), into: part) { attempt in
                attempt.session = { _ in SessionSpec(trust: TrustSettings(caFile: "/does/not/exist.pem")) }
            })
        #expect(record.error?.reason == .trustRejected)
        #expect(record.error?.message.contains("/does/not/exist.pem") == true)
    }

    @Test func aRedirectFromHTTPSToHTTPIsFollowedOnlyIfAllowed() async throws {
        let plain = try await FaultServer()
        plain.serve("/file", .tagged(74, length: 1000))
        let leaf = try ca.issue()
        var options = NginxFixture.Options()
        options.tls = (ca.chain(for: leaf), leaf.privateKey)
        options.directives = "location /down { return 302 \(plain.url("/file")); }"
        let nginx = try await NginxFixture(options)
        let harness = try Harness()
        let part = try PartFile()
        let refused = try await harness.run(get(nginx.secureURL("/down"), into: part))
        #expect(refused.error?.reason == .insecureRedirect)
        #expect(plain.requests.isEmpty)
        let allowed = try await harness.run(
            get(nginx.secureURL("/down"), into: part) { $0.request.allowsDowngrade = true })
        #expect(allowed.outcome.result == .complete)
    }

    @Test func aResumeFromNginxFetchesOnlyTheRest() async throws {
        let nginx = try await serve()
        let version = SourceVersion.tagged(75, length: 300_000)
        try nginx.publish(version, as: "file")
        let harness = try Harness()
        let part = try PartFile()
        // Slow enough to be stopped half way however busy the machine is.
        let handle = await harness.engine.start(
            try get(nginx.secureURL("/file"), into: part) { $0.maxReceiveRate = 20_000 })
        try await eventually("some bytes") { handle.progress.snapshot.offset > 0 }
        await harness.engine.stop(handle.id)
        let first = try await harness.follow(handle)
        var attempt = try get(nginx.secureURL("/file"), into: part)
        attempt.resumeData = first.outcome.resumeData
        attempt.resumeData.segments = [Segment(start: 0, committed: first.outcome.offset)]
        let second = try await harness.run(attempt, part: part)
        #expect(second.outcome.result == .complete)
        #expect(second.outcome.head?.status == 206)
        #expect(try part.bytes == version.bytes)
    }
}
