public import XferModel

/// Decides whether a file that another program left is taken for the beginning of a download (`on_conflict: continue`),
/// and what is known of its bytes.
public enum AdoptionRules {
    /// The proof that the bytes of the file are of the version that the source has.
    public enum Proof: Hashable, Sendable {
        /// A strong digest that the finished file must have.
        case digest
        /// No proof: the client accepts that (`resume: unsafe`).
        case unsafe
        /// The modification date of the source, which a program has given to the file. `If-Range` compares it.
        case date(Validators)
    }

    /// The proof for a file's bytes; nil if there is none.
    ///
    /// A program that writes a file changes its modification time with each write. A time of whole seconds that is
    /// older than the last change of the file's status was set afterwards, as programs do that copy `Last-Modified`.
    /// Only the source can show whether that time is its own.
    ///
    /// - Parameters:
    ///   - modifiedAt: the file's modification time, in nanoseconds since 1970.
    ///   - changedAt: the time of its last change of status, in nanoseconds since 1970.
    public static func proof(
        for specification: TaskSpecification, modifiedAt: Int64, changedAt: Int64
    ) -> Proof? {
        let request = specification.request
        guard specification.kind == .download, request.method == .get, request.range == nil else { return nil }
        if specification.checksum?.algorithm.isStrong == true { return .digest }
        if specification.resumesUnsafely { return .unsafe }
        guard modifiedAt > 0, modifiedAt % second == 0, changedAt.subtractingSaturated(modifiedAt) >= second else {
            return nil
        }
        return .date(
            Validators(
                etag: Validators.unknownTag,
                lastModified: HTTPDate.format(Timestamp(seconds: modifiedAt / second)),
                date: HTTPDate.format(Timestamp(seconds: changedAt / second))))
    }

    /// Returns the description of the bytes that are kept of a file; nil if none are.
    ///
    /// At least the last byte is left to be requested: a source that sends nothing shows no version.
    ///
    /// - Parameters:
    ///   - complete: the segments known to be complete, ascending.
    ///   - total: the length of the whole; nil if unknown.
    public static func resumeData(complete: [Segment], total: Int64?, proof: Proof) -> ResumeData? {
        var kept = complete.filter { $0.start >= 0 && $0.committed > $0.start }
        let isWhole = kept.reduce(0) { $0.addingSaturated($1.committed.subtractingSaturated($1.start)) } >= total ?? 0
        if isWhole, let last = kept.popLast(), last.committed - last.start > 1 {
            kept.append(Segment(start: last.start, committed: last.committed - 1))
        }
        guard !kept.isEmpty else { return nil }
        var data = ResumeData(totalLength: total, segments: kept)
        if case .date(let validators) = proof { data.validators = validators }
        return data
    }

    private static let second: Int64 = 1_000_000_000
}
