import Testing
import XferCore
import XferModel

/// tus 1.0, rule by rule.
@Suite struct TusUploadTests {
    private let place = HTTPURL.path("/u")

    private func script(length: Int64 = 100, keeping data: UploadResumeData? = nil) -> UploadScript<TusUpload> {
        UploadScript(
            TusUpload(
                url: .path("/files"), length: length,
                metadata: TusUpload.metadata(filename: "a b.bin", mediaType: "text/plain"), resumeData: data),
            recorded: data)
    }

    /// A script whose PATCH from 0 is in flight.
    private func appending(length: Int64 = 100) -> UploadScript<TusUpload> {
        var script = script(length: length)
        _ = script.start()
        _ = script.answer(201, at: place)
        return script
    }

    @Test func anUploadIsCreatedAndThenAppendedTo() {
        var script = script()
        let creation = script.start()
        #expect(creation.summary == "POST /files 0..<0")
        #expect(creation.header("Tus-Resumable") == "1.0.0")
        #expect(creation.header("Upload-Length") == "100")
        #expect(creation.header("Upload-Metadata") == "filename YSBiLmJpbg==,filetype dGV4dC9wbGFpbg==")
        #expect(script.recorded == nil)

        let append = script.answer(201, ["Upload-Expires": "Fri, 17 Nov 2023 22:13:20 GMT"], at: place)
        #expect(script.recorded?.url == place)
        #expect(script.recorded?.expiresAt == Timestamp(seconds: 1_700_259_200))
        #expect(append.summary == "PATCH /u 0..<100")
        #expect(append.header("Upload-Offset") == "0")
        #expect(append.header("Content-Type") == "application/offset+octet-stream")
        #expect(append.header("Tus-Resumable") == "1.0.0")

        #expect(script.answer(204, ["Upload-Offset": "100"]) == .completed(keepsResponse: true))
        #expect(script.recorded?.offset == 100)
    }

    @Test func theClientsFieldsAreSentExceptThoseOfTheProtocol() throws {
        var script = script()
        let own = ["content-type": "image/png", "Authorization": "Bearer t", "tus-resumable": "2"].sorted {
            $0.key < $1.key
        }
        .map { HeaderField(name: $0.key, value: $0.value) }
        let creation = try #require(script.start().request).fields(with: own)
        #expect(creation.map(\.name) == ["Authorization", "Tus-Resumable", "Upload-Length", "Upload-Metadata"])
        let append = try #require(script.answer(201, at: place).request).fields(with: own)
        #expect(append.firstValue(named: "Content-Type") == "application/offset+octet-stream")
        #expect(append.firstValue(named: "Authorization") == "Bearer t")
    }

    /// tus 1.0, Creation With Upload.
    @Test func aCreationBringsTheFirstBytesIfTheClientWantsIt() {
        func script(_ length: Int64, chunk: Int64? = nil) -> UploadScript<TusUpload> {
            UploadScript(
                TusUpload(
                    url: .path("/files"), length: length, metadata: "", resumeData: nil, chunkSize: chunk,
                    createsWithContent: true))
        }
        var whole = script(100)
        let creation = whole.start()
        #expect(creation.summary == "POST /files 0..<100")
        #expect(creation.header("Content-Type") == "application/offset+octet-stream")
        #expect(creation.header("Upload-Length") == "100" && creation.header("Upload-Offset") == nil)
        #expect(whole.answer(201, ["Upload-Offset": "100"], at: place) == .completed(keepsResponse: true))
        #expect(whole.recorded?.offset == 100)

        // The server took a part, or does not know the extension.
        var part = script(100)
        _ = part.start()
        #expect(part.answer(201, ["Upload-Offset": "40"], at: place).summary == "PATCH /u 40..<100")
        #expect(part.recorded?.offset == 40)
        var unaware = script(100)
        _ = unaware.start()
        #expect(unaware.answer(201, at: place).summary == "PATCH /u 0..<100")

        // Not more than a megabyte, and not more than a chunk.
        var long = script(5 << 20)
        #expect(long.start().summary == "POST /files 0..<1048576")
        var chunked = script(100, chunk: 30)
        #expect(chunked.start().summary == "POST /files 0..<30")
        for wrong in ["31", "-1", "x", ""] {
            var script = script(100, chunk: 30)
            _ = script.start()
            #expect(script.answer(201, ["Upload-Offset": wrong], at: place).isRejection, "\(wrong)")
        }
    }

