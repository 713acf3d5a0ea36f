import StrictJSON
import XferManager
import XferModel

/// Parses response bodies into objects (AFURLResponseSerialization), with the project's own JSON parser.
enum ResponseObjects {
    /// The deepest nesting; it leaves room for the levels around an object in an answer.
    private static let maxDepth = 60

    static let reader: ResponseReader = { (body, parser, stripsNulls) throws(UnreadableResponse) in
        switch parser {
        case .json:
            guard let text = JSONEncodings.utf8(of: body) else { throw UnreadableResponse("not UTF-16 or UTF-32") }
            let value: JSONValue
            do throws(JSONSyntaxError) {
                value = try JSONValue(parsing: text, maxDepth: maxDepth)
            } catch {
                throw UnreadableResponse(problem(error))
            }
            return (stripsNulls ? value.strippingNulls : value).text
        }
    }

    /// Describes a syntax error without the key at fault, which may be a secret; the position is sufficient.
    private static func problem(_ error: JSONSyntaxError) -> String {
        let what =
            switch error.reason {
            case .invalidUTF8: "not UTF-8"
            case .unexpectedEnd: "it ends too early"
            case .unexpectedByte: "an unexpected character"
            case .invalidNumber: "an invalid number"
            case .invalidString: "an invalid string"
            case .trailingBytes: "unexpected text after the value"
            case .tooDeep(let limit): "nested deeper than \(limit)"
            case .tooLarge(let limit): "more values than fit into \(limit) bytes of memory"
            case .duplicateKey: "a key that occurs twice in one object"
            }
        return "\(what) at byte \(error.offset)"
    }
}
