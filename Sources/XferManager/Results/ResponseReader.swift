public import XferModel

/// Parses a response's body. `TransferManager.open` gets the function from its caller.
///
/// - Returns: the object as JSON text.
public typealias ResponseReader =
    @Sendable (_ body: [UInt8], _ parser: ResponseParser, _ stripsNulls: Bool) throws(UnreadableResponse) -> String

/// The reason why a parser could not read a body.
public struct UnreadableResponse: Error, Hashable, Sendable, CustomStringConvertible {
    /// The end of a sentence; contains nothing of the body.
    public var problem: String

    public init(_ problem: String) { self.problem = problem }

    public var description: String { "the response \(problem)" }
}

extension ResponseHandling {
    /// Parses the body with the first parser that succeeds; nil if there are no parsers.
    ///
    /// - Throws: `parseFailed` with the problem of each parser.
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
