import Testing
import XferCore
import XferModel
import XferTestSupport

/// curl's and wget2's tests of continued downloads.
@Suite struct ResumeConformanceTests {
    struct Subject: Sendable {
        var method = HTTPMethod.get
        /// Bytes that are kept.
        var kept: Int64 = 0
        /// The length of the whole, as far as an earlier answer said it.
        var total: Int64?
        /// The `Range` field of the request.
        var asked: String?
        var status = 200
        var fields: [String: String] = [:]
        var outcome: String
    }

    private static let tag = ["ETag": "\"v\""]

    static let cases: [ConformanceCase<Subject>] = [
        .differs(
            "curl 33",
            because: "a partial PUT needs a server known to support it (RFC 9110 §14.5); tus continues uploads",
            Subject(
                method: .put, kept: 50, total: 100, asked: nil, status: 200, fields: ["Content-Length": "100"],
                outcome: "replace")),
        .same(
            "curl 38",
            Subject(kept: 78, total: 500, asked: "bytes=78-", status: 200, outcome: "suspect")),
        .same(
            "curl 92",
            Subject(
                kept: 87, asked: "bytes=87-", status: 416, fields: tag.with("Content-Range", "bytes */87"),
                outcome: "complete")),
        .same(
            "curl 1042",
            Subject(
                kept: 200, asked: "bytes=200-", status: 200, fields: ["Content-Length": "100"], outcome: "suspect")),
        .same(
            "curl 1043",
            Subject(
                kept: 40, total: 100, asked: "bytes=40-", status: 206,
                fields: tag.with("Content-Range", "bytes 40-99/100"), outcome: "write from 40")),
        .same(
            "wget2 test-c", Subject(asked: nil, status: 200, fields: ["Content-Length": "9"], outcome: "write from 0")),
        .same(
            "wget2 test-c-full",
            Subject(
                kept: 43, asked: "bytes=43-", status: 416, fields: tag.with("Content-Range", "bytes */43"),
                outcome: "complete")),
        .same(
            "wget2 test-c-partial",
            Subject(
                kept: 17, total: 43, asked: "bytes=17-", status: 206,
                fields: tag.with("Content-Range", "bytes 17-42/43"), outcome: "write from 17")),
        .differs(
            "wget2 test-c-shorter", because: "bytes beyond the server's file are of another version, not of this one",
            Subject(
                kept: 60, asked: "bytes=60-", status: 416, fields: tag.with("Content-Range", "bytes */43"),
                outcome: "start over")),
    ]

    @Test(arguments: cases) func aDownloadContinuesAsTheSuiteExpects(test: ConformanceCase<Subject>) {
        let subject = test.subject
        let kept = ResumeData(
            validators: Validators(etag: subject.kept > 0 ? "\"v\"" : nil), totalLength: subject.total,
            segments: subject.kept > 0 ? [Segment(start: 0, committed: subject.kept)] : [])
        let plan = ResumeRules.plan(kept: kept, method: subject.method)
        #expect(plan.headers.firstValue(named: "Range") == subject.asked)
        let head = ResponseHead(
            status: subject.status, fields: subject.fields.map { HeaderField(name: $0.key, value: $0.value) })
        let url = HTTPURL(scheme: .http, host: "files.test", port: 80, target: "/f")
        let verdict = ResumeRules.judge(head, plan: plan, url: url, now: Timestamp(seconds: 0))
        #expect(Self.text(verdict) == subject.outcome)
    }

    private static func text(_ verdict: HeadVerdict) -> String {
        switch verdict {
        case .write(let body): "write from \(body.offset)"
        case .restart: "replace"
        case .complete: "complete"
        case .startOver: "start over"
        case .retryPlainRange: "ask again"
        case .proveCondition: "prove the condition"
        case .suspect: "suspect"
        case .notModified: "not modified"
        case .fail(let error): "fail with \(error.reason.rawValue)"
        }
    }
}

extension [String: String] {
    fileprivate func with(_ name: String, _ value: String) -> Self { merging([name: value]) { $1 } }
}
