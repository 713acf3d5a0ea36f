import Testing
import XferCore
import XferModel

/// Parts without a validator, of servers that honour `If-Range` or not: 1,000 bytes, 100 of them kept.
@Suite struct ConditionProofTests {
    private static let date = "Sun, 06 Nov 1994 08:49:37 GMT"
    private static let later = "Sun, 06 Nov 1994 09:00:00 GMT"
    private static let url = HTTPURL(scheme: .http, host: "example.org", port: 80, target: "/")
    private static let tagged = Validators(etag: "\"a\"")
    private static let dated = Validators(lastModified: date, date: later)
    private static let part = ("Content-Range", "bytes 100-999/1000")
    private static let length = ("Content-Length", "1000")
    private static let rest = BodyPlan(offset: 100, end: 1000, total: 1000)

    private func plan(
        _ validators: Validators, _ proof: ConditionProof = .none, total: Int64? = 1000, segment: Segment? = nil,
        joins: Bool = false, isRangeRefused: Bool = false
    ) -> RequestPlan {
        let kept = ResumeData(
            validators: validators, totalLength: total, segments: [Segment(start: 0, committed: 100)])
        return ResumeRules.plan(
            kept: kept, segment: segment, joinsUnderDigest: joins, proof: proof, isRangeRefused: isRangeRefused)
    }

    private func judge(_ status: Int, _ fields: [(String, String)], _ plan: RequestPlan) -> HeadVerdict {
        let head = ResponseHead(status: status, fields: fields.map { HeaderField(name: $0.0, value: $0.1) })
        return ResumeRules.judge(head, plan: plan, url: Self.url, now: Timestamp(seconds: 0))
    }

