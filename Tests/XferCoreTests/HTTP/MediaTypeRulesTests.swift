import Testing
import XferCore
import XferModel

@Suite struct MediaTypeRulesTests {
    private let url = HTTPURL(scheme: .https, host: "a.test", port: 443, target: "/")
    private let now = Timestamp(seconds: 0)

    private func refusal(_ status: Int, _ type: String?, length: String = "5", types: [String] = ["image/png"])
        -> TransferError?
    {
        var head = ResponseHead(status: status, fields: [HeaderField(name: "Content-Length", value: length)])
        if let type { head.fields.append(HeaderField(name: "Content-Type", value: type)) }
        return ResponseRules.refusal(
            of: head, from: url, acceptedStatus: .success, acceptedTypes: types, now: now)
    }

    @Test func statusAndTypeGiveFourCombinations() throws {
        #expect(refusal(200, "image/png") == nil)
        let wrongType = try #require(refusal(200, "text/html"))
        #expect(wrongType.reason == .unacceptableType && !wrongType.isRetriable && wrongType.httpStatus == 200)
        #expect(wrongType.message.contains("text/html") && wrongType.message.contains("image/png"))
        let wrongStatus = try #require(refusal(404, "image/png"))
        #expect(wrongStatus.reason == .httpStatus && !wrongStatus.message.contains("image/png"))
        let both = try #require(refusal(503, "text/html"))
        #expect(both.reason == .httpStatus && both.isRetriable && both.httpStatus == 503)
        #expect(both.message.contains("503") && both.message.contains("text/html"))
    }

    @Test func parametersCaseAndSpacesOfAMediaTypeAreIgnored() {
        #expect(refusal(200, " Image/PNG ; q=\"a;b\"") == nil)
        #expect(refusal(200, "text/html", types: []) == nil)
    }

    @Test func aWrongTypeIsAnErrorWithoutABodyToo() {
        #expect(refusal(200, "text/html", length: "0")?.reason == .unacceptableType)
        #expect(refusal(204, "text/html")?.reason == .unacceptableType)
    }

    @Test func onlyAnEmptyAnswerNeedNotSayItsType() {
        #expect(refusal(200, nil)?.reason == .unacceptableType)
        #expect(refusal(200, "")?.reason == .unacceptableType)
        #expect(refusal(200, nil, length: "0") == nil)
        #expect(refusal(204, nil) == nil)
    }

    /// RFC 9110 §12.5.1; `*/json` and the last row as Alamofire's ValidationTestCase has them.
    @Test(
        arguments: [
            ("image/*", "image/png", true), ("image/*", "IMAGE/png; q=1", true), ("image/*", "video/mp4", false),
            ("image/*", "image", false), ("image/*", "imagery/png", false), ("*/*", "text/html", true),
            ("*/json", "application/json", true), ("*/json", "application/jsonp", false), ("image/*", nil, false),
            ("*/*", nil, true),
        ] as [(String, String?, Bool)])
    func aMediaRangeMatchesTheTypesItCovers(range: String, type: String?, isAccepted: Bool) {
        #expect((refusal(200, type, types: [range]) == nil) == isAccepted)
        #expect((refusal(200, type, types: ["text/x-other", range]) == nil) == isAccepted)
    }

    @Test func aDownloadChecksTheMediaTypeLast() {
        let plan = ResumeRules.plan(kept: ResumeData(), acceptedTypes: ["image/png"])
        func verdict(_ status: Int) -> HeadVerdict {
            let fields = [HeaderField(name: "Content-Type", value: "text/html")]
            return ResumeRules.judge(ResponseHead(status: status, fields: fields), plan: plan, url: url, now: now)
        }
        guard case .fail(let type) = verdict(200), case .fail(let status) = verdict(404) else {
            Issue.record("expected failures")
            return
        }
        #expect(type.reason == .unacceptableType)
        #expect(status.reason == .httpStatus && status.message.contains("text/html"))
    }

    @Test func onlyAGetAsksForTheRest() {
        let kept = ResumeData(validators: Validators(etag: "\"a\""), segments: [Segment(start: 0, committed: 5)])
        for method in HTTPMethod.common {
            let plan = ResumeRules.plan(kept: kept, method: method)
            #expect((plan.range != nil) == (method == .get))
            #expect(plan.reason == (method == .get ? nil : .methodWithoutRanges))
        }
    }

    @Test func noBodyIsExpectedOfAHEAD() {
        let plan = ResumeRules.plan(kept: ResumeData(), method: .head)
        let head = ResponseHead(status: 200, fields: [HeaderField(name: "Content-Length", value: "500")])
        #expect(
            ResumeRules.judge(head, plan: plan, url: url, now: now) == .write(BodyPlan(offset: 0, end: 0, total: 0)))
    }
}
