import Testing
import XferCore
import XferModel

/// Every kind of answer in place of the rest of a file: what is taken, what waits, and what repetition confirms.
@Suite struct SuspectRulesTests {
    private static let url = HTTPURL(scheme: .http, host: "example.org", port: 80, target: "/big.iso")
    private static let file = "application/octet-stream"
    private static let kinds: [(type: String?, kind: MediaKind?)] = [
        (nil, nil), (file, .file), ("application/zip", .file), ("image/svg+xml", .file), ("text/html", .page),
        ("application/xhtml+xml", .page), ("application/json", .data), ("application/problem+json", .data),
        ("text/xml", .data), ("application/xml", .data), ("text/plain", .text), ("text/csv", .text),
        ("application/vnd.wap.xhtml+xml", .page), ("text/vnd.wap.wml", .page), ("application/x-json", .data),
        ("text/x-json", .data), ("application/x-ndjson", .data), ("application/json-seq", .data),
        ("application/geo+json-seq", .data), ("application/yaml", .data), ("text/x-yaml", .data),
        ("application/openapi+yaml", .data), ("application/x-www-form-urlencoded", .data),
        ("application/javascript", .text), ("text/javascript", .text), ("application/x-javascript", .text),
        ("message/http", .text), ("model/gltf+json", .file), ("application/x-tar", .file), ("application", .file),
        ("application/", .file), ("x-json/data", .file), ("", .file),
    ]

    /// 500 of 1,000 bytes are kept, under a strong tag.
    private static func plan(
        type: String? = file, doubt: AnswerDoubt? = nil, validators: Validators = Validators(etag: "\"a\""),
        committed: Int64 = 500, total: Int64? = 1000, source: HTTPURL? = url
    ) -> RequestPlan {
        var kept = ResumeData(
            validators: validators, totalLength: total, segments: [Segment(start: 0, committed: committed)])
        kept.mediaType = type
        kept.doubt = doubt
        return ResumeRules.plan(kept: kept, source: source)
    }

    private static func head(_ status: Int = 200, type: String?, length: Int64? = 1000, etag: String? = nil)
        -> ResponseHead
    {
        let fields = [("Content-Type", type), ("Content-Length", length.map { "\($0)" }), ("ETag", etag)]
        return ResponseHead(
            status: status,
            fields: fields.compactMap { name, value in value.map { HeaderField(name: name, value: $0) } })
    }

    private static func judge(_ head: ResponseHead, _ plan: RequestPlan = plan()) -> HeadVerdict {
        ResumeRules.judge(head, plan: plan, url: url, now: Timestamp(seconds: 0))
    }

    /// The verdicts on the same answer, as often as it takes to get another verdict than `suspect`, or 50 of them.
    private static func verdicts(on head: ResponseHead, type: String? = file) -> [HeadVerdict] {
        var doubt: AnswerDoubt?
        var verdicts: [HeadVerdict] = []
        for _ in 0..<50 {
            let verdict = judge(head, plan(type: type, doubt: doubt))
            verdicts.append(verdict)
            guard case .suspect(let next, _) = verdict else { break }
            doubt = next
        }
        return verdicts
    }

