import Testing
import XferCore
import XferModel

/// Each rule, answer by answer: 1,000 bytes, 100 of them kept, unless a test says otherwise.
@Suite struct ResumeJudgeTests {
    let url = HTTPURL(scheme: .http, host: "example.org", port: 80, target: "/")
    let tagged = Validators(etag: "\"a\"")
    let dated = Validators(lastModified: "Sun, 06 Nov 1994 08:49:37 GMT", date: "Sun, 06 Nov 1994 09:00:00 GMT")

    private func judge(
        _ status: Int, _ fields: [(String, String)], kept validators: Validators? = nil, committed: Int64 = 100,
        total: Int64? = 1000, coding: String? = nil, plainRange: Bool = false, unsafe: Bool = false,
        joins: Bool = false, type: String? = nil, doubt: AnswerDoubt? = nil,
        conditions: [HeaderField] = [], rejectsPages: Bool = false
    ) -> HeadVerdict {
        let segments = committed > 0 ? [Segment(start: 0, committed: committed)] : []
        var kept = ResumeData(
            validators: validators ?? tagged, totalLength: total, contentEncoding: coding, segments: segments)
        kept.mediaType = type
        kept.doubt = doubt
        let plan = ResumeRules.plan(
            kept: kept, allowsUnsafe: unsafe, joinsUnderDigest: joins, plainRange: plainRange, conditions: conditions,
            rejectsPages: rejectsPages)
        let head = ResponseHead(status: status, fields: fields.map { HeaderField(name: $0.0, value: $0.1) })
        return ResumeRules.judge(head, plan: plan, url: url, now: Timestamp(seconds: 0))
    }

    private let range = ("Content-Range", "bytes 100-999/1000")
    private let tag = ("ETag", "\"a\"")
    private let rest = BodyPlan(offset: 100, end: 1000, total: 1000)
    private let whole = BodyPlan(offset: 0, end: 1000, total: 1000)

    // MARK: The whole

    @Test func aWholeBodyIsWrittenFromTheStart() {
        #expect(judge(200, [("Content-Length", "1000"), tag], committed: 0) == .write(whole))
        #expect(judge(200, [], committed: 0) == .write(BodyPlan(offset: 0, end: nil, total: nil)))
    }

    @Test func anUnrequestedPartFailsUnlessItIsTheWhole() {
        let exact = ("Content-Range", "bytes 0-999/1000")
        #expect(judge(206, [exact, tag], committed: 0) == .write(whole))
        #expect(judge(206, [exact, tag], kept: Validators()) == .restart(whole, .noStrongValidator))
        for range in ["bytes 0-499/1000", "bytes 0-999/*", "bytes 1-999/1000", "bytes */1000", "bytes"] {
            guard case .fail(let error) = judge(206, [("Content-Range", range), tag], committed: 0) else {
                Issue.record("\(range) is taken")
                continue
            }
            #expect(error.reason == .rangeMismatch)
        }
        let multipart = [exact, ("Content-Type", "multipart/byteranges; boundary=x")]
        guard case .fail = judge(206, multipart, committed: 0) else {
            Issue.record("several parts are taken")
            return
        }
    }

    @Test func anUnrequestedPartFailsIfOnlyA200IsAccepted() {
        let plan = ResumeRules.plan(kept: ResumeData(), acceptedStatus: StatusSet(200...200))
        let head = ResponseHead(status: 206, fields: [HeaderField(name: "Content-Range", value: "bytes 0-9/10")])
        guard case .fail(let error) = ResumeRules.judge(head, plan: plan, url: url, now: Timestamp(seconds: 0)) else {
            Issue.record("it is taken")
            return
        }
        #expect(error.reason == .httpStatus)
    }

