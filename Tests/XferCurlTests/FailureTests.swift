import Testing
import XferCore
import XferCurl
import XferModel
import XferTestSupport

@Suite struct FailureTests {
    private func fetch(
        _ faults: Fault..., change: (inout Attempt) -> Void = { _ in }
    ) async throws -> Harness.Record {
        let server = try await FaultServer()
        server.serve("/file", .tagged(30, length: 100_000), faults: [faults])
        let part = try PartFile()
        let record = try await Harness().run(.get(server.url("/file"), into: part, change))
        return record
    }

    @Test func aBodyThatBreaksOffIsShort() async throws {
        let record = try await fetch(.drop(after: 40_000, by: .close))
        #expect(record.error?.reason == .shortBody)
        #expect(record.error?.isRetriable == true)
        #expect(record.outcome.offset == 40_000)
        #expect(record.outcome.resumeData.validators.etag == "\"v30\"")
    }

    @Test func aResetLosesTheConnectionAndKeepsTheBytes() async throws {
        let record = try await fetch(.drop(after: 40_000, by: .reset))
        #expect(record.error?.reason == .connectionLost)
        #expect(record.outcome.offset == 40_000)
    }

    @Test func aChunkedBodyThatBreaksOffIsNotComplete() async throws {
        let record = try await fetch(.chunked, .drop(after: 40_000, by: .close))
        #expect(record.error?.isRetriable == true)
    }

    @Test(arguments: [-1000, -99_900])
    func bytesBeyondTheAnnouncedLengthAreIgnored(difference: Int64) async throws {
        let record = try await fetch(.contentLength(off: difference))
        #expect(record.outcome.result == .complete)
        #expect(record.outcome.offset == 100_000 + difference)
    }

    @Test func aBodyShorterThanAnnouncedIsShort() async throws {
        let record = try await fetch(.contentLength(off: 1000))
        #expect(record.error?.reason == .shortBody)
    }

    @Test func aServerThatAnswersNothingIsALostConnection() async throws {
        #expect(try await fetch(.noAnswer(.close)).error?.reason == .connectionLost)
    }

    @Test func garbageIsAProtocolError() async throws {
        let record = try await fetch(.garbageHead)
        #expect(record.error?.reason == .protocolError)
        #expect(record.error?.isRetriable == true)
        // A port whose number is usual for TLS suggests https.
        #expect([.notHTTP, .tlsExpected].contains(record.error?.cause))
    }

    @Test func aHeadWithoutEndIsRefused() async throws {
        #expect(try await fetch(.hugeHead(2_000_000)).error?.reason == .protocolError)
    }

    @Test func anUnrequestedPartIsRefusedUnlessItIsTheWhole() async throws {
        let record = try await fetch(.unaskedRange, .contentRange("bytes 0-99999/200000"))
        #expect(record.error?.reason == .rangeMismatch)
        #expect(try await fetch(.unaskedRange).outcome.result == .complete)
    }

    @Test(arguments: [
        (404, false), (410, false), (501, false), (505, false), (408, true), (423, true), (429, true), (500, true),
        (503, true),
    ])
    func eachStatusIsRetriedOrNot(status: Int, isRetriable: Bool) async throws {
        let record = try await fetch(.status(status, retryAfter: "7"))
        #expect(record.error?.reason == .httpStatus)
        #expect(record.error?.httpStatus == status)
        #expect(record.error?.isRetriable == isRetriable)
        #expect(record.error?.retryAfter == (isRetriable ? 7 : nil))
    }

    @Test func a401WantsOtherCredentials() async throws {
        let record = try await fetch(.reply(.unauthorized)) { attempt in
            attempt.credential = .basic("me", "swordfish", for: attempt.request.url)
        }
        #expect(record.error?.reason == .authFailed)
        #expect(record.error?.isRetriable == false)
        #expect(record.error?.message.contains("swordfish") == false)
    }

    @Test func anErrorsBodyKeepsTheConnection() async throws {
        let server = try await FaultServer()
        let harness = try Harness()
        for _ in 0..<3 { _ = try await harness.run(.get(server.url("/missing"))) }
        #expect(server.connectionCount == 1)
    }

    @Test func anErrorsEndlessBodyIsCutOff() async throws {
        let server = try await FaultServer()
        server.on("/file") { _ in
            Reply(500, body: [.source(.tagged(1, length: 1 << 30), 0..<1 << 30)], ending: .close)
        }
        let record = try await Harness().run(.get(server.url("/file")))
        #expect(record.error?.httpStatus == 500)
        #expect((server.requests.first?.sent ?? .max) < 100 << 20)
    }

    @Test func aClosedPortIsAConnectFailure() async throws {
        let closed = try ClosedPort()
        defer { withExtendedLifetime(closed) {} }
        let record = try await Harness().run(.get(closed.url("/file")))
        #expect(record.error?.reason == .connectFailed)
        #expect(record.error?.curlCode == 7)
    }

    @Test func anUnknownNameIsADNSFailure() async throws {
        let record = try await Harness().run(.get("http://does-not-exist.invalid/"))
        #expect(record.error?.reason == .dnsFailure)
    }

    @Test func aFullDeviceIsInsufficientSpace() async throws {
        let server = try await FaultServer()
        server.serve("/file", .tagged(31, length: 100_000))
        let full = try FullDevice()
        let record = try await Harness().run(
            .get(server.url("/file"), sink: .file(descriptor: full.descriptor)))
        #expect(record.error?.reason == .insufficientSpace)
        #expect(record.outcome.offset == 0)
    }

    @Test func aClosedDescriptorIsADiskError() async throws {
        let server = try await FaultServer()
        server.serve("/file", .tagged(32, length: 100_000))
        let record = try await Harness().run(.get(server.url("/file"), sink: .file(descriptor: -1)))
        #expect(record.error?.reason == .diskError)
        #expect(record.error?.isRetriable == false)
    }

    @Test func aRefusedSessionRefusesTheAttempt() async throws {
        let server = try await FaultServer()
        let refusal = TransferError(.rejectedByPolicy, "not this host")
        let record = try await Harness().run(
            .get(server.url("/file")) { $0.session = { _ throws(TransferError) in throw refusal } })
        #expect(record.error == refusal)
        #expect(server.requests.isEmpty)
    }
}
