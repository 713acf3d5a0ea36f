public import XferModel

/// A response as the answer of a source that consists of a part of the real one and nothing else (`range` of a task).
///
/// A download of a part is resumed, split and verified as any other: only the range that is sent is moved into the part
/// (`RequestPlan.headers`), and only the response's numbers are moved back, here.
public enum PartView {
    /// The response's head with offsets and lengths that count from the beginning of the part. Digests are left out,
    /// since they are the whole source's.
    public static func head(_ head: ResponseHead, of part: SourceRange?) -> ResponseHead {
        guard let part else { return head }
        var seen = head
        seen.fields.removeAll { field in
            field.name.equalsIgnoringASCIICase("Content-Range") || AnnouncedDigestFields.hasDigests(field)
        }
        if let range = head.contentRange.flatMap({ contentRange($0, in: part) }) {
            seen.fields.append(HeaderField(name: "Content-Range", value: "bytes \(range)"))
        }
        return seen
    }

    /// The range within the part, or nil if it begins before the part or the source ends before it.
    private static func contentRange(_ range: ContentRange, in part: SourceRange) -> String? {
        switch range {
        case .satisfied(let first, let last, let complete):
            guard let start = start(of: part, inSourceOf: complete), first >= start else { return nil }
            let total =
                complete.flatMap { length(of: part, inSourceOf: $0) }
                ?? part.length.flatMap { length in
                    // The source's length is not known; the part's is, if the range ends with it.
                    last == part.last ? length : nil
                }
            let ends = "\(first.subtractingSaturated(start))-\(last.subtractingSaturated(start))"
            return "\(ends)/\(total.map { "\($0)" } ?? "*")"
        case .unsatisfied(let complete):
            return length(of: part, inSourceOf: complete).map { "*/\($0)" }
        }
    }

    /// The part's beginning in a source of this length; nil for a suffix while the length is not known.
    private static func start(of part: SourceRange, inSourceOf complete: Int64?) -> Int64? {
        guard let suffix = part.suffixLength else { return part.first }
        return complete.map { max(0, $0.subtractingSaturated(suffix)) }
    }

    /// The length of the part in a source of this length; nil if the part begins behind the source's end.
    private static func length(of part: SourceRange, inSourceOf complete: Int64) -> Int64? {
        if let suffix = part.suffixLength { return complete > 0 ? min(suffix, complete) : nil }
        let rest = complete.subtractingSaturated(part.first)
        guard rest > 0 else { return nil }
        return min(rest, part.length ?? rest)
    }

    /// True if a response contains the whole source, which is more, or may be more, than the part.
    static func isOutside(_ head: ResponseHead, of part: SourceRange?) -> Bool {
        guard let part else { return false }
        guard part.first == 0 else { return true }
        guard let most = part.suffixLength ?? part.length else { return false }
        return head.contentLength.map { $0 > most } ?? true
    }

    static func ignored(_ head: ResponseHead, from url: HTTPURL) -> TransferError {
        TransferError(
            .rangeMismatch, "\(url.hostKey) sends only the whole, not a range of it", isRetriable: false,
            httpStatus: head.status, host: url.hostKey)
    }
}

extension SourceRange {
    /// The number of bytes; nil if the part extends to the source's end.
    var length: Int64? { last.map { $0.subtractingSaturated(first).addingSaturated(1) } }
}
