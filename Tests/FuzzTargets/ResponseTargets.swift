import XferFiles
import XferModel

@testable import XferCore
@testable import XferCurl

/// What a server answers.
extension FuzzTarget {
    private static let url = HTTPURL(scheme: .https, host: "origin.example", port: 443, target: "/file")
    /// Clocks a response may be judged by: an ordinary one, and the ends of what the type holds.
    private static let clocks = [
        Timestamp(microseconds: 1_700_000_000_000_000), Timestamp(microseconds: .min), Timestamp(microseconds: .max),
    ]

    /// The heads in lines as libcurl hands them over, interim ones first.
    private static func heads(in bytes: [UInt8]) -> [ResponseHead] {
        var parser = HeadParser()
        var heads: [ResponseHead] = []
        for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            switch line.withUnsafeBytes({ parser.onLine($0) }) {
            case .informational(let head), .head(let head): heads.append(head)
            default: break
            }
        }
        return heads
    }

    private static let headSeeds = [
        "HTTP/1.1 200 OK\r\nETag: \"1\"\r\nContent-Length: 100000\r\nDate: Tue, 14 Nov 2023 22:13:20 GMT\r\n"
            + "Last-Modified: Tue, 14 Nov 2023 22:13:20 GMT\r\nCache-Control: max-age=2147483648, private\r\n\r\n",
        "HTTP/1.1 206 Partial Content\r\nETag: \"1\"\r\n"
            + "Content-Range: bytes 0-9223372036854775806/9223372036854775807\r\n\r\n",
        "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/2 206\r\nETag: \"1\"\r\nContent-Range: bytes 50000-99999/100000\r\n"
            + "Content-Length: 50000\r\n\r\n",
        "HTTP/1.1 416 \r\nContent-Range: bytes */100000\r\n\r\n",
        "HTTP/1.1 503 x\r\nRetry-After: Fri, 31 Dec 9999 23:59:59 GMT\r\nAge: 99999999999999999999\r\n"
            + "Expires: Thu, 01 Jan 1970 00:00:00 GMT\r\n\r\n",
        "HTTP/1.1 206 x\r\nContent-Range: bytes 0-4/10\r\nContent-Length: 0x5\r\nHTTP/x: 200\r\n\r\n",
        "HTTP/1.1 304 Not Modified\r\nVary: *\r\nContent-Encoding: gzip\r\n folded\r\n\r\n",
    ]

    static let responseHeads = FuzzTarget("response-heads", seeds: headSeeds) { bytes in
        for head in heads(in: bytes) {
            for now in clocks {
                judge(head, at: now)
                considerKeeping(head, at: now)
                _ = ResponseRules.failure(head, from: url, now: now)
            }
            _ = (head.mediaType, head.contentEncoding, head.validators, head.isRedirect, head.announcedDigests)
            _ = head.value("Content-Disposition").flatMap { FileName.fromContentDisposition($0) }
        }
    }

    /// Every verdict is one that the engine can carry out: offsets in order, within the file.
    private static func judge(_ head: ResponseHead, at now: Timestamp) {
        let validators = Validators(
            etag: "\"1\"", lastModified: "Tue, 14 Nov 2023 22:13:20 GMT", date: "Tue, 14 Nov 2023 22:13:30 GMT")
        let lengths: [Int64?] = [nil, 100_000, .max]
        for total in lengths {
            for segment in [
                Segment(start: 0, committed: 0), Segment(start: 0, committed: 50_000),
                Segment(start: 10_000, end: 60_000, committed: 20_000),
            ] {
                let kept = ResumeData(
                    validators: validators, totalLength: total, contentEncoding: nil, finalURL: url,
                    selectingHeaders: [], segments: [segment])
                let plan = ResumeRules.plan(kept: kept, segment: segment)
                let verdict = ResumeRules.judge(head, plan: plan, url: url, now: now)
                _ = ResumeRules.resumeData(after: head, verdict: verdict, plan: plan, finalURL: url, sent: [])
                switch verdict {
                case .write(let body), .restart(let body, _):
                    precondition(body.skip >= 0 && body.offset >= 0, "\(body)")
                    if let end = body.end { precondition(end >= body.offset, "\(body)") }
                    if let end = body.end, let total = body.total { precondition(end <= total, "\(body)") }
                    for offset in [body.offset, body.end ?? .max, body.goal ?? .max, .max] {
                        for skipped in [0, body.skip, .max] {
                            _ = ResumeRules.judgeEnd(of: body, at: offset, skipped: skipped, host: "h")
                        }
                    }
                default: break
                }
            }
        }
    }

    private static func considerKeeping(_ head: ResponseHead, at now: Timestamp) {
        for requested in clocks {
            let response = StoredResponse(
                url: url, finalURL: url, status: head.status, fields: Storability.keptFields(of: head.fields),
                requestTime: requested, responseTime: now)
            let freshness = Freshness(of: response, at: clocks[0])
            _ = (freshness.isFresh, Validation.conditions(for: response))
            _ = Validation.renewed(
                response, by: head, from: url, key: nil, requestTime: requested, responseTime: now)
            _ = response.head(usedAt: now)
        }
        _ = (head.framing, head.wholeLength)
        _ = Storability.combined(head, length: .max, isCombined: true)
    }

    static let contentRange = FuzzTarget(
        text: "content-range",
        seeds: [
            "bytes 0-499/1234", "bytes */9223372036854775807", "bytes 0-9223372036854775806/*", "bytes 5-4/3", "bytes",
        ]
    ) { text in
        guard case .satisfied(let first, let last, let complete)? = ContentRange(parsing: text) else { return }
        precondition(first >= 0 && last >= first && last < Int64.max, text)
        if let complete { precondition(last < complete, text) }
    }

    static let contentDisposition = FuzzTarget(
        text: "content-disposition",
        seeds: [
            #"attachment; filename="a b.txt"; filename*=UTF-8''%e2%82%ac.txt"#, #"inline; filename="..\\..\\x\"y""#,
            "attachment; filename*=iso-8859-1'en'%A3", #"filename="-rf""#, "; ;=;filename=.xfer-1.part",
        ]
    ) { text in
        guard let name = FileName.fromContentDisposition(text) else { return }
        precondition(!name.isEmpty && name.utf8.count <= 255 && name != "." && name != "..", name)
        precondition(!name.utf8.contains { $0 == UInt8(ascii: "/") || $0 < 0x20 || $0 == 0x7f }, name)
    }

    static let structuredFields = FuzzTarget(
        text: "structured-fields",
        seeds: [
            "?1", "-999999999999999", "sha-256=:AAAA:;q=1, b=(1 \"a\\\"\" tok/en);x, c", "@1700000000", "%\"f%c3%bc\"",
            "1.25",
        ]
    ) { text in
        let fields = [HeaderField(name: "A", value: text)]
        _ = (StructuredField.item("a", in: fields), StructuredField.dictionary("a", in: fields))
        _ = (StructuredField.integer("a", in: fields), StructuredField.boolean("a", in: fields))
        _ = CacheDirectives([HeaderField(name: "Cache-Control", value: text)]).seconds("max-age")
    }

    static let digests = FuzzTarget(
        text: "digests",
        seeds: [
            "sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:, md5=:1B2M2Y8AsgTpgAmY7PhCfg==:",
            "SHA-256=47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=,MD5=1B2M2Y8AsgTpgAmY7PhCfg==", "sha=::",
        ]
    ) { text in
        for name in ["Repr-Digest", "Content-Digest", "Digest", "Content-MD5"] {
            for status in [200, 206] {
                let head = ResponseHead(status: status, fields: [HeaderField(name: name, value: text)])
                for digest in head.announcedDigests {
                    precondition(digest.bytes.count == digest.algorithm.byteCount, text)
                }
            }
        }
    }

    /// What is made of a server's fields, and of lines of files.
    static let cookies = FuzzTarget(
        text: "cookies",
        seeds: [
            "a=b; Max-Age=9223372036854775807; Domain=.origin.example; Path=/; Secure; HttpOnly",
            "a=b; Expires=Fri, 31 Dec 9999 23:59:59 GMT", "=; Domain=..; Max-Age=-1",
        ]
    ) { text in
        let url = HTTPURL(scheme: .https, host: "www.origin.example", port: 443, target: "/a/b?c")
        var cookies = CookieStorage()
        cookies.receive([HeaderField(name: "Set-Cookie", value: text)], from: url, at: 5) { !$0.contains(".") }
        cookies.add(lines: [text])
        let lines = cookies.lines
        // What the jar says can be put into one again.
        var again = CookieStorage()
        again.add(lines: lines)
        precondition(again.lines == lines)
        precondition(cookies.field(for: url, at: 5)?.utf8.count ?? 0 <= CookieStorage.longestField)
    }

    static let dates = FuzzTarget(
        text: "dates",
        seeds: [
            "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
            "1994-11-06T08:49:37.999999+23:59", "9999-12-31T23:59:60Z", "-290308-12-21T19:59:05Z",
        ]
    ) { text in
        if let date = HTTPDate.parse(text) { _ = date.description }
        if let date = Timestamp(rfc3339: text) {
            // To the millisecond, and no year of five digits can be read.
            let again = Timestamp(rfc3339: date.description)
            precondition(again.map { $0.description == date.description } ?? true, "\(text): \(date)")
        }
        // Whatever eight bytes say is a time that can be shown.
        var bits: UInt64 = 0
        for byte in text.utf8.prefix(8) { bits = bits << 8 | UInt64(byte) }
        _ = Timestamp(rawValue: Int64(bitPattern: bits)).description
    }

    // MARK: Uploads

    private static let uploadSeeds = [
        "HTTP/1.1 201 Created\r\nLocation: /1\r\nUpload-Offset: 0\r\nTus-Resumable: 1.0.0\r\n\r\n"
            + "HTTP/1.1 204 \r\nUpload-Offset: 1000\r\nTus-Resumable: 1.0.0\r\nUpload-Length: 100000\r\n\r\n",
        "HTTP/1.1 104 \r\nLocation: /1\r\nUpload-Draft-Interop-Version: 6\r\n"
            + "Upload-Limit: max-size=999999999999999, min-append-size=1, max-append-size=10, expires=999999999999999\r\n"
            + "\r\nHTTP/1.1 204 \r\nUpload-Offset: 10\r\nUpload-Complete: ?0\r\n\r\n",
        "HTTP/1.1 413 \r\n\r\nHTTP/1.1 409 \r\nUpload-Offset: 9223372036854775807\r\n"
            + "Upload-Expires: Fri, 31 Dec 9999 23:59:59 GMT\r\n\r\n",
    ]

    static let tus = FuzzTarget("tus", seeds: uploadSeeds) { bytes in
        upload(bytes) { TusUpload(url: url, length: $0, metadata: "", resumeData: $1) }
    }

    static let resumableUpload = FuzzTarget("resumable-upload", seeds: uploadSeeds) { bytes in
        upload(bytes) {
            ResumableUpload(method: .post, url: url, length: $0, mayRepeat: $0 > 1000, resumeData: $1)
        }
    }

    /// Every head is the answer to whatever the machine asked last; what it asks for stays within the content.
    private static func upload(_ bytes: [UInt8], _ make: (Int64, UploadResumeData?) -> some UploadMachine) {
        let kept = UploadResumeData(url: url, offset: 500, expiresAt: nil, largestAppend: nil)
        for length in [0, 1, 100_000, Int64.max] {
            for resumeData in [nil, length > 500 ? kept : nil] {
                var machine = make(length, resumeData)
                var step = machine.onStart(at: clocks[0])
                for head in heads(in: bytes) {
                    guard case .send(let request) = step.action else { break }
                    if let content = request.content {
                        precondition(content.lowerBound >= 0 && content.upperBound <= length, "\(content) of \(length)")
                    }
                    if head.status < 200 {
                        let interim = machine.onInterim(head, location: url, at: clocks[0])
                        switch interim.action {
                        case .goOn: continue
                        case .interrupt: step = machine.onInterrupted()
                        default: step = interim
                        }
                    } else {
                        step = machine.onAnswer(head, location: url, at: clocks[0])
                    }
                }
            }
        }
    }
}
