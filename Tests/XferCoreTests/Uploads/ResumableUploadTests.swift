import Testing
import XferCore
import XferModel

/// draft-ietf-httpbis-resumable-upload, interop version 8, rule by rule.
@Suite struct ResumableUploadTests {
    private let place = HTTPURL.path("/u")
    private let version = "Upload-Draft-Interop-Version"

    private func script(
        _ method: HTTPMethod = .post, length: Int64 = 100, mayRepeat: Bool = false,
        keeping data: UploadResumeData? = nil
    ) -> UploadScript<ResumableUpload> {
        UploadScript(
            ResumableUpload(
                method: method, url: .path("/target"), length: length, mayRepeat: mayRepeat, resumeData: data),
            recorded: data)
    }

    /// A script whose creation is in flight and whose upload resource is known.
    private func created(length: Int64 = 100, mayRepeat: Bool = false) -> UploadScript<ResumableUpload> {
        var script = script(length: length, mayRepeat: mayRepeat)
        _ = script.start()
        _ = script.interim([version: "8"], at: place)
        return script
    }

    /// A script whose PATCH from 40 is in flight.
    private func appending(length: Int64 = 100, limit: Int64? = nil) -> UploadScript<ResumableUpload> {
        var script = script(length: length, keeping: UploadResumeData(url: place, largestAppend: limit))
        _ = script.start()
        _ = script.answer(204, ["Upload-Offset": "40", "Upload-Complete": "?0"])
        return script
    }

    // MARK: Creation

    @Test func theWholeSourceIsSentWithTheUploadCreation() {
        var script = script(.put)
        let creation = script.start()
        #expect(creation.summary == "PUT /target 0..<100")
        #expect(creation.header("Upload-Complete") == "?1")
        #expect(creation.header("Upload-Length") == "100")
        #expect(creation.header(version) == "8")
        #expect(creation.request?.describesRepresentation == true)
        #expect(script.answer(200, ["Upload-Complete": "?1"]) == .answered(mayRetry: false))
    }