    @Test(arguments: [400, 411, 413, 415, 422]) func aRefusedCreationWithContentIsRepeatedWithout(status: Int) {
        var script = UploadScript(
            TusUpload(
                url: .path("/files"), length: 100, metadata: "", resumeData: nil, createsWithContent: true))
        _ = script.start()
        let empty = script.answer(status)
        #expect(empty.summary == "POST /files 0..<0" && empty.header("Content-Type") == nil)
        #expect(script.answer(status).error != nil, "an empty creation is not repeated")
    }

    @Test func noRequestHasMoreThanAChunk() {
        var script = UploadScript(
            TusUpload(url: .path("/files"), length: 100, metadata: "", resumeData: nil, chunkSize: 40))
        _ = script.start()
        #expect(script.answer(201, at: place).summary == "PATCH /u 0..<40")
        #expect(script.answer(204, ["Upload-Offset": "40"]).summary == "PATCH /u 40..<80")
        #expect(script.answer(204, ["Upload-Offset": "60"]).summary == "PATCH /u 60..<100")
        #expect(script.answer(204, ["Upload-Offset": "100"]) == .completed(keepsResponse: true))
    }

    @Test func anEmptySourceIsCompleteAtCreation() {
        var script = script(length: 0)
        _ = script.start()
        #expect(script.answer(201, at: place) == .completed(keepsResponse: true))
        #expect(script.recorded?.url == place)
    }

    @Test func aCreationWithoutALocationIsRejected() {
        var script = script()
        _ = script.start()
        #expect(script.answer(201).isRejection)
    }

    @Test(arguments: [200, 204, 202]) func aCreationWithAnUnexpectedStatusIsRejected(status: Int) {
        var script = script()
        _ = script.start()
        #expect(script.answer(status, at: place).isRejection)
    }

    @Test func anotherVersionIsRejectedByName() {
        var script = script()
        _ = script.start()
        let refused = script.answer(412, ["Tus-Version": "0.2.2"])
        #expect(refused.isRejection)
        #expect(refused.error?.message.contains("0.2.2") == true)
        var other = self.script()
        _ = other.start()
        #expect(other.answer(201, ["Tus-Resumable": "0.2.2"], at: place).isRejection)
    }

    @Test func aBreakIsFollowedByAnOffsetRequest() {
        let kept = UploadResumeData(url: place, offset: 10)
        var script = script(keeping: kept)
        let ask = script.start()
        #expect(ask.summary == "HEAD /u")
        #expect(ask.header("Tus-Resumable") == "1.0.0")
        #expect(script.answer(200, ["Upload-Offset": "40", "Upload-Length": "100"]).summary == "PATCH /u 40..<100")
        #expect(script.recorded?.offset == 40)
        #expect(script.answer(204, ["Upload-Offset": "70"]).summary == "PATCH /u 70..<100")
        #expect(script.answer(204, ["Upload-Offset": "100"]) == .completed(keepsResponse: true))
    }

    @Test func anUploadWithAllBytesIsComplete() {
        var script = script(keeping: UploadResumeData(url: place, offset: 10))
        _ = script.start()
        #expect(script.answer(200, ["Upload-Offset": "100"]) == .completed(keepsResponse: true))
    }

    @Test(arguments: [nil, "", "-1", "101", "9", "1e1", "0x20", "40 ", "9223372036854775808"] as [String?])
    func invalidOffsetsAreRejected(offset: String?) {
        let fields = offset.map { ["Upload-Offset": $0] } ?? [:]
        var asked = script(keeping: UploadResumeData(url: place, offset: 10))
        _ = asked.start()
        #expect(asked.answer(200, fields).isRejection)
        #expect(asked.recorded == UploadResumeData(url: place, offset: 10))

        var appended = script(keeping: UploadResumeData(url: place, offset: 10))
        _ = appended.start()
        _ = appended.answer(200, ["Upload-Offset": "10"])
        #expect(appended.answer(204, fields).isRejection)
    }

    @Test func anotherLengthIsRejected() {
        var script = script(keeping: UploadResumeData(url: place))
        _ = script.start()
        #expect(script.answer(200, ["Upload-Offset": "10", "Upload-Length": "99"]).isRejection)
    }