    @Test func everyMediaTypeHasItsKind() {
        for (type, kind) in Self.kinds { #expect(MediaKind(type) == kind, "\(type ?? "none")") }
    }

    /// Each kind in place of each other one, with another tag: only pages, data and text are doubted, and only in place of
    /// another kind.
    @Test func anAnswerOfAnotherKindIsDoubted() {
        for (known, knownKind) in Self.kinds {
            for (now, kind) in Self.kinds {
                let reason = SuspectRules.reason(for: Self.head(type: now, etag: "\"b\""), plan: Self.plan(type: known))
                let isDoubted =
                    kind == .page && knownKind != .page
                    || knownKind != nil && kind != knownKind && (kind == .data || kind == .text)
                #expect((reason != nil) == isDoubted, "\(known ?? "none") → \(now ?? "none")")
            }
        }
    }

    @Test(arguments: [
        head(type: "text/html", length: 2040), head(type: "text/html; charset=utf-8", length: nil),
        head(type: "text/html", length: 1_000_000, etag: "\"b\""), head(type: file, length: 0, etag: "\"b\""),
        head(204, type: nil, length: nil, etag: "\"b\""), head(202, type: file, etag: "\"b\""),
        head(205, type: nil, length: nil, etag: "\"b\""), head(type: "application/json", length: 4000),
        head(type: "text/plain", length: nil),
    ]) func whatIsNoFileNeverReplacesTheKeptBytes(head: ResponseHead) {
        let verdicts = Self.verdicts(on: head)
        #expect(verdicts.count == 50)
        for case .suspect(_, let error) in verdicts {
            #expect(error.reason == .unexpectedAnswer && error.isRetriable)
        }
    }

    @Test func theErrorSaysWhatCameInPlaceOfTheFile() {
        guard case .suspect(_, let error) = Self.judge(Self.head(type: "text/html")) else {
            Issue.record("it is taken")
            return
        }
        #expect(error.message == "example.org answered with a web page instead of the file")
    }

    /// A shorter version of the file, one of unknown length, and one of another kind that has a validator.
    @Test(arguments: [
        head(type: file, length: nil), head(type: file, length: nil, etag: "\"b\""), head(type: nil, length: nil),
        head(type: file, length: 499), head(type: file, length: 499, etag: "\"b\""),
        head(type: "application/json", etag: "\"b\""), head(type: "text/plain", length: 10, etag: "\"b\""),
    ]) func aNewVersionIsConfirmedByTheThirdEqualAnswerInARow(head: ResponseHead) {
        let verdicts = Self.verdicts(on: head)
        #expect(verdicts.count == SuspectRules.sightings)
        guard case .restart = verdicts.last else {
            Issue.record("\(verdicts)")
            return
        }
    }

    /// One byte below, at, and above what is kept.
    @Test(arguments: [Int64(499), 500, 501]) func onlyAnAnswerShorterThanTheKeptBytesIsDoubted(length: Int64) {
        let reason = SuspectRules.reason(for: Self.head(type: Self.file, length: length), plan: Self.plan())
        #expect(reason == (length < 500 ? .shorter(kept: 500, now: length) : nil))
    }

    /// With and without a known length, in the answer to a range and to a request for the whole.
    @Test(arguments: [nil, 1000] as [Int64?], [Validators(etag: "\"a\""), Validators()])
    func anAnswerOfUnknownLengthIsDoubtedOnlyIfTheKeptLengthIsKnown(total: Int64?, validators: Validators) {
        let plan = Self.plan(validators: validators, total: total)
        let verdict = Self.judge(Self.head(type: Self.file, length: nil, etag: "\"b\""), plan)
        if total == nil {
            guard case .restart = verdict else {
                Issue.record("\(verdict)")
                return
            }
        } else {
            guard case .suspect(_, let error) = verdict else {
                Issue.record("\(verdict)")
                return
            }
            #expect(error.message == "example.org answered with a body of unknown length instead of the file")
        }
    }

    /// Neither mirrors nor a new URL of the task confirm what another source has answered. Where a redirect has led says
    /// nothing.
    @Test func theAnswersOfOtherSourcesDoNotConfirmEachOther() {
        let answer = Self.head(type: Self.file, length: 499)
        func doubt(of source: HTTPURL, after doubt: AnswerDoubt?, from url: HTTPURL = Self.url) -> AnswerDoubt? {
            let plan = Self.plan(doubt: doubt, source: source)
            guard
                case .suspect(let next, _) = ResumeRules.judge(answer, plan: plan, url: url, now: Timestamp(seconds: 0))
            else { return nil }
            return next
        }
        let others = [
            HTTPURL(scheme: .http, host: "mirror.example", port: 80, target: "/big.iso"),
            HTTPURL(scheme: .http, host: "example.org", port: 8080, target: "/big.iso"),
            HTTPURL(scheme: .http, host: "example.org", port: 80, target: "/other/big.iso"),
        ]
        let second = doubt(of: Self.url, after: doubt(of: Self.url, after: nil))
        #expect(second?.count == 2)
        for other in others { #expect(doubt(of: other, after: second)?.count == 1, "\(other)") }
        #expect(doubt(of: Self.url, after: second, from: others[0]) == nil, "confirmed")
    }

    @Test func anotherAnswerInBetweenBeginsTheCountAgain() {
        let answers = [499, 499, 498, 499, 499, 499].map { Self.head(type: Self.file, length: $0) }
        var doubt: AnswerDoubt?
        var counts: [Int] = []
        for answer in answers {
            guard case .suspect(let next, _) = Self.judge(answer, Self.plan(doubt: doubt)) else { break }
            counts.append(next.count)
            doubt = next
        }
        #expect(counts == [1, 2, 1, 1, 2])
    }

    @Test func anAnswerThatGoesOnClearsTheDoubt() {
        let plan = Self.plan(doubt: AnswerDoubt(signature: "x", count: 2))
        let head = ResponseHead(
            status: 206,
            fields: [
                HeaderField(name: "Content-Range", value: "bytes 500-999/1000"),
                HeaderField(name: "ETag", value: "\"a\""),
            ])
        let verdict = Self.judge(head, plan)
        let kept = ResumeRules.resumeData(after: head, verdict: verdict, plan: plan, finalURL: Self.url, sent: [])
        #expect(verdict == .write(BodyPlan(offset: 500, end: 1000, total: 1000)))
        #expect(kept.doubt == nil && kept.mediaType == Self.file)
    }

    /// A doubt never comes up where nothing is at stake, nor in the answer to what a tag proves.
    @Test func nothingIsDoubtedWithoutKeptBytesOrUnderTheKeptTag() {
        let page = Self.head(type: "text/html", length: 9)
        #expect(Self.judge(page, ResumeRules.plan(kept: ResumeData())) == .write(BodyPlan(offset: 0, end: 9, total: 9)))
        guard case .write = Self.judge(Self.head(type: "text/html", etag: "\"a\"")) else {
            Issue.record("the same version is doubted")
            return
        }
    }

    /// Without a validator the whole is asked for, and a page in its place is as wrong.
    @Test func aPageIsDoubtedAlsoWhereNothingCouldBeContinued() {
        guard case .suspect = Self.judge(Self.head(type: "text/html"), Self.plan(validators: Validators())) else {
            Issue.record("it is taken")
            return
        }
    }

    @Test func fieldsOfAnyLengthAndCountsOfAnySizeAreCompared() {
        let long = String(repeating: "x", count: 100_000)
        let head = Self.head(type: Self.file, length: 1, etag: "\"\(long)\"")
        guard case .suspect(let doubt, _) = Self.judge(head) else {
            Issue.record("it is taken")
            return
        }
        #expect(doubt.signature.utf8.count < 2000)
        let full = AnswerDoubt(signature: doubt.signature, count: .max)
        guard case .restart = Self.judge(head, Self.plan(doubt: full)) else {
            Issue.record("a count overflows")
            return
        }
    }

    // MARK: Names

    @Test(arguments: [
        "big.iso", "a.nc", "x.tar.gz", "DATA.CSV", "a.h5", "a.pdf", "report (1).iso", "a.7z",
    ]) func theseNamesAreHardlyWebPages(name: String) {
        #expect(MediaKind.isHardlyPage(name))
        let task = Self.specification("/f")
        #expect(task.warning(aboutType: "text/html; charset=utf-8", named: name) != nil)
        #expect(task.warning(aboutType: Self.file, named: name) == nil)
        #expect(task.warning(aboutType: nil, named: name) == nil)
    }

    private static func specification(_ target: String, name: String? = nil) -> TaskSpecification {
        let url = HTTPURL(scheme: .http, host: "a.example", port: 80, target: target)
        var specification = TaskSpecification(
            owner: Owner(uid: 1), request: TransferRequest(url: url), destination: Destination(directory: "/d"))
        specification.destination.name = name
        return specification
    }

    /// A redirect to a sign-in page names the file after the page.
    @Test(
        arguments: [
            ("/big.iso", nil, "login", "in place of big.iso"),
            ("/big.iso?x=/a.html", nil, "login", "in place of big.iso"),
            ("/big.iso", nil, nil, "in place of big.iso"), ("/big.iso", nil, "big (1).iso", "as big (1).iso"),
            ("/f", "a.iso", nil, "as a.iso"), ("/big.iso", "page.html", "page.html", nil), ("/f", nil, "login", nil),
        ] as [(String, String?, String?, String?)])
    func aWebPageIsJudgedByTheRequestedURLToo(target: String, chosen: String?, published: String?, text: String?) {
        let warning = Self.specification(target, name: chosen).warning(aboutType: "text/html", named: published)
        #expect(warning == text.map { "the server sent a web page (text/html) \($0)" })
    }

    @Test(arguments: [
        "", ".", "index.html", "a.HTM", "page", ".iso", "download.php", "v1.2", "example.org", "a.b c",
        "a.verylongword",
        "a.", "ä.ö",
    ]) func theseNamesMayBeWebPages(name: String) {
        #expect(!MediaKind.isHardlyPage(name))
    }
}
