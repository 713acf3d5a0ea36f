import Testing
import XferCore
import XferModel

/// tus 1.0, Concatenation.
@Suite struct TusConcatenationTests {
    private static let mebibyte: Int64 = 1 << 20

    private func concatenation(_ length: Int64 = 10 << 20, parts: Int = 4) -> TusConcatenation? {
        TusConcatenation(url: .path("/files"), length: length, metadata: "filename YQ==", parts: parts)
    }

    @Test(
        arguments: [
            (0, 4, 0), (1 << 20, 4, 0), (2 * mebibyte - 1, 4, 0), (2 * mebibyte, 4, 2), (3 * mebibyte + 5, 4, 3),
            (40 * mebibyte, 4, 4), (40 * mebibyte, 1, 0), (40 * mebibyte, 16, 16), (40 * mebibyte, 99, 16),
            (40 * mebibyte, 0, 0), (40 * mebibyte, -1, 0), (Int64.max, 16, 16),
        ] as [(Int64, Int, Int)])
    func aSourceIsDividedWithoutGaps(length: Int64, wanted: Int, count: Int) {
        let parts = concatenation(length, parts: wanted)?.parts ?? []
        #expect(parts.count == count)
        guard let last = parts.last else { return }
        #expect(parts.first?.lowerBound == 0 && last.upperBound == length)
        #expect(zip(parts, parts.dropFirst()).allSatisfy { $0.upperBound == $1.lowerBound })
        let sizes = parts.map(\.count)
        #expect((sizes.max() ?? 0) - (sizes.min() ?? 0) <= 1)
    }

    @Test(
        arguments: [
            (200, "creation,concatenation", TusConcatenation.Support.joins), (204, "Concatenation, creation", .joins),
            (204, "creation, concatenation-unfinished", .lacks), (204, nil, .lacks), (405, nil, .lacks),
            (404, nil, .lacks),
            (403, "concatenation", .lacks), (501, nil, .lacks),
        ] as [(Int, String?, TusConcatenation.Support)])
    func aServerSaysWhetherItJoinsParts(status: Int, extensions: String?, support: TusConcatenation.Support) throws {
        let fields = extensions.map { ["Tus-Extension": $0] } ?? [:]
        let found = try #require(concatenation()).support(in: .of(status, fields), at: Timestamp(seconds: 0))
        #expect(found == support)
    }

    @Test(arguments: [401, 429, 500, 503]) func aServerThatCannotAnswerNowIsNotTakenToLackIt(status: Int) throws {
        let found = try #require(concatenation()).support(in: .of(status), at: Timestamp(seconds: 0))
        guard case .failed(let error) = found else {
            Issue.record("\(found)")
            return
        }
        #expect(error.isRetriable == (status != 401))
    }

    @Test func theInquiryHasNoVersionAndAPartNoMetadata() throws {
        let inquiry = try #require(concatenation()).inquiry
        #expect(inquiry.method == .options && inquiry.url == .path("/files") && inquiry.headers.isEmpty)
        var script = UploadScript(
            TusUpload(url: .path("/files"), length: 100, metadata: "m", resumeData: nil, isPart: true))
        let creation = script.start()
        #expect(creation.header("Upload-Concat") == "partial" && creation.header("Upload-Length") == "100")
        #expect(creation.header("Upload-Metadata") == nil && creation.header("Tus-Resumable") == "1.0.0")
        #expect(script.answer(201, at: .path("/u")).summary == "PATCH /u 0..<100")
        #expect(script.answer(204, ["Upload-Offset": "100"]) == .completed(keepsResponse: true))
    }

    @Test func aFinalUploadNamesItsPartsInOrder() throws {
        let whole = try #require(concatenation(parts: 2))
        let script = UploadScript(TusConcatenationRequest(whole, joining: [.path("/b"), .path("/a")]))
        func answer(_ status: Int, _ fields: [String: String] = [:]) -> UploadAction {
            var script = script
            let request = script.start()
            #expect(
                request.summary == "POST /files 0..<0"
                    && request.header("Upload-Concat") == "final;http://h/b http://h/a")
            #expect(request.header("Upload-Length") == nil && request.header("Upload-Metadata") == "filename YQ==")
            return script.answer(status, fields)
        }
        #expect(answer(201) == .completed(keepsResponse: true))
        #expect(answer(201, ["Tus-Resumable": "0.2.2"]).isRejection)
        #expect(answer(200).isRejection && answer(413).isRejection)
        for status in [404, 410, 423, 500] { #expect(answer(status).error?.isRetriable == true, "\(status)") }
        for status in [400, 403] { #expect(answer(status).error?.isRetriable == false, "\(status)") }
        var broken = script
        _ = broken.start()
        #expect(broken.broken(.connectionLost).error?.reason == .connectionLost)
    }
}
