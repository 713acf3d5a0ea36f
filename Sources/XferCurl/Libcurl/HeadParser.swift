import XferCore
import XferModel

/// Assembles a response's head from the lines that libcurl delivers, one call per line.
struct HeadParser {
    enum Event {
        case more
        /// The head of an interim response is complete. Its status is 1xx, but not 100.
        case informational(ResponseHead)
        /// The head of a final response is complete.
        case head(ResponseHead)
        /// The head has more than `maxBytes` bytes.
        case tooLarge
        /// The head has more than `maxFields` fields.
        case tooManyFields
    }

    static let maxFields = 1000
    static let maxBytes = 256 << 10
    /// The highest number of interim responses to one request that are reported.
    static let maxInterim = 10_000

    private var head: ResponseHead?
    private var byteCount = 0
    private var interimCount = 0
    /// True if the server has answered 100 (Continue).
    private(set) var hasContinued = false
    /// True if the final head is complete. Later lines are trailers, which the parser ignores.
    private var isDone = false

    mutating func onLine(_ bytes: UnsafeRawBufferPointer) -> Event {
        if isDone { return .more }
        byteCount += bytes.count
        guard byteCount <= Self.maxBytes else { return .tooLarge }
        let line = Self.withoutLineEnd(bytes)
        if line.isEmpty {
            guard let whole = head else { return .more }
            if whole.status < 200 { return interim(whole) }
            isDone = true
            return .head(whole)
        }
        // Only the first line is a status line. The parser and libcurl take a later line of this form as a field whose
        // name begins with `HTTP/`.
        if head == nil, line.starts(with: "HTTP/".utf8) {
            head = Self.statusLine(Self.text(line))
        } else if line.first.map(Self.isBlank) == true {
            continueLastField(with: line)
        } else {
            appendField(line)
        }
        return (head?.fields.count ?? 0) <= Self.maxFields ? .more : .tooManyFields
    }

    /// Ends the head of an interim response. A server may send many of them while it receives the content, so their
    /// bytes do not count towards the final head's size.
    private mutating func interim(_ whole: ResponseHead) -> Event {
        head = nil
        byteCount = 0
        interimCount += 1
        if whole.status == 100 { hasContinued = true }
        return whole.status > 100 && interimCount <= Self.maxInterim ? .informational(whole) : .more
    }

    /// Parses a status line such as `HTTP/1.1 200 OK` or `HTTP/2 200`.
    private static func statusLine(_ line: String) -> ResponseHead {
        let words = line.dropFirst(5).split(separator: " ", maxSplits: 2)
        let major = words.first?.first?.wholeNumberValue ?? 1
        let status = words.count > 1 ? Int(words[1], radix: 10) ?? 0 : 0
        return ResponseHead(status: status, majorVersion: major)
    }

    /// Appends the field that the line contains, if it is one.
    private mutating func appendField(_ line: Slice<UnsafeRawBufferPointer>) {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return }
        let value = Self.text(Self.trimmed(line[(colon + 1)...]))
        head?.fields.append(HeaderField(name: Self.text(line[..<colon]), value: value))
    }

    /// Appends a folded line to the last field. Line folding is obsolete (RFC 9112 §5.2).
    private mutating func continueLastField(with line: Slice<UnsafeRawBufferPointer>) {
        // Without a field to continue this is white space before the first field (RFC 9112 §2.2), which stays part of
        // that field's name.
        guard let last = head?.fields.popLast() else { return appendField(line) }
        let more = Self.text(Self.trimmed(line))
        let joint: String
        if FramingName.named(last.name) != nil {
            // libcurl ignores the second line of a framing field, so the field's value is made invalid.
            joint = Self.unreadable
        } else {
            joint = last.value.isEmpty || more.isEmpty ? "" : " "
        }
        let value = last.value + joint + more
        head?.fields.append(HeaderField(name: last.name, value: value))
    }

    private static let unreadable = "\u{FFFD}"

    // Lines are taken apart as bytes, and only what is kept becomes a string: even a small file has about ten of them.

    /// Decodes a part of a line as UTF-8 if it is valid, else as ISO 8859-1, so that different octets stay different. A
    /// non-ASCII validator in ISO 8859-1 is sent back as UTF-8. Then it does not match, the server sends the whole
    /// representation, and `ResumeRules` recognises the same version.
    private static func text(_ part: Slice<UnsafeRawBufferPointer>) -> String {
        let bytes = UnsafeRawBufferPointer(rebasing: part)
        if bytes.allSatisfy({ $0 < 0x80 }) { return String(decoding: bytes, as: UTF8.self) }
        if let text = String(validating: bytes, as: UTF8.self) { return text }
        return String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    }

    private static func withoutLineEnd(_ bytes: UnsafeRawBufferPointer) -> Slice<UnsafeRawBufferPointer> {
        var end = bytes.count
        while end > 0, bytes[end - 1] == UInt8(ascii: "\n") || bytes[end - 1] == UInt8(ascii: "\r") { end -= 1 }
        return bytes[..<end]
    }

    private static func trimmed(_ part: Slice<UnsafeRawBufferPointer>) -> Slice<UnsafeRawBufferPointer> {
        var part = part
        while let first = part.first, isBlank(first) { part.removeFirst() }
        while let last = part.last, isBlank(last) { part.removeLast() }
        return part
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
}
