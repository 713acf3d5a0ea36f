public import XferModel

extension ContentCoding {
    /// The highest number of codings of one answer that are decoded.
    public static let most = 3

    /// The codings of an answer that are decoded, in the order in which the server applied them.
    ///
    /// Empty if there is none, and if the request did not list every one of them in `Accept-Encoding`: such an answer
    /// stays unchanged.
    ///
    /// - Parameter fields: the fields that the request was sent with.
    public static func undone(of head: ResponseHead, sent fields: [HeaderField]) -> [ContentCoding] {
        let applied = names(in: head.fields, "Content-Encoding").filter { $0 != "identity" }
        let accepted = AcceptedCodings(fields)
        let codings = applied.compactMap { ContentCoding(name: $0) }
        guard codings.count == applied.count, codings.count <= most, codings.allSatisfy(accepted.contains) else {
            return []
        }
        return codings
    }

    /// The members of a list field in lower case, by default without parameters.
    fileprivate static func names(in fields: [HeaderField], _ name: String) -> [String] {
        fields.filter { $0.name.equalsIgnoringASCIICase(name) }.flatMap { field in
            field.value.split(separator: ",").map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }
        }.filter { !$0.isEmpty }
    }
}

/// The codings that a request accepts by `Accept-Encoding` (RFC 9110 §12.5.3); without the field there are none.
private struct AcceptedCodings {
    private var accepted: Set<ContentCoding> = []

    init(_ fields: [HeaderField]) {
        var refused: Set<ContentCoding> = []
        var takesOthers = false
        for member in ContentCoding.names(in: fields, "Accept-Encoding") {
            let parts = member.split(separator: ";", omittingEmptySubsequences: false)
            let isRefused = parts.dropFirst().contains { Self.isZero($0) }
            if parts[0] == "*" {
                takesOthers = !isRefused
            } else if let coding = ContentCoding(name: String(parts[0])) {
                if isRefused { refused.insert(coding) } else { accepted.insert(coding) }
            }
        }
        if takesOthers { accepted.formUnion(ContentCoding.allCases) }
        accepted.subtract(refused)
    }

    func contains(_ coding: ContentCoding) -> Bool { accepted.contains(coding) }

    /// True for a weight of zero: `q=0`, `q=0.000`.
    private static func isZero(_ parameter: Substring) -> Bool {
        guard parameter.hasPrefix("q=") else { return false }
        let weight = parameter.dropFirst(2)
        return weight.first == "0" && weight.allSatisfy { $0 == "0" || $0 == "." }
    }
}
