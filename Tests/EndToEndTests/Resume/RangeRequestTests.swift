import StrictJSON
import Testing
import XferModel
import XferTestSupport

/// Rules 1–3 and 5 of resuming: which range is requested, and with which condition.
@Suite struct RangeRequestTests {
    private let length: Int64 = 300_000
    private let cut: Int64 = 100_000

    /// Serves a source whose first answer breaks off, completes the task, and gives the requests.
    private func requests(
        for source: SourceVersion, _ fields: JSONObject = [:], faults: [[Fault]]? = nil
    ) async throws -> [RecordedRequest] {
        let server = try await FaultServer()
        server.serve("/f", source, faults: faults ?? [[.drop(after: cut)]])
        try await withTask(server.url("/f"), fields) { daemon, id in
            try expectFile(try await daemon.complete(id), is: source)
            try await daemon.expectDownloads(["f"])
        }
        let requests = server.requests(to: "/f")
        for request in requests {
            #expect(request.header("If-Range") == nil || request.header("Range") != nil, "If-Range without Range")
            #expect(request.header("Accept-Encoding") == "identity")
        }
        return requests
    }

    @Test func aStrongTagIsSentAsIfRange() async throws {
        let requests = try await requests(for: .tagged(1, length: length))
        #expect(requests.map { $0.header("Range") } == [nil, "bytes=100000-"])
        #expect(requests.map { $0.header("If-Range") } == [nil, "\"v1\""])
    }

    @Test func aWeakTagIsNeverSentAsIfRange() async throws {
        let requests = try await requests(for: SourceVersion(seed: 2, length: length, etag: "W/\"weak\""))
        #expect(requests.map { $0.header("Range") } == [nil, nil])
    }

    @Test func aWeakTagOverridesAStrongDate() async throws {
        let modified = HTTPDate.text(1_700_000_000)
        let source = SourceVersion(seed: 3, length: length, etag: "W/\"weak\"", lastModified: modified)
        #expect(try await requests(for: source).map { $0.header("If-Range") } == [nil, nil])
    }

    @Test func aStrongDateIsSentVerbatimAsIfRange() async throws {
        let modified = "Tuesday, 14-Nov-23 22:13:20 GMT"
        let source = SourceVersion(seed: 4, length: length, lastModified: modified)
        let requests = try await requests(for: source)
        #expect(requests.map { $0.header("If-Range") } == [nil, modified])
        #expect(requests.last?.header("Range") == "bytes=100000-")
    }

    @Test func aDateOfTheSameSecondIsWeak() async throws {
        let date = HTTPDate.text(1_700_000_000)
        let source = SourceVersion(seed: 5, length: length, lastModified: date, date: date)
        #expect(try await requests(for: source).map { $0.header("Range") } == [nil, nil])
    }

    @Test func aDateOfTheSecondBeforeIsStrong() async throws {
        let modified = HTTPDate.text(1_700_000_000)
        let source = SourceVersion(
            seed: 6, length: length, lastModified: modified, date: HTTPDate.text(1_700_000_001))
        #expect(try await requests(for: source).map { $0.header("If-Range") } == [nil, modified])
    }

    @Test func aDownloadWithoutAValidatorStartsOver() async throws {
        let requests = try await requests(for: SourceVersion(seed: 7, length: length))
        #expect(requests.map { $0.header("Range") } == [nil, nil])
    }

    @Test func aDownloadWithoutAValidatorContinuesUnderUnsafeResume() async throws {
        let requests = try await requests(for: SourceVersion(seed: 8, length: length), ["resume": "unsafe"])
        #expect(requests.map { $0.header("Range") } == [nil, "bytes=100000-"])
        #expect(requests.last?.header("If-Range") == nil)
    }

    @Test func aResumeSendsTheSelectingHeadersAgain() async throws {
        let headers: JSONValue = ["Accept": "application/x-test", "Accept-Language": "eo", "User-Agent": "tester/1"]
        let requests = try await requests(for: .tagged(9, length: length), ["headers": headers])
        #expect(requests.count == 2)
        for request in requests {
            #expect(request.header("Accept") == "application/x-test")
            #expect(request.header("Accept-Language") == "eo")
            #expect(request.header("User-Agent") == "tester/1")
        }
    }

    @Test func theRestOfAShortRangeIsRequested() async throws {
        let requests = try await requests(
            for: .tagged(10, length: length),
            faults: [[.drop(after: cut)], [.shortRange(50_000)], [.shortRange(1)], [.shortRange(100_000)]])
        #expect(
            requests.map { $0.header("Range") }
                == [nil, "bytes=100000-", "bytes=150000-", "bytes=150001-", "bytes=250001-"])
    }

    @Test func aDownloadContinuesAtTheOffsetOfEveryBreak() async throws {
        let faults: [[Fault]] = (1...5).map { [.drop(after: 50_000, by: $0.isMultiple(of: 2) ? .close : .reset)] }
        let requests = try await requests(for: .tagged(11, length: length), faults: faults)
        #expect(
            requests.map { $0.header("Range") }
                == [nil] + [50_000, 100_000, 150_000, 200_000, 250_000].map { "bytes=\($0)-" })
    }
}
