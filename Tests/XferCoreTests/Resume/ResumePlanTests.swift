import Testing
import XferCore
import XferModel

@Suite struct ResumePlanTests {
    private func kept(_ validators: Validators, committed: Int64 = 100, coding: String? = nil) -> ResumeData {
        ResumeData(
            validators: validators, totalLength: 1000, contentEncoding: coding,
            segments: [Segment(start: 0, committed: committed)])
    }

    private func headers(_ plan: RequestPlan) -> [String] { plan.headers.map { "\($0.name): \($0.value)" } }

    @Test func aStrongTagIsSentWithTheRange() {
        let plan = ResumeRules.plan(kept: kept(Validators(etag: "\"a\"")))
        #expect(headers(plan) == ["Range: bytes=100-", "If-Range: \"a\""])
    }

    @Test(arguments: [
        Validators(), Validators(etag: "W/\"a\""), Validators(etag: "undefined"),
        // A weak tag is a tag: the date does not replace it.
        Validators(
            etag: "W/\"a\"", lastModified: "Sun, 06 Nov 1994 08:49:37 GMT", date: "Sun, 06 Nov 1994 09:49:37 GMT"),
        Validators(lastModified: "Sun, 06 Nov 1994 08:49:37 GMT"),
        Validators(lastModified: "Sun, 06 Nov 1994 08:49:37 GMT", date: "Sun, 06 Nov 1994 08:49:37 GMT"),
        Validators(lastModified: "yesterday", date: "Sun, 06 Nov 1994 08:49:37 GMT"),
    ])
    func withoutAStrongValidatorTheWholeIsRequested(validators: Validators) {
        let plan = ResumeRules.plan(kept: kept(validators))
        #expect(plan.headers.isEmpty)
        #expect(plan.reason == .noStrongValidator)
        let unsafe = ResumeRules.plan(kept: kept(validators), allowsUnsafe: true)
        #expect(headers(unsafe) == ["Range: bytes=100-"])
    }

    @Test func aTagWithoutQuotesIsSentBackAsItCame() {
        let plan = ResumeRules.plan(kept: kept(Validators(etag: "d41d8cd98f00b204e9800998ecf8427e")))
        #expect(headers(plan) == ["Range: bytes=100-", "If-Range: d41d8cd98f00b204e9800998ecf8427e"])
    }

    @Test func aDateOneSecondOldIsStrong() {
        let validators = Validators(
            lastModified: "Sun, 06 Nov 1994 08:49:37 GMT", date: "Sun, 06 Nov 1994 08:49:38 GMT")
        let plan = ResumeRules.plan(kept: kept(validators))
        #expect(headers(plan) == ["Range: bytes=100-", "If-Range: Sun, 06 Nov 1994 08:49:37 GMT"])
    }

    @Test func resumabilityIsKnownFromTheFirstResponse() {
        #expect(ResumeRules.isResumable(ResumeData()) == nil)
        func isResumable(_ validators: Validators, coding: String? = nil, unsafe: Bool = false) -> Bool? {
            var data = kept(validators, committed: 0, coding: coding)
            data.finalURL = HTTPURL(scheme: .https, host: "h", port: 443, target: "/")
            return ResumeRules.isResumable(data, allowsUnsafe: unsafe)
        }
        #expect(isResumable(Validators(etag: "\"a\"")) == true)
        #expect(isResumable(Validators(etag: "W/\"a\"")) == false)
        #expect(isResumable(Validators()) == false)
        #expect(isResumable(Validators(), unsafe: true) == true)
        #expect(isResumable(Validators(etag: "\"a\""), coding: "gzip", unsafe: true) == false)
    }

    @Test func theRetryLeavesIfRangeOut() {
        let plan = ResumeRules.plan(kept: kept(Validators(etag: "\"a\"")), plainRange: true)
        #expect(headers(plan) == ["Range: bytes=100-"])
    }

    @Test func codedBytesAreNeverContinued() {
        let plan = ResumeRules.plan(kept: kept(Validators(etag: "\"a\""), coding: "gzip"), allowsUnsafe: true)
        #expect(plan.headers.isEmpty)
        #expect(plan.reason == .codedBody)
    }

    @Test func withoutKeptBytesTheWholeIsRequested() {
        #expect(ResumeRules.plan(kept: ResumeData()).headers.isEmpty)
        let plan = ResumeRules.plan(kept: kept(Validators(etag: "\"a\""), committed: 0))
        #expect(plan.headers.isEmpty)
        #expect(plan.reason == nil)
    }

    @Test func aSegmentsRangeHasALastByte() {
        let segment = Segment(start: 200, end: 400, committed: 250)
        let plan = ResumeRules.plan(kept: kept(Validators(etag: "\"a\"")), segment: segment)
        #expect(headers(plan) == ["Range: bytes=250-399", "If-Range: \"a\""])
        #expect(!plan.isWhole)
        #expect(
            ResumeRules.plan(kept: kept(Validators()), segment: Segment(start: 200, end: 400, committed: 400)).isWhole)
    }

    @Test func bytesKeptToTheLastByteAreWhole() {
        #expect(ResumeRules.plan(kept: kept(Validators(), committed: 1000)).isWhole)
        #expect(!ResumeRules.plan(kept: kept(Validators(), committed: 999)).isWhole)
    }

    @Test func conditionsAreSentWithTheRange() {
        let condition = HeaderField(name: "If-None-Match", value: "\"old\"")
        let plan = ResumeRules.plan(kept: kept(Validators(etag: "\"a\"")), conditions: [condition])
        #expect(headers(plan) == ["If-None-Match: \"old\"", "Range: bytes=100-", "If-Range: \"a\""])
    }
}
