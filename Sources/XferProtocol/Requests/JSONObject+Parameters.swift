import StrictJSON
import XferModel

extension JSONObject {
    /// The members as parameters: numbers and `true` and `false` as JSON writes them.
    var parameters: [Parameter] { members.map { Parameter($0.key, $0.value.parameter) } }
}

extension JSONValue {
    fileprivate var parameter: ParameterValue {
        switch self {
        case .null: .null
        case .string(let text): .text(text)
        case .array(let elements): .list(elements.map(\.parameter))
        case .object(let object): .object(object.parameters)
        // 1e3 and 1.0 are what their sender would write as 1000 and 1.
        case .number(let number): .text(number.wire.text)
        case .bool, .integer: .text(text)
        }
    }
}