    @Test func aWholeBodyOverKeptBytesIsHeldBack() {
        #expect(
            judge(200, [("Content-Length", "1000"), tag], kept: Validators()) == .restart(whole, .noStrongValidator))
        #expect(judge(200, [("Content-Length", "1000"), tag], coding: "gzip") == .restart(whole, .codedBody))
    }

    @Test func a200WithTheSameTagIsSkippedInto() {
        let skipping = BodyPlan(skip: 100, offset: 100, end: 1000, total: 1000)
        #expect(judge(200, [("Content-Length", "1000"), tag]) == .write(skipping))
        #expect(judge(200, [tag]) == .write(skipping))
        // The server claims to support ranges: one plain range request tests that.
        let fields = [("Content-Length", "1000"), tag, ("Accept-Ranges", "bytes")]
        #expect(judge(200, fields) == .retryPlainRange(.rangeIgnored))
        #expect(judge(200, fields, plainRange: true) == .write(skipping))
    }

    /// Such a whole is of another version than the kept bytes, whatever its tag says, or of no version.
    @Test func aWholeShorterThanTheKeptBytesRestartsOnceItHasComeThreeTimes() {
        let short = BodyPlan(offset: 0, end: 99, total: 99)
        var doubt: AnswerDoubt?
        for _ in 1...2 {
            guard case .suspect(let next, _) = judge(200, [("Content-Length", "99"), tag], total: nil, doubt: doubt)
            else {
                Issue.record("it is taken")
                return
            }
            doubt = next
        }
        #expect(
            judge(200, [("Content-Length", "99"), tag], total: nil, doubt: doubt)
                == .restart(short, .lengthChanged(kept: 100, now: 99)))
        #expect(judge(200, [("Content-Length", "100"), tag], total: nil) != .restart(short, .rangeIgnored))
    }

    @Test func a200OfAnotherVersionRestarts() {
        #expect(judge(200, [("Content-Length", "1000"), ("ETag", "\"b\"")]) == .restart(whole, .etagChanged))
        #expect(judge(200, [("Content-Length", "1000"), ("ETag", "W/\"a\"")]) == .restart(whole, .etagChanged))
        #expect(judge(200, [("Content-Length", "1000")]) == .restart(whole, .rangeIgnored))
        #expect(
            judge(200, [("Content-Length", "900"), tag])
                == .restart(BodyPlan(offset: 0, end: 900, total: 900), .lengthChanged(kept: 1000, now: 900)))
        #expect(
            judge(200, [("Content-Length", "1000"), tag, ("Content-Encoding", "gzip")])
                == .restart(whole, .codingChanged))
        #expect(
            judge(200, [("Content-Length", "1000"), ("Last-Modified", dated.lastModified ?? "")], kept: dated)
                == .restart(whole, .rangeIgnored))
    }

    @Test func aTagThatDiffersAtTheSameDateAndLengthMayBeAnotherEdgeServers() {
        var both = tagged
        both.lastModified = dated.lastModified
        let fields = [("Content-Length", "1000"), ("ETag", "\"b\""), ("Last-Modified", dated.lastModified ?? "")]
        #expect(judge(200, fields, kept: both) == .retryPlainRange(.etagChanged))
        #expect(judge(200, fields, kept: both, plainRange: true) == .restart(whole, .etagChanged))
    }

    // MARK: A part

    @Test func theRestOfTheSameVersionIsWritten() {
        #expect(judge(206, [range, tag]) == .write(rest))
        #expect(judge(206, [range, tag], plainRange: true) == .write(rest))
        #expect(judge(206, [range, ("Last-Modified", dated.lastModified ?? "")], kept: dated) == .write(rest))
        #expect(judge(206, [range, tag], total: nil) == .write(rest))
    }

    @Test func aShortPartIsWrittenAndTheRestRequested() {
        let body = BodyPlan(offset: 100, end: 500, total: 1000)
        #expect(judge(206, [("Content-Range", "bytes 100-499/1000"), tag]) == .write(body))
        #expect(ResumeRules.judgeEnd(of: body, at: 500, skipped: 0, host: "h") == .askOn)
    }

    @Test func aPartThatBeginsEarlierIsSkippedInto() {
        #expect(
            judge(206, [("Content-Range", "bytes 40-999/1000"), tag])
                == .write(BodyPlan(skip: 60, offset: 100, end: 1000, total: 1000)))
    }

    @Test(arguments: [
        [("Content-Range", "bytes 101-999/1000")], [("Content-Range", "bytes 0-99/1000")],
        [("Content-Range", "octets 100-999/1000")], [("Content-Range", "bytes 999-100/1000")],
        [("Content-Range", "bytes 100-1000/1000")], [], [("Content-Range", "bytes */1000")],
        [("Content-Range", "bytes 100-999/1000"), ("Content-Type", "Multipart/ByteRanges; boundary=x")],
        [("Content-Range", "bytes 100-999/1000"), ("Content-Length", "901")],
        [("Content-Range", "bytes 100-999/1000"), ("Content-Range", "bytes 100-998/1000")],
    ])
    func anUnusablePartStartsOver(fields: [(String, String)]) {
        guard case .startOver(.unusableRange) = judge(206, fields + [tag]) else {
            Issue.record("\(judge(206, fields + [tag]))")
            return
        }
    }

    @Test func partsOfAnotherVersionStartOver() {
        #expect(judge(206, [range, ("ETag", "\"b\"")]) == .startOver(.etagChanged))
        #expect(judge(206, [range, ("ETag", "W/\"a\"")]) == .startOver(.etagChanged))
        #expect(
            judge(206, [("Content-Range", "bytes 100-1999/2000"), tag])
                == .startOver(.lengthChanged(kept: 1000, now: 2000)))
        #expect(judge(206, [range, tag, ("Content-Encoding", "gzip")]) == .startOver(.codingChanged))
        var both = tagged
        both.lastModified = dated.lastModified
        #expect(
            judge(206, [range, tag, ("Last-Modified", "Mon, 07 Nov 1994 08:49:37 GMT")], kept: both)
                == .startOver(.lastModifiedChanged))
        // A tag out of nowhere is not the kept one.
        #expect(
            judge(206, [range, tag, ("Last-Modified", dated.lastModified ?? "")], kept: dated)
                == .startOver(.etagChanged))
    }

    /// Under a strong digest it is continued if the lengths agree, and marked: a task that joins has no digest. Else
    /// `ConditionProofTests` say how it may be proven.
    @Test func aPartWithoutAValidatorStartsOverUnlessAStrongDigestWillProveIt() {
        #expect(judge(206, [range], plainRange: true) == .startOver(.validatorMissing))
        #expect(judge(206, [range], total: nil) == .startOver(.validatorMissing))
        #expect(judge(206, [range], kept: dated, plainRange: true) == .startOver(.validatorMissing))
        var joined = rest
        joined.isUnproven = true
        #expect(judge(206, [range], joins: true) == .write(joined))
        #expect(judge(206, [range], kept: dated, joins: true) == .write(joined))
        #expect(judge(206, [range], kept: Validators(), joins: true) == .write(joined))
        #expect(judge(206, [range], total: nil, joins: true) == .startOver(.validatorMissing))
    }

    @Test func unsafeResumeAcceptsAPartThatDoesNotContradict() {
        #expect(judge(206, [range], kept: Validators(), unsafe: true) == .write(rest))
        #expect(judge(206, [range, tag], kept: Validators(), unsafe: true) == .write(rest))
        let weak = Validators(etag: "W/\"a\"")
        #expect(judge(206, [range, ("ETag", "W/\"a\"")], kept: weak, unsafe: true) == .write(rest))
        #expect(
            judge(206, [range, ("ETag", "W/\"b\"")], kept: weak, total: nil, unsafe: true) == .startOver(.etagChanged))
        #expect(
            judge(206, [("Content-Range", "bytes 100-1999/2000"), tag], kept: weak, unsafe: true)
                == .startOver(.lengthChanged(kept: 1000, now: 2000)))
    }

    // MARK: Nodes with different validators

    /// With `resume: unsafe` or a demanded digest, an equal length is enough.
    @Test(arguments: [true, false]) func anotherTagAtTheSameLengthIsContinuedIfTheClientAllowsIt(isDigest: Bool) {
        func judge(_ status: Int, _ fields: [(String, String)], total: Int64? = 1000, plain: Bool = false)
            -> HeadVerdict
        {
            self.judge(status, fields, total: total, plainRange: plain, unsafe: !isDigest, joins: isDigest)
        }
        var joined = rest
        joined.isUnproven = isDigest
        let other = ("ETag", "\"b\"")
        // The node refuses If-Range: asked once without it, it sends the rest.
        #expect(judge(200, [("Content-Length", "1000"), other]) == .retryPlainRange(.etagChanged))
        #expect(judge(206, [range, other], plain: true) == .write(joined))
        // It ignores If-Range.
        #expect(judge(206, [range, other]) == .write(joined))
        // The node that sent the kept bytes proves it.
        #expect(judge(206, [range, tag]) == .write(rest))
        #expect(judge(206, [range, tag], plain: true) == .write(rest))
        // Another length is another version.
        #expect(
            judge(200, [("Content-Length", "1001"), other])
                == .restart(BodyPlan(offset: 0, end: 1001, total: 1001), .lengthChanged(kept: 1000, now: 1001)))
        #expect(
            judge(206, [("Content-Range", "bytes 100-1000/1001"), other])
                == .startOver(.lengthChanged(kept: 1000, now: 1001)))
        // Nothing says that the lengths are equal.
        #expect(judge(206, [range, other], total: nil) == .startOver(.etagChanged))
        guard case .suspect = judge(200, [other]) else {
            Issue.record("a whole of unknown length is taken for a file of known length")
            return
        }
        #expect(judge(200, [other], total: nil) == .restart(BodyPlan(offset: 0, end: nil, total: nil), .etagChanged))
    }

    @Test func anotherDateAtTheSameLengthIsContinuedUnderADigest() {
        let later = ("Last-Modified", "Mon, 07 Nov 1994 08:49:37 GMT")
        var joined = rest
        joined.isUnproven = true
        #expect(
            judge(200, [("Content-Length", "1000"), later], kept: dated, joins: true)
                == .retryPlainRange(.lastModifiedChanged))
        #expect(judge(206, [range, later], kept: dated, plainRange: true, joins: true) == .write(joined))
        #expect(judge(206, [range, later], kept: dated, plainRange: true) == .startOver(.lastModifiedChanged))
    }

    /// Its bytes are skipped up to the kept ones, so that nothing is lost if it breaks off.
    @Test func aNodeWithoutRangesSendsTheWholeUnderADigest() {
        let fields = [("Content-Length", "1000"), ("ETag", "\"b\"")]
        let skipping = BodyPlan(skip: 100, offset: 100, end: 1000, total: 1000, isUnproven: true)
        #expect(judge(200, fields, plainRange: true, joins: true) == .write(skipping))
        #expect(judge(200, fields, plainRange: true, unsafe: true) == .restart(whole, .rangeIgnored))
    }

    @Test func withoutADigestOrTheClientsLeaveAnotherTagIsAnotherVersion() {
        #expect(judge(206, [range, ("ETag", "\"b\"")]) == .startOver(.etagChanged))
        #expect(judge(200, [("Content-Length", "1000"), ("ETag", "\"b\"")]) == .restart(whole, .etagChanged))
    }

    // MARK: Pages

    @Test func aWebPageIsAFailureIfTheClientRefusesIt() {
        let page = [("Content-Length", "9"), ("Content-Type", "text/html; charset=utf-8")]
        guard case .fail(let error) = judge(200, page, committed: 0, rejectsPages: true) else {
            Issue.record("it is taken")
            return
        }
        #expect(error.reason == .unacceptableType)
        #expect(judge(200, page, committed: 0) == .write(BodyPlan(offset: 0, end: 9, total: 9)))
    }

    @Test func aPartOfUnknownLengthNeedsAKeptLength() {
        let field = ("Content-Range", "bytes 100-999/*")
        #expect(judge(206, [field, tag]) == .write(rest))
        guard case .startOver(.unusableRange) = judge(206, [field, tag], total: nil) else {
            Issue.record("a part of unknown length did not start over")
            return
        }
    }

    @Test func anUnrequestedPartIsRefused() {
        guard case .fail(let error) = judge(206, [("Content-Range", "bytes 0-998/1000"), tag], committed: 0) else {
            Issue.record("expected a failure")
            return
        }
        #expect(error.reason == .rangeMismatch)
    }

    // MARK: Nothing

    @Test func a416IsCompleteOnlyIfAllLengthsAgree() {
        #expect(
            judge(416, [("Content-Range", "bytes */100")], total: 1000)
                == .startOver(.lengthChanged(kept: 1000, now: 100)))
        #expect(judge(416, [("Content-Range", "bytes */1000"), tag]) == .startOver(.rangeNotSatisfiable))
        #expect(judge(416, [], committed: 1000) == .startOver(.rangeNotSatisfiable))
        #expect(judge(416, [("Content-Range", "bytes */1000"), tag], committed: 1000) == .complete)
        #expect(judge(416, [("Content-Range", "bytes */1000")], committed: 1000) == .startOver(.rangeNotSatisfiable))
        // That all bytes are there says nothing of their version, whatever digest is demanded.
        #expect(
            judge(416, [("Content-Range", "bytes */1000")], committed: 1000, joins: true)
                == .startOver(.rangeNotSatisfiable))
    }

    /// The body may have ended where its connection broke off.
    @Test func a416AtTheEndOfWhatIsKeptIsNoReasonToDiscardBytesOfUnknownLength() {
        let range = ("Content-Range", "bytes */1000")
        #expect(judge(416, [range, tag], committed: 1000, total: nil) == .complete)
        // A demanded digest will tell.
        #expect(judge(416, [range], committed: 1000, total: nil, joins: true) == .complete)
        // Otherwise the last kept byte is requested once more, with which the validator comes.
        #expect(judge(416, [range], committed: 1000, total: nil) == .proveCondition(.lastByte))
        // Another version, or another length.
        for joins in [true, false] {
            #expect(
                judge(416, [range, ("ETag", "\"b\"")], committed: 1000, total: nil, joins: joins)
                    == .startOver(.rangeNotSatisfiable))
            for length in [999, 1001] {
                #expect(
                    judge(
                        416, [("Content-Range", "bytes */\(length)"), tag], committed: 1000, total: nil, joins: joins)
                        == .startOver(.rangeNotSatisfiable))
            }
        }
    }

    @Test func a304CountsOnlyAsTheAnswerToACondition() {
        let condition = HeaderField(name: "If-None-Match", value: "\"a\"")
        #expect(judge(304, [], committed: 0, conditions: [condition]) == .notModified)
        guard case .fail(let error) = judge(304, [], committed: 0) else {
            Issue.record("expected a failure")
            return
        }
        #expect(error.httpStatus == 304)
    }

    @Test func anErrorResponseKeepsTheBytes() {
        for status in [400, 403, 404, 416, 500, 503] where status != 416 {
            guard case .fail = judge(status, [tag, ("Content-Length", "1000")]) else {
                Issue.record("\(status) was taken")
                continue
            }
        }
    }

    // MARK: The end

    @Test func theExactLengthIsCompletion() {
        #expect(ResumeRules.judgeEnd(of: rest, at: 1000, skipped: 0, host: "h") == .complete)
        #expect(
            ResumeRules.judgeEnd(of: BodyPlan(offset: 0, end: nil, total: nil), at: 5, skipped: 0, host: "h")
                == .complete)
        guard case .fail(let short) = ResumeRules.judgeEnd(of: rest, at: 999, skipped: 0, host: "h") else {
            Issue.record("999 of 1000 is not complete")
            return
        }
        #expect(short.reason == .shortBody)
        let skipping = BodyPlan(skip: 100, offset: 100, end: nil, total: nil)
        guard case .fail(let skipped) = ResumeRules.judgeEnd(of: skipping, at: 100, skipped: 99, host: "h") else {
            Issue.record("less than what is kept is not complete")
            return
        }
        #expect(skipped.reason == .shortBody)
        guard
            case .fail(let long) = ResumeRules.judgeEnd(
                of: BodyPlan(offset: 0, end: nil, total: 10), at: 11, skipped: 0, host: "h")
        else {
            Issue.record("11 of 10 is not complete")
            return
        }
        #expect(long.reason == .lengthMismatch)
    }

    @Test func responseFieldsAreKeptVerbatim() {
        let head = ResponseHead(
            status: 200,
            fields: [
                HeaderField(name: "ETag", value: "\"b\""), HeaderField(name: "Last-Modified", value: "odd date"),
                HeaderField(name: "Content-Length", value: "7"), HeaderField(name: "Date", value: "then"),
            ])
        let plan = ResumeRules.plan(kept: ResumeData())
        let verdict = ResumeRules.judge(head, plan: plan, url: url, now: Timestamp(seconds: 0))
        let sent = ["Accept", "Accept-Language", "Authorization", "Accept-Encoding", "User-Agent", "X-Other"].map {
            HeaderField(name: $0, value: "v")
        }
        let data = ResumeRules.resumeData(after: head, verdict: verdict, plan: plan, finalURL: url, sent: sent)
        #expect(data.validators == Validators(etag: "\"b\"", lastModified: "odd date", date: "then"))
        #expect(data.totalLength == 7)
        #expect(data.finalURL == url)
        #expect(data.selectingHeaders.map(\.name) == ["Accept", "Accept-Language", "User-Agent"])
        #expect(data.segments == [Segment(start: 0, committed: 0)])
    }

    // MARK: Numbers at the end of their range

    @Test(arguments: [
        "bytes 0-9223372036854775806/9223372036854775807", "bytes 0-9223372036854775805/9223372036854775806",
        "bytes 100-9223372036854775806/*", "bytes 100-9223372036854775807/9223372036854775808",
    ]) func aRangeLongerThanAnyFileIsNoValidRange(range: String) {
        let fields = [("Content-Range", range), tag]
        #expect(judge(206, fields, total: nil) == .startOver(.unusableRange("no valid Content-Range")))
    }

    @Test(arguments: [Int64.max, .max - 1, 1 << 62] as [Int64]) func theEndOfAnyBodyIsJudgedWithoutOverflow(end: Int64)
    {
        let skipping = BodyPlan(skip: end, offset: 0, end: end, total: end)
        let verdict = ResumeRules.judgeEnd(of: skipping, at: 0, skipped: 10, host: "h")
        guard case .fail(let error) = verdict else {
            Issue.record("\(verdict)")
            return
        }
        #expect(error.reason == .shortBody)
        let backwards = BodyPlan(offset: -end, end: end, total: end)
        guard case .fail = ResumeRules.judgeEnd(of: backwards, at: -end, skipped: 0, host: "h") else {
            Issue.record("a body with an impossible offset was not refused")
            return
        }
    }
}
