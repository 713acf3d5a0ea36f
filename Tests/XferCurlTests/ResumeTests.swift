import Testing
import XferCore
import XferCurl
import XferModel
import XferTestSupport

@Suite struct ResumeTests {
    let version = SourceVersion.tagged(20, length: 400_000)

    /// One attempt that continues the first 100,000 bytes against a server bent like this.
    private func resume(
        _ faults: [[Fault]], joinsUnderDigest: Bool = false, from kept: SourceVersion? = nil,
        offered: SourceVersion? = nil
    ) async throws -> (record: Harness.Record, part: PartFile, server: FaultServer) {
        let server = try await FaultServer()
        server.serve("/file", offered ?? version, faults: faults)
        let kept = kept ?? version
        let part = try PartFile(holding: kept.bytes(0..<100_000))
        var attempt = try Attempt.get(server.url("/file"), into: part).keeping(kept, 100_000)
        attempt.joinsUnderDigest = joinsUnderDigest
        return (try await Harness().run(attempt, part: part), part, server)
    }

    @Test func onlyTheRestIsFetched() async throws {
        let (record, part, server) = try await resume([])
        #expect(record.outcome.result == .complete)
        #expect(try part.bytes == version.bytes)
        #expect(server.requests.map { $0.header("Range") } == ["bytes=100000-"])
        #expect(server.requests.first?.header("If-Range") == version.etag)
        #expect(server.requests.first?.sent == 300_000)
    }

    @Test func aStrongDateIsEnoughWithoutATag() async throws {
        let dated = SourceVersion(seed: 21, length: 400_000, lastModified: "Sun, 06 Nov 1994 08:49:37 GMT")
        let (record, part, server) = try await resume([], from: dated, offered: dated)
        #expect(record.outcome.result == .complete)
        #expect(server.requests.first?.header("If-Range") == dated.lastModified)
        #expect(try part.bytes == dated.bytes)
    }

    @Test func shortRangesAreContinuedOneAfterTheOther() async throws {
        let (record, part, server) = try await resume([[.shortRange(90_000)], [.shortRange(1)], [.shortRange(100_000)]])
        #expect(record.outcome.result == .complete)
        #expect(server.requests.count == 4)
        #expect(server.connectionCount == 1)
        #expect(try part.bytes == version.bytes)
    }

    /// The last chunk, which is empty, may still lie in the socket when the last byte has come: it is nothing too much.
    /// Among many lengths some end where one read of libcurl's does.
    @Test func theLastChunkBehindAChunkedRangeIsNotExcessData() async throws {
        let server = try await FaultServer()
        let harness = try Harness()
        for index in 0..<40 {
            let long = SourceVersion.tagged(UInt64(300 + index), length: 1_000_000 + Int64(index) * 13_001)
            server.serve("/\(index)", long).always(.chunked)
            let part = try PartFile(holding: long.bytes(0..<1000))
            let record = try await harness.run(
                try Attempt.get(server.url("/\(index)"), into: part).keeping(long, 1000), part: part)
            #expect(record.outcome.result == .complete)
            #expect(try part.bytes == long.bytes)
        }
    }

    @Test func aRangeThatBeginsTooEarlyIsSkippedInto() async throws {
        let (record, part, _) = try await resume([[.startShifted(by: -5000)]])
        #expect(record.outcome.result == .complete)
        #expect(try part.bytes == version.bytes)
    }

    @Test func aWholeBodyOfTheSameVersionIsSkippedInto() async throws {
        let (record, part, server) = try await resume([[.ignoreRange, .header("Accept-Ranges", nil)]])
        #expect(record.outcome.result == .complete)
        #expect(server.requests.count == 1)
        #expect(try part.bytes == version.bytes)
    }

    @Test func aServerThatRefusesIfRangeIsAskedOnceWithoutIt() async throws {
        let (record, part, server) = try await resume([[.refuseIfRange], [.refuseIfRange]])
        #expect(record.outcome.result == .complete)
        #expect(server.requests.map { $0.header("If-Range") } == [version.etag, nil])
        #expect(server.requests.last?.status == 206)
        #expect(try part.bytes == version.bytes)
    }

    @Test func anotherVersionIsWrittenOnlyAfterTheKeptBytesAreDiscarded() async throws {
        let newer = SourceVersion.tagged(22, length: 250_000)
        let server = try await FaultServer()
        server.serve("/file", newer)
        let part = try PartFile(holding: version.bytes(0..<100_000))
        let harness = try Harness()
        let handle = await harness.engine.start(
            try Attempt.get(server.url("/file"), into: part).keeping(version, 100_000))
        var events = handle.events.makeAsyncIterator()
        guard case .head(_, .restart(_, let reason), let keeping) = await events.next() else {
            Issue.record("expected a restart")
            return
        }
        #expect(reason == .lengthChanged(kept: 400_000, now: 250_000))
        #expect(keeping.validators.etag == newer.etag)
        // The head is here and the body on its way, yet nothing may be written.
        try await eventually("the server has sent what the sockets hold") { (server.requests.first?.sent ?? 0) > 0 }
        await harness.engine.committed(handle.id, offset: 100_000)
        #expect(try part.bytes == version.bytes(0..<100_000))
        part.truncate()
        await harness.engine.proceed(handle.id)
        guard case .finished(let outcome) = await events.next() else {
            Issue.record("expected the end")
            return
        }
        #expect(outcome.result == .complete)
        #expect(try part.bytes == newer.bytes)
    }

