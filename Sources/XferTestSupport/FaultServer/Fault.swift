public import XferModel

/// One kind of server fault: changes the honest reply to a request.
public struct Fault: Sendable, CustomStringConvertible {
    /// The data that a fault may use.
    public struct Context: Sendable {
        public let request: RecordedRequest
        public let source: SourceVersion
    }

    /// The fault and its arguments, for messages of failing tests.
    public let description: String
    private let bend: @Sendable (inout Reply, Context) -> Void

    public init(_ description: String, _ bend: @escaping @Sendable (inout Reply, Context) -> Void) {
        self.description = description
        self.bend = bend
    }

    func apply(to reply: inout Reply, _ context: Context) { bend(&reply, context) }

    /// Applies the fault, for handlers that decide themselves which request gets one.
    public func apply(to reply: inout Reply, _ request: RecordedRequest, _ source: SourceVersion) {
        bend(&reply, Context(request: request, source: source))
    }
}

/// Interrupted and slow replies.
extension Fault {
    /// Breaks the connection off after this many body bytes, with FIN or RST.
    public static func drop(after count: Int64, by ending: Reply.Ending = .reset) -> Fault {
        Fault("drop after \(count) by \(ending)") { reply, _ in
            reply.truncateBody(to: count)
            reply.ending = ending
        }
    }

    /// Closes or resets without an answer.
    public static func noAnswer(_ ending: Reply.Ending = .close) -> Fault {
        Fault("no answer, \(ending)") { reply, _ in
            reply.rawHead = []
            reply.body = []
            reply.ending = ending
        }
    }

    /// Stops after this many body bytes until the gate opens.
    public static func stall(at count: Int64, until gate: Gate) -> Fault {
        Fault("stall at \(count)") { reply, _ in reply.insert(.gate(gate), at: count) }
    }

    /// Sends no head until the gate opens.
    public static func stallHead(until gate: Gate) -> Fault {
        Fault("stall before the head") { reply, _ in reply.headGate = gate }
    }

    /// Sends nothing after this many body bytes, and keeps the connection open.
    public static func hang(after count: Int64) -> Fault {
        Fault("hang after \(count)") { reply, _ in
            reply.truncateBody(to: count)
            reply.ending = .hang
        }
    }

    /// Sends `chunk` bytes, waits, sends the next: slow but steady.
    public static func drip(_ chunk: Int64, every interval: Duration) -> Fault {
        Fault("drip \(chunk) every \(interval)") { reply, _ in
            reply.insert(.pause(interval), every: chunk)
        }
    }
}

/// Wrong answers to ranges.
extension Fault {
    /// Knows no ranges: 200 and everything.
    public static let ignoreRange = Fault("200 to a range") { reply, context in
        reply = context.source.honestReply(to: context.request.ignoring("Range"))
    }

    /// Answers the range although `If-Range` names another version.
    public static let ignoreIfRange = Fault("If-Range ignored") { reply, context in
        reply = context.source.honestReply(to: context.request.ignoring("If-Range"))
    }

    /// Takes no dates, or no tags, in `If-Range`: 200 and everything of the same version.
    public static let refuseIfRange = Fault("every If-Range counts as changed") { reply, context in
        if context.request.header("If-Range") != nil {
            reply = context.source.honestReply(to: context.request.ignoring("Range"))
        }
    }

    /// Sends this `Content-Range`; nil omits the field.
    public static func contentRange(_ value: String?) -> Fault {
        Fault("Content-Range \(value ?? "missing")") { reply, _ in reply.setHeader("Content-Range", value) }
    }

    /// A wrong complete length in `Content-Range`; nil is `*`.
    public static func contentRangeTotal(_ total: Int64?) -> Fault {
        Fault("Content-Range total \(total.map(String.init) ?? "*")") { reply, _ in
            guard let field = reply.header("Content-Range"), let slash = field.lastIndex(of: "/") else { return }
            reply.setHeader("Content-Range", "\(field[..<slash])/\(total.map(String.init) ?? "*")")
        }
    }

    /// An honest 206 that begins this many bytes later (earlier when negative) than requested.
    public static func startShifted(by shift: Int64) -> Fault {
        Fault("206 starts \(shift) off") { reply, context in
            guard reply.status == 206, let range = context.request.range?.resolved(in: context.source.length) else {
                return
            }
            let first = min(max(0, range.lowerBound + shift), range.upperBound - 1)
            reply = context.source.partial(first..<range.upperBound, for: context.request)
        }
    }

    /// An honest 206 with fewer bytes than requested, which is legal.
    public static func shortRange(_ count: Int64) -> Fault {
        Fault("206 of at most \(count)") { reply, context in
            guard reply.status == 206, let range = context.request.range?.resolved(in: context.source.length) else {
                return
            }
            let end = min(range.upperBound, range.lowerBound + count)
            reply = context.source.partial(range.lowerBound..<end, for: context.request)
        }
    }

    /// The range as the only part of `multipart/byteranges`.
    public static let multipart = Fault("multipart/byteranges") { reply, _ in
        guard reply.status == 206, let field = reply.header("Content-Range") else { return }
        let head = "--sep\r\nContent-Type: application/octet-stream\r\nContent-Range: \(field)\r\n\r\n"
        reply.body = [.bytes(Array(head.utf8))] + reply.body + [.bytes(Array("\r\n--sep--\r\n".utf8))]
        reply.setHeader("Content-Range", nil)
        reply.setHeader("Content-Type", "multipart/byteranges; boundary=sep")
        reply.setHeader("Content-Length", String(reply.bodyLength))
    }

