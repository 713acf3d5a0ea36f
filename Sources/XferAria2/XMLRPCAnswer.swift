public import StrictJSON

/// The text of an XML-RPC answer: a result, or a fault.
public enum XMLRPCAnswer {
    public static func text(_ result: Result<JSONValue, Aria2Fault>) -> [UInt8] {
        var text = "<?xml version=\"1.0\"?><methodResponse>"
        switch result {
        case .success(let value):
            text += "<params><param>"
            write(value, to: &text)
            text += "</param></params>"
        case .failure(let fault):
            text += "<fault>"
            let object: JSONValue = ["faultCode": .integer(fault.code), "faultString": .string(fault.message)]
            write(object, to: &text)
            text += "</fault>"
        }
        text += "</methodResponse>"
        return Array(text.utf8)
    }

    private static func write(_ value: JSONValue, to text: inout String) {
        text += "<value>"
        switch value {
        case .null: text += "<string></string>"
        case .bool(let flag): text += "<boolean>\(flag ? 1 : 0)</boolean>"
        case .integer(let number):
            text += Int32(exactly: number) == nil ? "<i8>\(number)</i8>" : "<int>\(number)</int>"
        case .number(let number): text += "<double>\(number.text)</double>"
        case .string(let content): text += "<string>\(escaped(content))</string>"
        case .array(let values):
            text += "<array><data>"
            for value in values { write(value, to: &text) }
            text += "</data></array>"
        case .object(let object):
            text += "<struct>"
            for (key, value) in object.members {
                text += "<member><name>\(escaped(key))</name>"
                write(value, to: &text)
                text += "</member>"
            }
            text += "</struct>"
        }
        text += "</value>"
    }

    /// The text with characters that XML 1.0 does not allow replaced by question marks.
    private static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\r": result += "&#13;"
            case "\t", "\n": result.unicodeScalars.append(scalar)
            case let scalar where scalar.value < 0x20 || scalar.value == 0xFFFE || scalar.value == 0xFFFF: result += "?"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
