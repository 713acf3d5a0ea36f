public import XferModel

/// A response that is sent byte for byte, whether or not it is valid.
public struct Reply: Sendable {
    /// One piece of a body, or something that happens between two pieces.
    public enum Part: Sendable {
        case bytes([UInt8])
        /// The bytes of a version in this range of offsets, generated while they are sent.
        case source(SourceVersion, Range<Int64>)
        /// A pause until the gate opens.
        case gate(Gate)
        /// A pause of this duration, as by a slow server.
        case pause(Duration)

        var count: Int64 {
            switch self {
            case .bytes(let bytes): Int64(bytes.count)
            case .source(_, let range): Int64(range.count)
            case .gate, .pause: 0
            }
        }

        /// The bytes of the part at these offsets of it. A part without bytes stays as it is.
        fileprivate subscript(offsets: Range<Int64>) -> Part {
            switch self {
            case .bytes(let bytes): .bytes(Array(bytes[Int(offsets.lowerBound)..<Int(offsets.upperBound)]))
            case .source(let version, let range):
                .source(version, range.lowerBound + offsets.lowerBound..<range.lowerBound + offsets.upperBound)
            case .gate, .pause: self
            }
        }
    }

    /// The action on the connection after the last part.
    public enum Ending: Sendable {
        case keepAlive
        /// The end of the connection with FIN.
        case close
        /// The end of the connection with RST, after the peer has acknowledged everything sent, or after one second.
        case reset
        /// No further bytes; the connection stays open.
        case hang
    }

    public var status: Int
    /// The header fields, which are sent unchanged; no field is added.
    public var headers: [HeaderField]
    public var body: [Part]
    public var ending: Ending
    /// True if the body is sent with chunked framing (the field has to be in `headers`).
    public var isChunked = false
    /// The text that is sent instead of status line and headers.
    public var rawHead: [UInt8]?
    /// The bytes that are sent before the status line, for example `HTTP/1.1 103 Early Hints\r\n\r\n`.
    public var preamble: [UInt8] = []
    /// The gate before which nothing is sent; nil sends at once.
    public var headGate: Gate?

    public init(_ status: Int, headers: [HeaderField] = [], body: [Part] = [], ending: Ending = .keepAlive) {
        self.status = status
        self.headers = headers
        self.body = body
        self.ending = ending
    }

    /// A response with a short text and its `Content-Length`.
    public init(_ status: Int, headers: [HeaderField] = [], text: String) {
        let length = HeaderField(name: "Content-Length", value: String(text.utf8.count))
        self.init(status, headers: headers + [length], body: [.bytes(Array(text.utf8))])
    }

    /// A redirect; its status is 302 unless another is given.
    public static func redirect(to location: String, status: Int = 302) -> Reply {
        Reply(status, headers: [HeaderField(name: "Location", value: location)], text: "")
    }

    /// A reply with status 401 and a basic challenge (RFC 7617).
    public static var unauthorized: Reply {
        Reply(
            401, headers: [HeaderField(name: "WWW-Authenticate", value: "Basic realm=\"test\"")], text: "who are you?")
    }

    /// An error status, with `Retry-After` when given (seconds or a date, verbatim).
    public static func failure(_ status: Int, retryAfter: String? = nil) -> Reply {
        Reply(status, headers: retryAfter.map { [HeaderField(name: "Retry-After", value: $0)] } ?? [], text: "no")
    }

    public func header(_ name: String) -> String? { headers.firstValue(named: name) }

    /// Replaces all fields of this name by one, or removes them.
    public mutating func setHeader(_ name: String, _ value: String?) {
        headers.removeAll { $0.name.equalsIgnoringASCIICase(name) }
        if let value { headers.append(HeaderField(name: name, value: value)) }
    }

    /// Number of body bytes that will be sent.
    public var bodyLength: Int64 { body.reduce(0) { $0 + $1.count } }

    /// Leaves out everything after the first `count` body bytes.
    public mutating func truncateBody(to count: Int64) { body = split(at: count).before }

    /// Inserts a part between two body bytes.
    public mutating func insert(_ part: Part, at offset: Int64) {
        let (before, after) = split(at: offset)
        body = before + [part] + after
    }

    /// Inserts a part after each `length` body bytes, but not after the last byte.
    public mutating func insert(_ inserted: Part, every length: Int64) {
        guard length > 0 else { return }
        var parts: [Part] = []
        var left = length
        for part in body {
            guard part.count > 0 else {
                parts.append(part)
                continue
            }
            var offset: Int64 = 0
            while offset < part.count {
                if left == 0 {
                    parts.append(inserted)
                    left = length
                }
                let count = min(left, part.count - offset)
                parts.append(part[offset..<offset + count])
                offset += count
                left -= count
            }
        }
        body = parts
    }

    private func split(at offset: Int64) -> (before: [Part], after: [Part]) {
        var before: [Part] = []
        var after: [Part] = []
        var position: Int64 = 0
        for part in body {
            let cut = min(max(0, offset - position), part.count)
            position += part.count
            guard part.count > 0 else {
                if position <= offset { before.append(part) } else { after.append(part) }
                continue
            }
            if cut > 0 { before.append(part[0..<cut]) }
            if cut < part.count { after.append(part[cut..<part.count]) }
        }
        return (before, after)
    }
}
