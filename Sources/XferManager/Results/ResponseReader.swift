public import XferModel

/// Makes an object of a response's body. Given to the manager by whoever owns the readers of the formats.
///
/// - Returns: the object as JSON text.
public typealias ResponseReader =
    @Sendable (_ body: [UInt8], _ parser: ResponseParser, _ stripsNulls: Bool) throws(UnreadableResponse) -> String

/// Why a body is not what a parser reads.
public struct UnreadableResponse: Error, Hashable, Sendable {
    /// Half a sentence; holds nothing of the body.
    public var problem: String

    public init(_ problem: String) { self.problem = problem }
}

extension ResponseHandling {
    /// What the first parser that succeeds makes of the body; nil when none is asked for.
    ///
    /// - Throws: `parseFailed` with each one's problem.
    func object(of body: [UInt8], _ reader: ResponseReader) throws(TransferError) -> String? {
        guard !parsers.isEmpty else { return nil }
        // AFJSONResponseSerializer: Rails answers `head :ok` with a single space.
        if body.isEmpty || body == [UInt8(ascii: " ")] { return "null" }
        var problems: [String] = []
        for parser in parsers {
            do throws(UnreadableResponse) {
                return try reader(body, parser, stripsNulls)
            } catch {
                problems.append("no \(parser.rawValue): \(error.problem)")
            }
        }
        throw TransferError(.parseFailed, "the body is \(problems.joined(separator: "; "))")
    }
}
