import Testing
import XferCore
import XferModel

/// A part of a source as the whole of a download (RFC 9110 §14).
@Suite struct PartViewTests {
    private let url = HTTPURL(scheme: .http, host: "example.org", port: 80, target: "/")

    private func part(_ text: String) throws -> SourceRange { try #require(SourceRange(text)) }

    private func head(_ status: Int, _ fields: (String, String)...) -> ResponseHead {
        ResponseHead(status: status, fields: fields.map { HeaderField(name: $0.0, value: $0.1) })
    }

    @Test(
        arguments: [
            ("0-0", 0, 0), ("0-1023", 0, 1023), ("500-", 500, nil), ("007-8", 7, 8),
            ("1152921504606846976-", 1_152_921_504_606_846_976, nil),
        ] as [(String, Int64, Int64?)])
    func aRangeIsRead(text: String, first: Int64, last: Int64?) throws {
        let range = try part(text)
        #expect(range.first == first && range.last == last && range.suffixLength == nil)
        #expect(SourceRange(range.description) == range)
    }

    @Test(arguments: [("-1", 1), ("-500", 500), ("-007", 7)] as [(String, Int64)])
    func aSuffixIsRead(text: String, length: Int64) throws {
        let range = try part(text)
        #expect(range.suffixLength == length && range.first == 0 && range.last == nil)
        #expect(range.description == "-\(length)" && SourceRange(range.description) == range)
    }

    @Test(arguments: [
        "", "-", "-0", "--5", "-5-", "-x", "-1152921504606846977", "5", "5-4", "a-b", "0-1,3-4", "bytes=0-1", " 0-1",
        "0 - 1", "+1-2", "0x1-2",
        "1152921504606846977-", "99999999999999999999-", "0-1-2",
    ])
    func aTextThatIsNoRangeIsRefused(text: String) { #expect(SourceRange(text) == nil) }

    @Test func theRequestAsksForThePartAndForTheRestOfIt() throws {
        func sent(_ range: String, kept committed: Int64, _ segment: Segment? = nil) throws -> String? {
            let kept = ResumeData(
                validators: Validators(etag: "\"a\""), totalLength: 100,
                segments: committed > 0 ? [Segment(start: 0, committed: committed)] : [])
            return ResumeRules.plan(kept: kept, segment: segment, part: try part(range)).headers
                .firstValue(named: "Range")
        }
        #expect(try sent("500-599", kept: 0) == "bytes=500-599")
        #expect(try sent("500-599", kept: 40) == "bytes=540-599")
        #expect(try sent("500-", kept: 0) == "bytes=500-")
        #expect(try sent("500-", kept: 40) == "bytes=540-")
        let segment = Segment(start: 50, end: 75, committed: 60)
        #expect(try sent("500-599", kept: 0, segment) == "bytes=560-574")
        #expect(try sent("500-", kept: 0, segment) == "bytes=560-574")
        // What is missing of the last 100 bytes is a shorter suffix.
        #expect(try sent("-100", kept: 0) == "bytes=-100")
        #expect(try sent("-100", kept: 40) == "bytes=-60")
        #expect(try sent("-100", kept: 99) == "bytes=-1")
        // The source is shorter: the whole of it, of which 100 bytes are known, is the part.
        #expect(try sent("-500", kept: 40) == "bytes=-60")
        #expect(ResumeRules.plan(kept: ResumeData()).headers.isEmpty)
    }

    @Test(
        arguments: [
            // The source's range, the task's range, the range in the part.
            ("bytes 500-599/1000", "500-599", "bytes 0-99/100"), ("bytes 540-599/1000", "500-599", "bytes 40-99/100"),
            ("bytes 500-999/1000", "500-", "bytes 0-499/500"), ("bytes 500-999/1000", "500-5000", "bytes 0-499/500"),
            ("bytes 500-599/*", "500-599", "bytes 0-99/100"), ("bytes 500-549/*", "500-599", "bytes 0-49/*"),
            ("bytes 500-549/1000", "500-599", "bytes 0-49/100"), ("bytes 400-599/1000", "500-599", nil),
            ("bytes */1000", "500-599", "bytes */100"), ("bytes */500", "500-599", nil), ("octets 5-9/10", "5-9", nil),
            // Suffixes: of a longer source, the rest of one, of a shorter source, and where the place is not known.
            ("bytes 900-999/1000", "-100", "bytes 0-99/100"), ("bytes 940-999/1000", "-100", "bytes 40-99/100"),
            ("bytes 0-59/60", "-100", "bytes 0-59/60"), ("bytes 20-59/60", "-100", "bytes 20-59/60"),
            ("bytes 899-999/1000", "-100", nil), ("bytes 900-999/*", "-100", nil),
            ("bytes */1000", "-100", "bytes */100"),
            ("bytes */0", "-100", nil),
        ] as [(String, String, String?)])
    func aRangeOfTheSourceIsSeenAsARangeOfThePart(source: String, range: String, seen: String?) throws {
        let answer = head(206, ("Content-Range", source), ("ETag", "\"a\""), ("Repr-Digest", "sha-256=:AA==:"))
        let view = PartView.head(answer, of: try part(range))
        #expect(view.value("Content-Range") == seen)
        #expect(view.etag == "\"a\"" && view.value("Repr-Digest") == nil)
        #expect(PartView.head(answer, of: nil) == answer)
    }

    @Test func aWholeInPlaceOfAPartFailsUnlessItIsThePart() throws {
        func verdict(_ length: String?, _ range: String) throws -> HeadVerdict {
            let plan = ResumeRules.plan(kept: ResumeData(), part: try part(range))
            let fields = length.map { [HeaderField(name: "Content-Length", value: $0)] } ?? []
            let answer = PartView.head(ResponseHead(status: 200, fields: fields), of: plan.part)
            return ResumeRules.judge(answer, plan: plan, url: url, now: Timestamp(seconds: 0))
        }
        for (length, range) in [
            ("1000", "0-99"), ("1000", "500-"), (nil, "0-99"), ("100", "1-99"), ("101", "-100"), (nil, "-100"),
        ] {
            guard case .fail(let error) = try verdict(length, range) else {
                Issue.record("\(length ?? "-") is taken for \(range)")
                continue
            }
            #expect(error.reason == .rangeMismatch && !error.isRetriable)
        }
        let whole = BodyPlan(offset: 0, end: 100, total: 100)
        #expect(try verdict("100", "0-99") == .write(whole))
        #expect(try verdict("100", "0-500") == .write(whole))
        #expect(try verdict("100", "0-") == .write(whole))
        #expect(try verdict("100", "-100") == .write(whole))
        #expect(try verdict("100", "-500") == .write(whole))
    }

    /// RFC 9110 §13.1.5: a server answers `If-Range` for another version with the whole of the new one.
    @Test(arguments: ["500-599", "0-99", "-100"]) func aNewVersionOfTheSourceStartsThePartOver(range: String) throws {
        let kept = ResumeData(
            validators: Validators(etag: "\"a\""), totalLength: 100, segments: [Segment(start: 0, committed: 40)])
        func verdict(_ tag: String) throws -> HeadVerdict {
            let plan = ResumeRules.plan(kept: kept, part: try part(range))
            let answer = PartView.head(head(200, ("Content-Length", "1000"), ("ETag", tag)), of: plan.part)
            return ResumeRules.judge(answer, plan: plan, url: url, now: Timestamp(seconds: 0))
        }
        #expect(try verdict("\"b\"") == .startOver(.etagChanged))
        // The server does not know ranges any more: the next request, without kept bytes, fails.
        #expect(try verdict("\"a\"") == .startOver(.rangeIgnored))
    }

    /// A suffix keeps its length while its source grows, so that an equal length shows nothing.
    @Test func aSuffixIsContinuedOnlyUnderAStrongValidator() throws {
        func check(_ range: String, _ validators: Validators) throws -> RequestPlan.Guard {
            let kept = ResumeData(
                validators: validators, totalLength: 100, segments: [Segment(start: 0, committed: 40)])
            return ResumeRules.plan(kept: kept, allowsUnsafe: true, part: try part(range)).check
        }
        #expect(try check("500-599", Validators()) == .unsafe)
        #expect(try check("-100", Validators()) == .none)
        #expect(try check("-100", Validators(etag: "\"a\"")) == .etag("\"a\""))
    }

    @Test func aPartIsWrittenAndContinuedLikeAWhole() throws {
        let range = try part("500-599")
        func verdict(_ source: String, kept: ResumeData, _ accepted: StatusSet = StatusSet(200...200)) -> HeadVerdict {
            let plan = ResumeRules.plan(kept: kept, acceptedStatus: accepted, part: range)
            let answer = PartView.head(head(206, ("Content-Range", source), ("ETag", "\"a\"")), of: range)
            return ResumeRules.judge(answer, plan: plan, url: url, now: Timestamp(seconds: 0))
        }
        #expect(
            verdict("bytes 500-599/1000", kept: ResumeData()) == .write(BodyPlan(offset: 0, end: 100, total: 100)))
        let kept = ResumeData(
            validators: Validators(etag: "\"a\""), totalLength: 100, segments: [Segment(start: 0, committed: 40)])
        #expect(verdict("bytes 540-599/1000", kept: kept) == .write(BodyPlan(offset: 40, end: 100, total: 100)))
    }

    @Test func aWholeLargerThanAllowedFailsAtItsHead() {
        func verdict(_ length: Int64, kept: ResumeData = ResumeData()) -> HeadVerdict {
            let plan = ResumeRules.plan(kept: kept, maxSize: 1000)
            return ResumeRules.judge(
                head(200, ("Content-Length", "\(length)")), plan: plan, url: url, now: Timestamp(seconds: 0))
        }
        #expect(verdict(999) == .write(BodyPlan(offset: 0, end: 999, total: 999)))
        #expect(verdict(1000) == .write(BodyPlan(offset: 0, end: 1000, total: 1000)))
        guard case .fail(let error) = verdict(1001) else {
            Issue.record("1001 bytes are taken")
            return
        }
        #expect(error.reason == .tooLarge && !error.isRetriable && error.message.contains("1001"))
    }
}