    @Test func aConflictIsFollowedByAnOffsetRequest() {
        var script = appending()
        #expect(script.answer(409).summary == "HEAD /u")
        #expect(script.answer(200, ["Upload-Offset": "30"]).summary == "PATCH /u 30..<100")
    }

    @Test func conflictsWithoutEndAreRejected() {
        var script = appending()
        for _ in 0..<2 {
            #expect(script.answer(409).summary == "HEAD /u")
            _ = script.answer(200, ["Upload-Offset": "0"])
        }
        #expect(script.answer(409).isRejection)
    }

    @Test func aServerThatAcceptsNoBytesIsRejected() {
        var script = appending()
        #expect(script.answer(204, ["Upload-Offset": "0"]).summary == "PATCH /u 0..<100")
        #expect(script.answer(204, ["Upload-Offset": "0"]).summary == "PATCH /u 0..<100")
        #expect(script.answer(204, ["Upload-Offset": "0"]).isRejection)
    }

    @Test(arguments: [404, 410]) func aForgottenUploadIsCreatedAgain(status: Int) {
        var script = appending()
        #expect(script.answer(status).summary == "POST /files 0..<0")
        #expect(script.recorded == nil)
        #expect(script.answer(201, at: .path("/v")).summary == "PATCH /v 0..<100")
        #expect(script.recorded?.url == .path("/v"))

        var asked = self.script(keeping: UploadResumeData(url: place, offset: 10))
        _ = asked.start()
        #expect(asked.answer(status).summary == "POST /files 0..<0")
    }

    @Test func anUploadForgottenAgainAndAgainIsRejected() {
        var script = appending()
        for _ in 0..<2 {
            #expect(script.answer(404).summary == "POST /files 0..<0")
            _ = script.answer(201, at: place)
        }
        #expect(script.answer(404).isRejection)
        #expect(script.recorded == nil)
    }

    @Test func anExpiredUploadIsNotRequested() {
        var script = script(
            keeping: UploadResumeData(url: place, offset: 10, expiresAt: Timestamp(seconds: 1_699_999_999)))
        #expect(script.start().summary == "POST /files 0..<0")
        #expect(script.recorded == nil)
    }

    @Test func aNewExpiryIsKept() {
        var script = script(keeping: UploadResumeData(url: place, offset: 10))
        _ = script.start()
        _ = script.answer(200, ["Upload-Offset": "10", "Upload-Expires": "Fri, 17 Nov 2023 22:13:20 GMT"])
        #expect(script.recorded?.expiresAt == Timestamp(seconds: 1_700_259_200))
    }

    @Test(arguments: [423, 503, 408, 429]) func aBusyServerIsTriedLater(status: Int) {
        var script = appending()
        let error = script.answer(status, ["Retry-After": "7"]).error
        #expect(error?.isRetriable == true)
        #expect(error?.retryAfter == 7)
        #expect(error?.httpStatus == status)
    }

    @Test(arguments: [400, 401, 403, 415]) func aRefusedAppendFailsForGood(status: Int) {
        var script = appending()
        let error = script.answer(status).error
        #expect(error?.isRetriable == false)
        #expect(error?.reason == (status == 401 ? .authFailed : .httpStatus))
    }

    @Test func aPartThatIsTooLargeIsHalved() {
        var script = appending(length: 1 << 20)
        #expect(script.answer(413).summary == "HEAD /u")
        #expect(script.recorded?.largestAppend == 1 << 19)
        #expect(script.answer(200, ["Upload-Offset": "10"]).summary == "PATCH /u 10..<524298")
        #expect(script.answer(204, ["Upload-Offset": "524298"]).summary == "PATCH /u 524298..<1048576")
    }

    @Test func aSmallPartThatIsTooLargeIsRejected() {
        var script = appending(length: 1 << 16)
        #expect(script.answer(413).isRejection)
    }

    @Test func aBreakEndsTheRunWithItsReason() {
        var script = appending()
        #expect(script.broken(.idleTimeout).error?.reason == .idleTimeout)
        #expect(script.recorded?.url == place)
    }

    @Test func cancellingDeletesTheUpload() {
        let request = TusUpload.cancellation(of: UploadResumeData(url: place))
        #expect(request.method == .delete)
        #expect(request.url == place)
        #expect(request.headers == [HeaderField(name: "Tus-Resumable", value: "1.0.0")])
        #expect(request.content == nil)
    }
}