    @Test(arguments: [tagged, dated, Validators(etag: "abc123")])
    func aPartWithoutAValidatorIsTakenFromAServerThatHonoursIfRange(validators: Validators) {
        let shown = validators.etag.map { ("ETag", $0) } ?? ("Last-Modified", Self.date)
        #expect(judge(206, [Self.part], plan(validators)) == .proveCondition(.requested))
        #expect(
            judge(200, [Self.length, shown], plan(validators, .requested)) == .proveCondition(.honoured))
        #expect(judge(206, [Self.part], plan(validators, .honoured)) == .write(Self.rest))
    }

    @Test(arguments: [tagged, dated]) func aPartWithoutAValidatorStartsOverIfTheServerIgnoresIfRange(
        validators: Validators
    ) {
        #expect(judge(206, [Self.part], plan(validators, .requested)) == .startOver(.validatorMissing))
    }

    @Test func theProofIsRequestedUnderAValidatorThatTheKeptVersionDoesNotHave() throws {
        for (validators, kept, other) in [
            (Self.tagged, "\"a\"", "\"xfer-a\""), (Self.dated, Self.date, "Sun, 06 Nov 1994 08:49:38 GMT"),
            (Validators(etag: "abc123"), "abc123", "xfer-abc123"),
        ] {
            for (proof, sent) in [(ConditionProof.none, kept), (.requested, other), (.honoured, kept)] {
                let headers = plan(validators, proof).headers
                #expect(headers.firstValue(named: "If-Range") == sent)
                #expect(headers.firstValue(named: "Range") == "bytes=100-")
            }
        }
    }

    // MARK: The last byte

    @Test(arguments: [tagged, dated])
    func aPartFromTheLastKeptByteOnShowsThatABodyOfUnknownLengthIsThereWhole(validators: Validators) {
        let shown = validators.etag.map { ("ETag", $0) } ?? ("Last-Modified", Self.date)
        let nothing = ("Content-Range", "bytes */100")
        #expect(judge(416, [nothing], plan(validators, total: nil)) == .proveCondition(.lastByte))
        let asked = plan(validators, .lastByte, total: nil)
        #expect(asked.headers.firstValue(named: "Range") == "bytes=99-")
        #expect(asked.headers.firstValue(named: "If-Range") == validators.etag ?? Self.date)
        #expect(judge(206, [("Content-Range", "bytes 99-99/100"), shown], asked) == .complete)
        // The file has grown under its validator.
        #expect(
            judge(206, [("Content-Range", "bytes 99-149/150"), shown], asked)
                == .write(BodyPlan(skip: 1, offset: 100, end: 150, total: 150)))
    }

    @Test func withoutTheValidatorNothingShowsThatTheBodyIsWhole() {
        let asked = plan(Self.tagged, .lastByte, total: nil)
        for (status, range) in [(206, "bytes 99-99/100"), (416, "bytes */100")] {
            guard case .fail(let error) = judge(status, [("Content-Range", range)], asked) else {
                Issue.record("\(status): the bytes are discarded, or taken for whole")
                continue
            }
            #expect(error.reason == .httpStatus && error.httpStatus == 416 && !error.isRetriable)
        }
        let other = [("Content-Range", "bytes 99-99/100"), ("ETag", "\"b\"")]
        #expect(judge(206, other, asked) == .startOver(.etagChanged))
    }

    /// The version may have changed since the part was refused, and a server without ranges proves nothing.
    @Test func onlyTheWholeOfTheKeptVersionProvesThatIfRangeIsHonoured() {
        let whole = BodyPlan(offset: 0, end: 1000, total: 1000)
        let asked = plan(Self.tagged, .requested)
        #expect(judge(200, [Self.length], asked) == .restart(whole, .rangeIgnored))
        #expect(judge(200, [Self.length, ("ETag", "\"b\"")], asked) == .restart(whole, .etagChanged))
        #expect(judge(203, [Self.length, ("ETag", "\"a\"")], asked) != .proveCondition(.honoured))
        #expect(judge(200, [("ETag", "\"a\"")], asked) != .proveCondition(.honoured))
        guard case .restart = judge(200, [("Content-Length", "1001"), ("ETag", "\"a\"")], asked) else {
            Issue.record("another length is the kept version")
            return
        }
        let dates = plan(Self.dated, .requested)
        #expect(judge(200, [Self.length], dates) == .restart(whole, .rangeIgnored))
        #expect(
            judge(200, [Self.length, ("Last-Modified", Self.later)], dates) == .restart(whole, .lastModifiedChanged))
    }

    @Test func whatContradictsTheKeptVersionIsNeverTaken() {
        for proof in [ConditionProof.none, .requested, .honoured] {
            #expect(
                judge(206, [Self.part, ("ETag", "\"b\"")], plan(Self.tagged, proof)) == .startOver(.etagChanged))
            #expect(
                judge(206, [("Content-Range", "bytes 100-1000/1001")], plan(Self.tagged, proof))
                    == .startOver(.lengthChanged(kept: 1000, now: 1001)))
            #expect(
                judge(206, [Self.part, ("Last-Modified", Self.later)], plan(Self.dated, proof))
                    == .startOver(.lastModifiedChanged))
            #expect(
                judge(206, [("Content-Range", "bytes 100-999/*")], plan(Self.tagged, proof))
                    == .startOver(.validatorMissing))
            #expect(judge(206, [Self.part], plan(Self.tagged, proof, total: nil)) == .startOver(.validatorMissing))
        }
        // A part that shows the tag needs no proof.
        #expect(judge(206, [Self.part, ("ETag", "\"a\"")], plan(Self.tagged, .requested)) == .write(Self.rest))
    }

    @Test func aSegmentOfSeveralIsNotWorthTheProof() {
        let segment = Segment(start: 0, end: 1000, committed: 100)
        #expect(judge(206, [Self.part], plan(Self.tagged, segment: segment)) == .startOver(.validatorMissing))
    }

    /// Without a tag the date is worth what it is where there are no tags at all (RFC 9110 §8.8.2.2).
    @Test func aPartWithTheKeptStrongDateInPlaceOfTheTagIsTaken() {
        let both = Validators(etag: "\"a\"", lastModified: Self.date, date: Self.later)
        #expect(judge(206, [Self.part, ("Last-Modified", Self.date)], plan(both)) == .write(Self.rest))
        #expect(judge(206, [Self.part, ("Last-Modified", Self.later)], plan(both)) == .startOver(.lastModifiedChanged))
        let weak = Validators(etag: "\"a\"", lastModified: Self.date, date: Self.date)
        #expect(judge(206, [Self.part, ("Last-Modified", Self.date)], plan(weak)) == .proveCondition(.requested))
        #expect(
            judge(206, [Self.part, ("Last-Modified", Self.date)], plan(both, total: nil))
                == .startOver(.validatorMissing))
    }

    // MARK: Refused ranges

    @Test func theWholeInPlaceOfRefusedRangesIsSkippedIntoIfItIsOfTheKeptVersion() {
        let asked = plan(Self.tagged, isRangeRefused: true)
        #expect(asked.headers.isEmpty)
        let skipping = BodyPlan(skip: 100, offset: 100, end: 1000, total: 1000)
        #expect(judge(200, [Self.length, ("ETag", "\"a\"")], asked) == .write(skipping))
        let head = ResponseHead(status: 200, fields: [HeaderField(name: "ETag", value: "\"a\"")])
        let data = ResumeRules.resumeData(
            after: head, verdict: .write(skipping), plan: asked, finalURL: Self.url, sent: [])
        #expect(data.segments == [Segment(start: 0, committed: 100)] && data.validators == Self.tagged)
    }

    @Test func anotherWholeInPlaceOfRefusedRangesReplacesTheKeptBytes() {
        let whole = BodyPlan(offset: 0, end: 1000, total: 1000)
        let asked = plan(Self.tagged, isRangeRefused: true)
        #expect(judge(200, [Self.length], asked) == .restart(whole, .rangeRefused))
        #expect(judge(200, [Self.length, ("ETag", "\"b\"")], asked) == .restart(whole, .etagChanged))
        #expect(
            judge(200, [("Content-Length", "1001"), ("ETag", "\"a\"")], asked)
                == .restart(BodyPlan(offset: 0, end: 1001, total: 1001), .lengthChanged(kept: 1000, now: 1001)))
        guard case .suspect = judge(200, [("Content-Length", "9"), ("Content-Type", "text/html")], asked) else {
            Issue.record("a page replaces the bytes")
            return
        }
        guard case .fail = judge(403, [], asked) else {
            Issue.record("a refusal is taken")
            return
        }
    }

    @Test func underADigestAnyWholeOfTheKeptLengthIsSkippedInto() {
        let asked = plan(Self.tagged, joins: true, isRangeRefused: true)
        let skipping = BodyPlan(skip: 100, offset: 100, end: 1000, total: 1000, isUnproven: true)
        #expect(judge(200, [Self.length, ("ETag", "\"b\"")], asked) == .write(skipping))
        #expect(judge(200, [Self.length], asked) == .write(skipping))
        guard case .restart = judge(200, [Self.length, ("Content-Encoding", "gzip")], asked) else {
            Issue.record("a coded body continues a plain one")
            return
        }
    }
}