    @Test func theUploadURLIsRecordedWhileTheRequestIsInFlight() {
        var script = script()
        _ = script.start()
        let limits = "max-append-size=1000, max-age=60"
        #expect(script.interim([version: "8", "Upload-Limit": limits], at: place) == .goOn)
        #expect(
            script.recorded
                == UploadResumeData(url: place, expiresAt: Timestamp(seconds: 1_700_000_060), largestAppend: 1000))
        #expect(script.interim([version: "8", "Upload-Offset": "50"]) == .goOn)
        #expect(script.machine.resumeData?.offset == 50)
    }

    @Test(arguments: [nil, "7", "9", "\"8\"", "8, 8", "?1"] as [String?])
    func a104OfAnotherVersionIsIgnored(spoken: String?) {
        var script = script()
        _ = script.start()
        #expect(script.interim(spoken.map { [version: $0] } ?? [:], at: place) == .goOn)
        #expect(script.recorded == nil)
    }

    @Test func otherInterimResponsesAreIgnored() {
        var script = script()
        _ = script.start()
        #expect(script.interim([version: "8"], at: place, status: 103) == .goOn)
        #expect(script.recorded == nil)
    }

    @Test func twoURLsForOneUploadAreRejected() {
        var script = created()
        #expect(script.interim([version: "8"], at: .path("/v")).isRejection)
    }

    @Test(arguments: ["101", "-1"]) func invalidProgressIsRejected(offset: String) {
        var script = created()
        #expect(script.interim([version: "8", "Upload-Offset": offset]).isRejection)
        var back = created()
        _ = back.interim([version: "8", "Upload-Offset": "50"])
        #expect(back.interim([version: "8", "Upload-Offset": "49"]).isRejection)
    }

    @Test func progressOfAnotherTypeIsIgnored() {
        var script = created()
        #expect(script.interim([version: "8", "Upload-Offset": "\"50\""]) == .goOn)
        #expect(script.machine.resumeData?.offset == 0)
    }

    @Test func aSourceTooLargeForTheServerIsRejectedAtOnce() {
        var script = script()
        _ = script.start()
        #expect(script.interim([version: "8", "Upload-Limit": "max-size=99"], at: place).isRejection)
    }

    @Test func aRequestAboveTheLimitIsStoppedAndSentInParts() {
        var script = script()
        _ = script.start()
        #expect(script.interim([version: "8", "Upload-Limit": "max-append-size=30"], at: place) == .interrupt)
        #expect(script.recorded?.largestAppend == 30)
        #expect(script.interrupted().summary == "HEAD /u")
        let first = script.answer(204, ["Upload-Offset": "20", "Upload-Complete": "?0"])
        #expect(first.summary == "PATCH /u 20..<50")
        #expect(first.header("Upload-Complete") == "?0")
        #expect(script.answer(204, ["Upload-Offset": "50", "Upload-Complete": "?0"]).summary == "PATCH /u 50..<80")
        let last = script.answer(204, ["Upload-Offset": "80", "Upload-Complete": "?0"])
        #expect(last.summary == "PATCH /u 80..<100")
        #expect(last.header("Upload-Complete") == "?1")
    }

    @Test func anEmptySourceIsOneRequest() {
        var script = script(length: 0)
        let creation = script.start()
        #expect(creation.summary == "POST /target 0..<0")
        #expect(creation.header("Upload-Complete") == "?1")
        #expect(script.answer(201, ["Upload-Complete": "?1"]) == .answered(mayRetry: false))
    }

    // MARK: Servers that do not know the protocol

    @Test(arguments: [200, 201, 403, 413, 503], [false, true])
    func aResponseWithoutProtocolFieldsIsThatOfAPlainUpload(status: Int, mayRepeat: Bool) {
        var script = script(mayRepeat: mayRepeat)
        _ = script.start()
        #expect(script.answer(status) == .answered(mayRetry: mayRepeat))
        #expect(script.recorded == nil)
    }

    @Test(arguments: [false, true]) func aBreakWithoutAnUploadURLFollowsThePlainRule(mayRepeat: Bool) {
        var script = script(mayRepeat: mayRepeat)
        _ = script.start()
        let error = script.broken().error
        #expect(error?.reason == .connectionLost)
        #expect(error?.isRetriable == mayRepeat)
        // What the server never saw may always be sent.
        var unsent = self.script(mayRepeat: mayRepeat)
        _ = unsent.start()
        #expect(unsent.broken(.connectionLost, wasSent: false).error?.isRetriable == true)
    }

    // MARK: After a break

    @Test func aBreakWithAnUploadURLIsRetried() {
        var script = created()
        #expect(script.broken().error?.isRetriable == true)
        #expect(script.recorded?.url == place)
    }

    @Test func theNextRunRequestsTheOffsetAndAppends() {
        var script = script(keeping: UploadResumeData(url: place, offset: 10))
        let ask = script.start()
        #expect(ask.summary == "HEAD /u")
        #expect(ask.header(version) == "8")
        let append = script.answer(
            204, ["Upload-Offset": "40", "Upload-Complete": "?0", "Upload-Length": "100", "Upload-Limit": "max-age=9"])
        #expect(append.summary == "PATCH /u 40..<100")
        #expect(append.header("Upload-Offset") == "40")
        #expect(append.header("Upload-Complete") == "?1")
        #expect(append.header("Content-Type") == "application/partial-upload")
        #expect(append.header(version) == "8")
        #expect(append.header("Upload-Length") == nil)
        #expect(script.recorded?.offset == 40)
        #expect(script.recorded?.expiresAt == Timestamp(seconds: 1_700_000_009))
        #expect(script.answer(201, ["Upload-Complete": "?1"]) == .answered(mayRetry: false))
    }

    @Test(arguments: [nil, "-1", "101", "9", "40.0", "\"40\"", "40, 40"] as [String?])
    func invalidOffsetsAreRejected(offset: String?) {
        var script = script(keeping: UploadResumeData(url: place, offset: 10))
        _ = script.start()
        #expect(script.answer(204, offset.map { ["Upload-Offset": $0] } ?? [:]).isRejection)
    }

    @Test func anotherLengthIsRejected() {
        var script = script(keeping: UploadResumeData(url: place))
        _ = script.start()
        #expect(script.answer(204, ["Upload-Offset": "0", "Upload-Length": "7"]).isRejection)
    }

    @Test func anIncompleteUploadWithAllBytesIsCompleted() {
        var script = script(keeping: UploadResumeData(url: place))
        _ = script.start()
        let last = script.answer(204, ["Upload-Offset": "100", "Upload-Complete": "?0"])
        #expect(last.summary == "PATCH /u 100..<100")
        #expect(last.header("Upload-Complete") == "?1")
    }

    @Test func theResponseOfACompleteUploadIsRequestedAgain() {
        func replaying() -> UploadScript<ResumableUpload> {
            var script = script(keeping: UploadResumeData(url: place))
            _ = script.start()
            #expect(
                script.answer(204, ["Upload-Offset": "100", "Upload-Complete": "?1"]).summary == "PATCH /u 100..<100")
            return script
        }
        var heard = replaying()
        #expect(heard.answer(422, ["Upload-Complete": "?1"]) == .answered(mayRetry: false))
        var unheard = replaying()
        #expect(unheard.answer(409, ["Upload-Complete": "?0"]) == .completed(keepsResponse: false))
    }

    @Test func aCompleteUploadShorterThanTheSourceIsRejected() {
        var asked = script(keeping: UploadResumeData(url: place))
        _ = asked.start()
        #expect(asked.answer(204, ["Upload-Offset": "99", "Upload-Complete": "?1"]).isRejection)
        var part = appending(limit: 30)
        #expect(part.answer(200, ["Upload-Offset": "70", "Upload-Complete": "?1"]).isRejection)
    }

    // MARK: Answers

    @Test(arguments: [200, 400, 422, 500, 503]) func aFinalResponseIsTheAnswerWhateverItsStatus(status: Int) {
        var first = created()
        #expect(first.answer(status, ["Upload-Complete": "?1"]) == .answered(mayRetry: false))
        var later = appending()
        #expect(later.answer(status, ["Upload-Complete": "?1"]) == .answered(mayRetry: false))
    }

    @Test func aConflictResponseCorrectsTheOffset() {
        var script = appending()
        let again = script.answer(409, ["Upload-Offset": "60", "Upload-Complete": "?0"])
        #expect(again.summary == "PATCH /u 60..<100")
        #expect(again.header("Upload-Offset") == "60")
        #expect(script.recorded?.offset == 60)
    }

    @Test func aConflictWithoutAnOffsetIsFollowedByAnOffsetRequest() {
        var script = appending()
        #expect(script.answer(409).summary == "HEAD /u")
    }

    @Test func aConflictWithALowerOffsetIsRejected() {
        var script = appending()
        #expect(script.answer(409, ["Upload-Offset": "39", "Upload-Complete": "?0"]).isRejection)
    }

    @Test func conflictsWithoutEndAreRejected() {
        var script = appending()
        for _ in 0..<2 { #expect(script.answer(409, ["Upload-Offset": "40"]).summary == "PATCH /u 40..<100") }
        #expect(script.answer(409, ["Upload-Offset": "40"]).isRejection)
    }

    @Test func aPartThatIsTooLargeIsHalved() {
        var script = appending(length: 1 << 20)
        #expect(script.answer(413, ["Upload-Complete": "?0"]).summary == "HEAD /u")
        #expect(script.recorded?.largestAppend == 524_268)
        #expect(
            script.answer(204, ["Upload-Offset": "40", "Upload-Complete": "?0"]).summary == "PATCH /u 40..<524308")
    }

    @Test func aPartThatIsTooLargeIsReducedToTheServersLimit() {
        var script = appending(length: 1 << 20)
        _ = script.answer(413, ["Upload-Complete": "?0", "Upload-Limit": "max-append-size=1000"])
        #expect(script.recorded?.largestAppend == 1000)
        #expect(script.answer(204, ["Upload-Offset": "40"]).summary == "PATCH /u 40..<1040")
    }

    @Test func aCreationThatIsTooLargeIsSplitIntoParts() {
        var script = script(length: 1 << 20)
        _ = script.start()
        let empty = script.answer(413, ["Upload-Limit": "max-append-size=1000"])
        #expect(empty.summary == "POST /target 0..<0")
        #expect(empty.header("Upload-Complete") == "?0")
        #expect(empty.header("Upload-Length") == "1048576")
        #expect(script.answer(201, ["Upload-Complete": "?0"], at: place).summary == "PATCH /u 0..<1000")
        #expect(script.recorded == UploadResumeData(url: place, largestAppend: 1000))
    }

    @Test func aSmallPartThatIsTooLargeIsRejected() {
        var script = appending()
        #expect(script.answer(413, ["Upload-Complete": "?0"]).isRejection)
    }

    @Test(arguments: [400, 401, 403, 415]) func aRefusedAppendFailsForGood(status: Int) {
        var script = appending()
        let error = script.answer(status, ["Upload-Complete": "?0"]).error
        #expect(error?.isRetriable == false)
        #expect(error?.httpStatus == status)
    }

    @Test(arguments: [500, 501, 503, 423]) func aServerErrorIsRetriedLater(status: Int) {
        var first = created()
        #expect(first.answer(status).error?.isRetriable == true)
        var later = appending()
        #expect(later.answer(status, ["Upload-Complete": "?0"]).error?.isRetriable == true)
    }

    @Test func aPartAppendedWithoutProgressIsFollowedByAnOffsetRequest() {
        var part = appending(limit: 30)
        #expect(part.answer(204, ["Upload-Complete": "?0"]).summary == "HEAD /u")
        var last = appending()
        #expect(last.answer(204).summary == "HEAD /u")
    }

    @Test(arguments: [404, 410]) func aForgottenUploadIsCreatedAgainOnlyIfThatIsHarmless(status: Int) {
        var harmless = created(mayRepeat: true)
        _ = harmless.broken()
        var next = script(mayRepeat: true, keeping: harmless.recorded)
        _ = next.start()
        #expect(next.answer(status).summary == "POST /target 0..<100")
        #expect(next.recorded == nil)

        var harmful = script(keeping: UploadResumeData(url: place))
        _ = harmful.start()
        #expect(harmful.answer(status).isRejection)
        #expect(harmful.recorded == nil)
    }

    @Test func anExpiredUploadIsNotRequested() {
        let data = UploadResumeData(url: place, offset: 10, expiresAt: Timestamp(seconds: 1_699_999_999))
        var harmless = script(mayRepeat: true, keeping: data)
        #expect(harmless.start().summary == "POST /target 0..<100")
        var harmful = script(keeping: data)
        #expect(harmful.start().isRejection)
    }

    @Test(arguments: ["max-size=ten", "max-append-size=?1", "max-append-size=0", "max-age=-1", "max-size=9 x"])
    func malformedLimitsAreIgnored(limits: String) {
        var script = created()
        #expect(script.interim([version: "8", "Upload-Limit": limits]) == .goOn)
        #expect(script.machine.resumeData == UploadResumeData(url: place))
    }

    @Test func cancellingDeletesTheUpload() {
        let request = ResumableUpload.cancellation(of: UploadResumeData(url: place))
        #expect(request.method == .delete)
        #expect(request.headers == [HeaderField(name: version, value: "8")])
    }
}
