import Glibc
public import XferModel

extension SourceVersion {
    /// The answer that RFC 9110 requires: conditions (§13), one range (§14), or the whole representation.
    public func honestReply(to request: RecordedRequest) -> Reply {
        if isUnchanged(for: request) { return Reply(304, headers: validatorFields) }
        guard let asked = request.range, isRangeAllowed(for: request) else { return whole(request) }
        guard let range = asked.resolved(in: length) else {
            return Reply(
                416, headers: validatorFields + [HeaderField(name: "Content-Range", value: "bytes */\(length)")],
                text: "")
        }
        return partial(range, for: request)
    }

    /// A 206 with these offsets, whether they were requested or not.
    public func partial(_ range: Range<Int64>, for request: RecordedRequest) -> Reply {
        let fields = [
            HeaderField(name: "Content-Range", value: "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(length)"),
            HeaderField(name: "Content-Length", value: String(range.count)),
        ]
        let body = request.method == "HEAD" ? [] : [Reply.Part.source(self, range)]
        return Reply(206, headers: validatorFields + fields + headers, body: body)
    }

    private func whole(_ request: RecordedRequest) -> Reply {
        let fields = [
            HeaderField(name: "Accept-Ranges", value: "bytes"),
            HeaderField(name: "Content-Length", value: String(length)),
        ]
        let body = request.method == "HEAD" ? [] : [Reply.Part.source(self, 0..<length)]
        return Reply(200, headers: validatorFields + fields + headers, body: body)
    }

    private var validatorFields: [HeaderField] {
        var fields = [HeaderField(name: "Date", value: date ?? HTTPDate.now)]
        if let etag { fields.append(HeaderField(name: "ETag", value: etag)) }
        if let lastModified { fields.append(HeaderField(name: "Last-Modified", value: lastModified)) }
        return fields
    }

    /// `If-None-Match` and, without it, `If-Modified-Since` (§13.1.2, §13.1.3).
    private func isUnchanged(for request: RecordedRequest) -> Bool {
        if let tags = request.header("If-None-Match") {
            guard let etag else { return false }
            return tags == "*" || tags.split(separator: ",").contains { Self.opaque($0) == Self.opaque(etag[...]) }
        }
        return lastModified != nil && request.header("If-Modified-Since") == lastModified
    }

    /// `If-Range` (§13.1.5): a strong match or the exact date.
    private func isRangeAllowed(for request: RecordedRequest) -> Bool {
        guard let condition = request.header("If-Range") else { return true }
        if condition.hasPrefix("\"") { return condition == etag }
        return !condition.hasPrefix("W/") && condition == lastModified
    }

    private static func opaque(_ tag: Substring) -> Substring {
        let trimmed = tag.drop { $0 == " " }
        return trimmed.hasPrefix("W/") ? trimmed.dropFirst(2) : trimmed
    }
}

extension HTTPDate {
    /// `Sun, 06 Nov 1994 08:49:37 GMT` for seconds since 1970.
    public static func text(_ seconds: Int) -> String { format(Timestamp(seconds: seconds, nanoseconds: 0)) }

    /// The present time.
    public static var now: String { text(time(nil)) }
}
