import JSONRPC
import XferManager
import XferModel
import XferProtocol

/// `GET /files/ID`: a task's bytes like those of `task.read`, with `Range`.
///
/// All types are sent as bytes to be saved: a downloaded page must not run as a page of the daemon.
struct FileRoute: Sendable {
    let bytes: ByteReader
    let service: DaemonService

    static let prefix = "/files/"

    var route: HTTPRoute { HTTPRoute(below: Self.prefix, respond: respond) }

    private func respond(_ request: HTTPRequest, _ connection: RPCConnection) async -> HTTPAnswer {
        guard let id = Int64(request.path.dropFirst(Self.prefix.count), radix: 10), id > 0 else {
            return .text("expected \(Self.prefix)ID with the ID of a task\n", status: 404)
        }
        do {
            let principal = try service.caller(connection).principal
            let source = ByteSource(bytes: bytes, id: TaskID(id), principal: principal)
            let first = try await source.page(at: 0, atMost: 1)
            return answer(source, first, request)
        } catch {
            let failure = ErrorAnswers.answer(to: error)
            let status =
                switch ErrorCode(rawValue: Int64(clamping: failure.code)) {
                case .notFound: 404
                case .permissionDenied: 403
                default: 409
                }
            return .text("\(failure.message)\n", status: status)
        }
    }

    private func answer(_ source: ByteSource, _ first: BytePage, _ request: HTTPRequest) -> HTTPAnswer {
        let isWhole = first.state.isTerminal || first.state == .staged
        var headers: [(name: String, value: String)] = [
            ("Accept-Ranges", "bytes"), ("Cache-Control", "no-store"),
            ("Content-Disposition", AttachmentName.field(first.fileName)), ("X-Content-Type-Options", "nosniff"),
            ("Content-Security-Policy", "sandbox"),
        ]
        let tag = first.version.map { "\"\($0)\"" }
        if let tag { headers.append(("ETag", tag)) }
        // A range of another version would be joined to bytes of this one (RFC 9110 §13.1.5).
        let isSame = request.header("if-range").map { $0 == tag } ?? true
        let range = isSame ? request.header("range").map { ByteRangeRequest($0, length: first.length) } : nil
        let total = isWhole ? String(first.length) : "*"
        switch range ?? .all {
        case .all:
            guard isWhole else {
                return .text(
                    "the file is not complete yet; request the received bytes with Range: bytes=0-\n", status: 409)
            }
            return source.answer(200, headers, 0..<first.length, version: first.version)
        case .stretch(let stretch):
            headers.append(("Content-Range", "bytes \(stretch.lowerBound)-\(stretch.upperBound - 1)/\(total)"))
            return source.answer(206, headers, stretch, version: first.version)
        case .unsatisfiable:
            var answer = HTTPAnswer.text("there are \(first.length) bytes\n", status: 416)
            answer.headers = [("Content-Range", "bytes */\(first.length)")]
            return answer
        }
    }
}

/// The bytes that a `Range` field requests (RFC 9110 §14.2).
enum ByteRangeRequest: Hashable, Sendable {
    /// All bytes: the field has another unit, several ranges or no valid form, and is ignored.
    case all
    case stretch(Range<Int64>)
    /// No byte of the range exists.
    case unsatisfiable

    init(_ field: String, length: Int64) {
        self = .all
        guard let equals = field.firstIndex(of: "="), field[..<equals].lowercased() == "bytes" else { return }
        let parts = field[field.index(after: equals)...].split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return }
        let numbers = parts.map { part in
            part.utf8.allSatisfy { (48...57).contains($0) } ? Int64(part, radix: 10) : nil
        }
        switch (parts[0].isEmpty, parts[1].isEmpty, numbers[0], numbers[1]) {
        case (false, true, let start?, _):
            self = start < length ? .stretch(start..<length) : .unsatisfiable
        case (false, false, let start?, let last?) where start <= last:
            self = start < length ? .stretch(start..<min(length, last.addingSaturated(1))) : .unsatisfiable
        case (true, false, _, let count?):
            self = count > 0 && length > 0 ? .stretch(max(0, length - count)..<length) : .unsatisfiable
        default: break
        }
    }
}

/// The bytes of one version of a task's file, page by page.
private struct ByteSource: Sendable {
    let bytes: ByteReader
    let id: TaskID
    let principal: Principal

    /// The number of bytes that are read at a time.
    private static let pageLength: Int64 = 256 << 10

    func page(at offset: Int64, atMost length: Int64) async throws -> BytePage {
        try await bytes.read(id, offset: offset, length: Int(clamping: length), for: principal)
    }

    func answer(
        _ status: Int, _ headers: [(name: String, value: String)], _ stretch: Range<Int64>, version: String?
    ) -> HTTPAnswer {
        HTTPAnswer(
            status: status, contentType: "application/octet-stream",
            headers: headers, body: .stream(pages(stretch, version), length: stretch.upperBound - stretch.lowerBound))
    }

    private func pages(_ stretch: Range<Int64>, _ version: String?) -> AsyncThrowingStream<[UInt8], any Error> {
        let next = NextPage(offset: stretch.lowerBound)
        return AsyncThrowingStream {
            let offset = await next.offset
            guard offset < stretch.upperBound else { return nil }
            let page = try await page(at: offset, atMost: min(Self.pageLength, stretch.upperBound - offset))
            // Of a version that is gone, or a file that was cut, no byte follows: the answer ends early, which clients
            // see.
            guard page.version == version, !page.bytes.isEmpty else { throw FileChanged() }
            await next.advance(by: Int64(page.bytes.count))
            return page.bytes
        }
    }

    private struct FileChanged: Error, CustomStringConvertible {
        var description: String { "the bytes have been replaced by another version" }
    }

    /// The beginning of the next page; one Swift task at a time reads pages.
    private actor NextPage {
        private(set) var offset: Int64

        init(offset: Int64) { self.offset = offset }

        func advance(by count: Int64) { offset += count }
    }
}

/// Writes `Content-Disposition` of a file that is to be saved (RFC 6266, RFC 8187).
enum AttachmentName {
    /// The field's value. Names are at most 255 bytes long, as files' names are.
    static func field(_ name: String?) -> String {
        guard let name, !name.isEmpty else { return "attachment" }
        let plain = asciiName(name)
        let field = "attachment; filename=\"\(plain)\""
        return plain == name ? field : field + "; filename*=UTF-8''" + extendedValue(name)
    }

    /// The name for clients without RFC 8187. Browsers decode `%41` in it, and do not agree about escapes (RFC 6266
    /// appendix D), so both are left out.
    private static func asciiName(_ name: String) -> String {
        String(
            String.UnicodeScalarView(
                name.unicodeScalars.map { scalar in
                    let isSafe = (0x20...0x7E).contains(scalar.value) && !#"\"\%/"#.unicodeScalars.contains(scalar)
                    return isSafe ? scalar : "_"
                }))
    }

    /// The characters, in addition to letters and digits, that need no encoding: `attr-char` of RFC 8187 §3.2.1.
    private static let marks = Set("!#$&+-.^_`|~".utf8)

    private static func extendedValue(_ name: String) -> String {
        var text = ""
        for byte in name.utf8 {
            let character = UnicodeScalar(byte)
            let isLetterOrDigit = character.isASCII && (character.properties.isAlphabetic || (48...57).contains(byte))
            if isLetterOrDigit || marks.contains(byte) {
                text.unicodeScalars.append(character)
            } else {
                let digits = String(byte, radix: 16, uppercase: true)
                text += digits.utf8.count == 1 ? "%0\(digits)" : "%\(digits)"
            }
        }
        return text
    }
}