    @Test func anEmptyAnswerLeavesTheKeptBytesAsTheyAre() async throws {
        let empty = SourceVersion.tagged(23, length: 0)
        let (record, part, _) = try await resume([], offered: empty)
        guard case .failed(let error) = record.outcome.result else {
            Issue.record("\(record.outcome.result)")
            return
        }
        #expect(error.reason == .unexpectedAnswer && error.isRetriable)
        #expect(record.outcome.offset == 100_000 && record.outcome.resumeData.doubt?.count == 1)
        #expect(try part.bytes == version.bytes(0..<100_000))
    }

    @Test func aRangeOfANewVersionStartsOver() async throws {
        let newer = SourceVersion.tagged(24, length: 400_000)
        let (record, part, _) = try await resume([[.ignoreIfRange]], offered: newer)
        #expect(record.outcome.result == .startOver(.etagChanged))
        #expect(try part.bytes == version.bytes(0..<100_000))
    }

    @Test(arguments: [
        Fault.contentRange(nil), .contentRange("octets 100000-399999/400000"),
        .contentRange("bytes 200000-100000/400000"),
        .contentRange("bytes 100000-399999/300000"), .startShifted(by: 10), .multipart,
        .header("ETag", "W/\"v20\""), .contentRangeTotal(500_000), .contentRange("bytes 100000-399999"), .gzip,
        .unsatisfiable("bytes */400000"), .unsatisfiable(nil), .unsatisfiable("bytes */100000"),
    ])
    func anUnusableAnswerStartsOverAndWritesNothing(_ fault: Fault) async throws {
        let (record, part, _) = try await resume([[fault]])
        guard case .startOver = record.outcome.result else {
            Issue.record("\(fault): \(record.outcome.result)")
            return
        }
        #expect(try part.bytes == version.bytes(0..<100_000))
    }

    @Test func aPartWithoutATagIsTakenFromAServerThatHonoursIfRange() async throws {
        let untagged = Fault.header("ETag", nil)
        let (record, part, server) = try await resume([[untagged], [], [untagged]])
        #expect(record.outcome.result == .complete)
        #expect(server.requests.map { $0.header("Range") } == Array(repeating: "bytes=100000-", count: 3))
        #expect(server.requests.map { $0.header("If-Range") } == ["\"v20\"", "\"xfer-v20\"", "\"v20\""])
        #expect(try part.bytes == version.bytes)
    }

    @Test func aPartWithoutATagStartsOverIfTheServerIgnoresIfRange() async throws {
        let bare: [Fault] = [.ignoreIfRange, .header("ETag", nil)]
        let (record, part, server) = try await resume([bare, bare])
        #expect(record.outcome.result == .startOver(.validatorMissing))
        #expect(server.requests.count == 2)
        #expect(try part.bytes == version.bytes(0..<100_000))
    }

    @Test func aDigestReplacesAMissingTag() async throws {
        let (record, part, _) = try await resume([[.header("ETag", nil)]], joinsUnderDigest: true)
        #expect(record.outcome.result == .complete)
        let bodies = record.events.compactMap { event -> BodyPlan? in
            guard case .head(_, .write(let body), _) = event else { return nil }
            return body
        }
        #expect(bodies.map(\.isUnproven) == [true])
        #expect(try part.bytes == version.bytes)
    }

    @Test func aWholeFileSendsNoRequest() async throws {
        let server = try await FaultServer()
        let part = try PartFile(holding: version.bytes)
        let record = try await Harness().run(
            Attempt.get(server.url("/file"), into: part).keeping(version, version.length))
        #expect(record.outcome.result == .complete)
        #expect(server.requests.isEmpty)
    }

    @Test func aPublishedFileThatIsCurrentIsNotFetched() async throws {
        let server = try await FaultServer()
        server.serve("/file", version)
        let part = try PartFile()
        let record = try await Harness().run(
            Attempt.get(server.url("/file"), into: part) { attempt in
                attempt.conditions = [HeaderField(name: "If-None-Match", value: version.etag ?? "")]
            })
        #expect(record.outcome.result == .notModified)
        #expect(try part.bytes.isEmpty)
    }

    @Test func codedBodiesAreKeptAsReceivedAndNeverContinued() async throws {
        let server = try await FaultServer()
        let served = server.serve("/file", version)
        served.always(.gzip)
        let part = try PartFile()
        let harness = try Harness()
        let first = try await harness.run(.get(server.url("/file"), into: part))
        #expect(first.outcome.result == .complete)
        #expect(first.outcome.resumeData.contentEncoding == "gzip")
        #expect(try part.bytes.starts(with: [0x1f, 0x8b]))
        var again = try Attempt.get(server.url("/file"), into: part)
        again.resumeData = first.outcome.resumeData
        again.resumeData.segments = [Segment(start: 0, committed: 1000)]
        let second = try await harness.run(again, part: part)
        #expect(server.requests.last?.header("Range") == nil)
        #expect(second.outcome.result == .complete)
    }

    /// The property that matters most, over real sockets.
    @Test(arguments: UInt64(1)...40)
    func aFileFromALyingServerIsOneVersionOrIncomplete(seed: UInt64) async throws {
        let liar = LyingServer(seed: seed)
        let server = try await FaultServer()
        server.serve("/file", liar)
        let part = try PartFile()
        let harness = try Harness()
        let template = try Attempt.get(server.url("/file"), into: part) { attempt in
            attempt.request.timeouts.idle = 30
            attempt.checkpoints = CheckpointWindow.Limits(dueBytes: 20_000, pauseBytes: 160_000)
        }
        let record = try await harness.download(template, to: part)
        guard let record, record.outcome.result == .complete else {
            // Failing for good is allowed; claiming completeness is not.
            #expect(record?.error != nil, "\(liar)")
            return
        }
        #expect(liar.isOneVersion(try part.bytes), "\(liar)")
    }
}
