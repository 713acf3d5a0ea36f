import Testing
import XferCore
import XferModel
import XferTestSupport

/// tus 1.0.0 by the sections of its protocol. A source of 100 bytes is uploaded to `/files`.
@Suite struct TusConformanceTests {
    struct Answer: Sendable {
        var status: Int
        var fields: [String: String] = [:]
        var location: String?

        init(_ status: Int, _ fields: [String: String] = [:], at location: String? = nil) {
            (self.status, self.fields, self.location) = (status, fields, location)
        }
    }

    struct Subject: Sendable {
        var length: Int64 = 100
        /// An upload at `/u` that an earlier run began, and when it expires, in seconds after now.
        var kept: Int64?
        var expiresIn: Int64?
        var createsWithContent = false
        /// It is one of several that the server joins.
        var isPart = false
        var answers: [Answer]
        /// What is done at first, and after each answer.
        var course: [String]
    }

    private static let created = Answer(201, at: "/u")

    private static func offset(_ offset: Int64, _ status: Int = 204) -> Answer {
        Answer(status, ["Upload-Offset": "\(offset)"])
    }

    static let core: [ConformanceCase<Subject>] = [
        .same(
            "tus core-upload",
            Subject(
                answers: [created, offset(100)], course: ["POST /files 0..<0", "PATCH /u 0..<100", "complete"])),
        .same(
            "tus core-offset",
            Subject(
                answers: [created, offset(30), offset(100)],
                course: ["POST /files 0..<0", "PATCH /u 0..<100", "PATCH /u 30..<100", "complete"])),
        .same(
            "tus core-head",
            Subject(kept: 20, answers: [offset(70, 200)], course: ["HEAD /u", "PATCH /u 70..<100"])),
        .same("tus core-head-all", Subject(kept: 20, answers: [offset(100, 200)], course: ["HEAD /u", "complete"])),
        .same(
            "tus core-head-length",
            Subject(
                kept: 20, answers: [Answer(200, ["Upload-Offset": "70", "Upload-Length": "99"])],
                course: ["HEAD /u", "reject"])),
        .same(
            "tus core-head-404", Subject(kept: 20, answers: [Answer(404)], course: ["HEAD /u", "POST /files 0..<0"])),
        .same(
            "tus core-head-410", Subject(kept: 20, answers: [Answer(410)], course: ["HEAD /u", "POST /files 0..<0"])),
        .same("tus core-head-403", Subject(kept: 20, answers: [Answer(403)], course: ["HEAD /u", "fail"])),
        .same("tus core-no-offset", Subject(kept: 20, answers: [Answer(200)], course: ["HEAD /u", "reject"])),
        .same("tus core-offset-back", Subject(kept: 20, answers: [offset(19, 200)], course: ["HEAD /u", "reject"])),
        .same("tus core-offset-beyond", Subject(kept: 20, answers: [offset(101, 200)], course: ["HEAD /u", "reject"])),
        .same(
            "tus core-409",
            Subject(
                answers: [created, Answer(409), offset(40, 200)],
                course: ["POST /files 0..<0", "PATCH /u 0..<100", "HEAD /u", "PATCH /u 40..<100"])),
        .same(
            "tus core-415",
            Subject(answers: [created, Answer(415)], course: ["POST /files 0..<0", "PATCH /u 0..<100", "fail"])),
        .same(
            "tus core-423",
            Subject(
                answers: [created, Answer(423)], course: ["POST /files 0..<0", "PATCH /u 0..<100", "retry later"])),
        .same(
            "tus core-412",
            Subject(answers: [Answer(412, ["Tus-Version": "0.9.0"])], course: ["POST /files 0..<0", "reject"])),
        .same(
            "tus core-other-version",
            Subject(
                answers: [Answer(201, ["Tus-Resumable": "0.9.0"], at: "/u")], course: ["POST /files 0..<0", "reject"])),
    ]

    static let extensions: [ConformanceCase<Subject>] = [
        .same("tus creation-no-location", Subject(answers: [Answer(201)], course: ["POST /files 0..<0", "reject"])),
        .same("tus creation-413", Subject(answers: [Answer(413)], course: ["POST /files 0..<0", "reject"])),
        .same("tus creation-200", Subject(answers: [Answer(200, at: "/u")], course: ["POST /files 0..<0", "reject"])),
        .same("tus creation-empty", Subject(length: 0, answers: [created], course: ["POST /files 0..<0", "complete"])),
        .differs(
            "tus creation-defer-length", because: "a source is a file or bytes in memory, so that its length is known",
            Subject(answers: [], course: ["POST /files 0..<0"])),
        .same(
            "tus creation-with-upload",
            Subject(
                createsWithContent: true, answers: [Answer(201, ["Upload-Offset": "100"], at: "/u")],
                course: ["POST /files 0..<100", "complete"])),
        .same(
            "tus creation-with-upload-part",
            Subject(
                createsWithContent: true, answers: [Answer(201, ["Upload-Offset": "60"], at: "/u")],
                course: ["POST /files 0..<100", "PATCH /u 60..<100"])),
        .same(
            "tus creation-with-upload-unknown",
            Subject(
                createsWithContent: true, answers: [created], course: ["POST /files 0..<100", "PATCH /u 0..<100"])),
        .same(
            "tus expiration-over", Subject(kept: 20, expiresIn: -1, answers: [], course: ["POST /files 0..<0"])),
        .same(
            "tus concatenation-partial",
            Subject(
                isPart: true, answers: [created, offset(100)],
                course: ["POST /files 0..<0", "PATCH /u 0..<100", "complete"])),
        .same("tus expiration-ahead", Subject(kept: 20, expiresIn: 60, answers: [], course: ["HEAD /u"])),
    ]

    @Test(arguments: core + extensions) func anUploadGoesAsTheProtocolSays(test: ConformanceCase<Subject>) {
        let subject = test.subject
        let kept = subject.kept.map {
            UploadResumeData(
                url: .path("/u"), offset: $0,
                expiresAt: subject.expiresIn.map { Timestamp(seconds: 1_700_000_000 + $0) })
        }
        var script = UploadScript(
            TusUpload(
                url: .path("/files"), length: subject.length, metadata: "", resumeData: kept,
                createsWithContent: subject.createsWithContent, isPart: subject.isPart), recorded: kept)
        var actions = [script.start()]
        for answer in subject.answers {
            actions.append(script.answer(answer.status, answer.fields, at: answer.location.map { .path($0) }))
        }
        #expect(actions.map(Self.text) == subject.course)
        for action in actions where action.request != nil {
            #expect(action.header("Tus-Resumable") == "1.0.0")
            guard let request = action.request else { continue }
            #expect(action.header("Upload-Length") == (request.method == .post ? "\(subject.length)" : nil))
            let isPart = subject.isPart && request.method == .post
            #expect(action.header("Upload-Concat") == (isPart ? "partial" : nil))
            let hasContent = request.content?.isEmpty == false
            #expect(action.header("Content-Type") == (hasContent ? "application/offset+octet-stream" : nil))
        }
    }

    @Test func terminationIsADeleteOfTheUpload() {
        let request = TusUpload.cancellation(of: UploadResumeData(url: .path("/u")))
        #expect(request.method == .delete && request.url == .path("/u"))
    }

    private static func text(_ action: UploadAction) -> String {
        if action.isRejection { return "reject" }
        if let error = action.error { return error.isRetriable ? "retry later" : "fail" }
        if case .completed = action { return "complete" }
        return action.summary
    }
}
