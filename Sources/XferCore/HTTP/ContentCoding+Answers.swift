public import XferModel

extension ContentCoding {
    /// Most codings of one answer that are undone.
    public static let most = 3

    /// The codings of an answer that are undone, in the order the server applied them.
    ///
    /// Empty where there is none, and where the request did not ask for every one of them with `Accept-Encoding`: such an
    /// answer stays as it came.
    ///
    /// - Parameter fields: what the request was sent with.
    public static func undone(of head: ResponseHead, sent fields: [HeaderField]) -> [ContentCoding] {
        let applied = names(in: head.fields, "Content-Encoding").filter { $0 != "identity" }
        let accepted = AcceptedCodings(fields)
        let codings = applied.compactMap { ContentCoding(name: $0) }
        guard codings.count == applied.count, codings.count <= most, codings.allSatisfy(accepted.contains) else {
            return []
        }
        return codings
    }

    /// Members of a list field, lower case, without parameters unless told otherwise.
    fileprivate static func names(in fields: [HeaderField], _ name: String) -> [String] {
        fields.filter { $0.name.equalsIgnoringASCIICase(name) }.flatMap { field in
            field.value.split(separator: ",").map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }
        }.filter { !$0.isEmpty }
    }
}

/// What a request's `Accept-Encoding` asks for (RFC 9110 §12.5.3); without the field that is nothing.
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

    /// `q=0`, `q=0.000`.
    private static func isZero(_ parameter: Substring) -> Bool {
        guard parameter.hasPrefix("q=") else { return false }
        let weight = parameter.dropFirst(2)
        return weight.first == "0" && weight.allSatisfy { $0 == "0" || $0 == "." }
    }
}
