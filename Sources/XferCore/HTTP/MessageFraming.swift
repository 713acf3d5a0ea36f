import XferModel

/// The delimiter of a response's content (RFC 9112 §6.3).
public enum MessageFraming: Hashable, Sendable {
    case length(Int64)
    /// The last chunk ends the content.
    case chunked
    /// The end of the connection ends the content.
    case untilClose
    /// The head's framing fields are invalid, so the end of the content is unknown. The text is a clause about the
    /// server, for a message.
    case invalid(String)
}

extension ResponseHead {
    /// The delimiter of the content, by status and header fields. The request's method, for example HEAD, is not
    /// considered.
    ///
    /// `5, 5` counts as 5: all members of the list are valid and equal (RFC 9110 §8.6). No request of this service
    /// offers a transfer coding (`TE`), so a server may apply only `chunked`.
    public var framing: MessageFraming {
        // These never have content, whatever the fields say.
        if status == 204 || status == 304 { return .length(0) }
        var lengths: [Substring] = []
        var codings: [Substring]?
        for field in fields where field.name.utf8.count >= FramingName.length.utf8.count {
            guard let name = FramingName.named(field.name) else { continue }
            // White space beside the name is forbidden (RFC 9112 §5.1): some parsers read another field, or none.
            guard field.name.utf8.count == name.utf8.count else {
                return .invalid("sent white space around the name \(name)")
            }
            let members = Self.members(of: field.value)
            if name == FramingName.length {
                lengths += members
            } else {
                codings = (codings ?? []) + members.filter { !$0.isEmpty }
            }
        }
        if let codings, !isUncoded(codings) {
            guard lengths.isEmpty else { return .invalid("sent both Transfer-Encoding and Content-Length") }
            return framing(of: codings)
        }
        return Self.framing(of: lengths)
    }

    /// True if the fields state that no coding is applied. RFC 2616 §3.6 called that `identity`, and old servers still
    /// send it, usually together with a length. It counts as absent, as in RFC 2616 §4.4 and in other clients. By RFC
    /// 9112 §6.3 the end of the connection ends such a body: if more than the length arrives, the connection is not
    /// used again.
    private func isUncoded(_ codings: [Substring]) -> Bool {
        majorVersion < 2 && !codings.isEmpty
            && codings.allSatisfy { String($0).equalsIgnoringASCIICase("identity") }
    }

    private func framing(of codings: [Substring]) -> MessageFraming {
        guard majorVersion < 2 else {
            return .invalid("sent Transfer-Encoding, which HTTP/\(majorVersion) does not have")
        }
        guard codings.count == 1, let coding = codings.first, String(coding).equalsIgnoringASCIICase("chunked") else {
            return .invalid("applied a transfer coding that was not requested: \(Self.quoted(codings))")
        }
        return .chunked
    }

    private static func framing(of lengths: [Substring]) -> MessageFraming {
        guard let first = lengths.first else { return .untilClose }
        if lengths.count == 1, let length = Decimal64.parse(first) { return .length(length) }
        let parsed = Set(lengths.map { Decimal64.parse($0) })
        guard parsed.count == 1 else { return .invalid("sent lengths that contradict each other: \(quoted(lengths))") }
        return Decimal64.parse(first).map(MessageFraming.length)
            ?? .invalid("sent a Content-Length that is not a number: \(quoted(lengths))")
    }

    /// Members of a comma-separated list, empty ones included, without the white space around them.
    private static func members(of text: String) -> [Substring] {
        // The common form: digits only.
        if text.utf8.allSatisfy({ (48...57).contains($0) }) { return [text[...]] }
        return text.split(separator: ",", omittingEmptySubsequences: false).map { member in
            let start = member.drop { $0 == " " || $0 == "\t" }
            let end = start.lastIndex { $0 != " " && $0 != "\t" }
            return end.map { start[...$0] } ?? ""
        }
    }

    /// A text for messages: short, and without control characters.
    private static func quoted(_ members: [Substring]) -> String {
        String(members.prefix(5).joined(separator: ", ").prefix(100)).debugDescription
    }
}

/// The fields that frame a message.
public enum FramingName {
    static let length = "Content-Length"
    static let coding = "Transfer-Encoding"

    /// The framing field with this name; white space around the name is ignored. Nil for every other name.
    public static func named(_ text: String) -> String? {
        if text.equalsIgnoringASCIICase(length) { return length }
        if text.equalsIgnoringASCIICase(coding) { return coding }
        guard text.utf8.first.map(isSpace) == true || text.utf8.last.map(isSpace) == true else { return nil }
        let trimmed = text.utf8.drop(while: isSpace)
        guard let last = trimmed.lastIndex(where: { !isSpace($0) }) else { return nil }
        let name = trimmed[...last]
        switch name.count {
        case length.utf8.count: return matches(name, length) ? length : nil
        case coding.utf8.count: return matches(name, coding) ? coding : nil
        default: return nil
        }
    }

    private static func matches(_ name: Substring.UTF8View, _ wanted: String) -> Bool {
        zip(name, wanted.utf8).allSatisfy { $0 | 0x20 == $1 | 0x20 }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
}