    /// A 206 of everything to a request without `Range`.
    public static let unaskedRange = Fault("206 unasked") { reply, context in
        guard reply.status == 200 else { return }
        reply = context.source.partial(0..<context.source.length, for: context.request)
    }

    /// A 416 with this `Content-Range`, unchanged: write `bytes */1000` in full. Nil leaves it out.
    public static func unsatisfiable(_ contentRange: String?) -> Fault {
        Fault("416 \(contentRange ?? "without Content-Range")") { reply, context in
            var refusal = Reply(416, text: "")
            for name in ["ETag", "Last-Modified", "Date"] { refusal.setHeader(name, reply.header(name)) }
            refusal.setHeader("Content-Range", contentRange)
            reply = refusal
        }
    }

    /// The body is gzip, ranges and lengths count the coded bytes.
    public static let gzip = Fault("gzip") { reply, context in
        guard reply.status == 200 || reply.status == 206 else { return }
        let coded = Gzip.stored(context.source.bytes)
        let asked = reply.status == 206 ? context.request.range?.resolved(in: Int64(coded.count)) : nil
        let range = asked ?? 0..<Int64(coded.count)
        reply.body = [.bytes(Array(coded[Int(range.lowerBound)..<Int(range.upperBound)]))]
        reply.setHeader("Content-Encoding", "gzip")
        reply.setHeader("Content-Length", String(range.count))
        if reply.status == 206 {
            reply.setHeader("Content-Range", "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(coded.count)")
        }
    }
}

/// Wrong versions, lengths and other fields.
extension Fault {
    /// Sets, or with nil removes, a header field.
    public static func header(_ name: String, _ value: String?) -> Fault {
        Fault("\(name): \(value ?? "(none)")") { reply, _ in reply.setHeader(name, value) }
    }

    /// The tag marked as weak.
    public static let weakETag = Fault("weak ETag") { reply, _ in
        if let tag = reply.header("ETag"), !tag.hasPrefix("W/") { reply.setHeader("ETag", "W/" + tag) }
    }

    /// A `Content-Length` that is this much larger (smaller when negative) than the body; the connection closes after
    /// the body.
    public static func contentLength(off difference: Int64) -> Fault {
        Fault("Content-Length off by \(difference)") { reply, _ in
            guard let length = reply.header("Content-Length").flatMap({ Int64($0) }) else { return }
            reply.setHeader("Content-Length", String(max(0, length + difference)))
            reply.ending = .close
        }
    }

    /// Sends chunked framing instead of a length.
    public static let chunked = Fault("chunked") { reply, _ in
        reply.setHeader("Content-Length", nil)
        reply.setHeader("Transfer-Encoding", "chunked")
        reply.isChunked = true
    }

    /// Sends neither length nor chunks: the body ends when the connection does.
    public static let untilClose = Fault("body until close") { reply, _ in
        reply.setHeader("Content-Length", nil)
        reply.setHeader("Connection", "close")
        reply.ending = .close
    }

    /// Sends text that is not HTTP.
    public static let garbageHead = Fault("garbage head") { reply, _ in
        reply.rawHead = Array("\u{1}\u{2}SSH-2.0-nonsense\r\n\r\n".utf8)
        reply.body = []
        reply.ending = .close
    }

    /// A head that never ends: this many bytes of fields.
    public static func hugeHead(_ count: Int) -> Fault {
        Fault("head of \(count) bytes") { reply, _ in
            let line = HeaderField(name: "X-Filler", value: String(repeating: "x", count: 1000))
            reply.headers += Array(repeating: line, count: count / 1012 + 1)
        }
    }

    /// An error status instead of the source.
    public static func status(_ status: Int, retryAfter: String? = nil) -> Fault {
        Fault("status \(status)") { reply, _ in reply = .failure(status, retryAfter: retryAfter) }
    }

    /// Sends another answer instead of the honest one.
    public static func reply(_ other: Reply) -> Fault { Fault("reply \(other.status)") { reply, _ in reply = other } }

    /// Some other version's bytes under this one's head. Only a digest can show the difference.
    public static func bytes(of other: SourceVersion) -> Fault {
        Fault("bytes of seed \(other.seed)") { reply, _ in
            reply.body = reply.body.map { part in
                guard case .source(_, let range) = part else { return part }
                return .source(other, range)
            }
        }
    }

    /// Digest fields (RFC 9530 and older) of the whole source, or of something else when `truthful` is false.
    public static func digests(_ algorithms: [Checksum.Algorithm] = [.sha256], truthful: Bool = true) -> Fault {
        Fault("\(truthful ? "" : "wrong ")digests") { reply, context in
            for algorithm in algorithms {
                let version = truthful ? context.source : SourceVersion.tagged(context.source.seed ^ 1, length: 1)
                let digest = Base64.encode(version.checksum(algorithm).bytes)
                switch algorithm {
                case .md5: reply.headers.append(HeaderField(name: "Content-MD5", value: digest))
                case .sha1: reply.headers.append(HeaderField(name: "Digest", value: "SHA=\(digest)"))
                case .sha256, .sha512, .sha384, .sha224, .blake2b:
                    reply.headers.append(HeaderField(name: "Repr-Digest", value: "\(algorithm.rawValue)=:\(digest):"))
                }
            }
        }
    }
}
