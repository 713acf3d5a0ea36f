import StrictJSON

/// A result of `xferctl doctor` about one subject.
struct Finding: Hashable, Sendable {
    enum Level: String, Sendable {
        case well
        /// Works now, but may fail soon or behave unexpectedly.
        case warning
        /// Something cannot work.
        case problem
    }

    /// The examined subject, one word: `socket`, `database`, …
    let subject: String
    let level: Level
    let message: String
    /// The advice; nil if all is ok.
    let advice: String?

    static func well(_ subject: String, _ message: String) -> Finding {
        Finding(subject: subject, level: .well, message: message, advice: nil)
    }

    static func warning(_ subject: String, _ message: String, _ advice: String) -> Finding {
        Finding(subject: subject, level: .warning, message: message, advice: advice)
    }

    static func problem(_ subject: String, _ message: String, _ advice: String) -> Finding {
        Finding(subject: subject, level: .problem, message: message, advice: advice)
    }

    var json: JSONValue {
        var object: JSONObject = [
            "subject": .string(subject), "level": .string(level.rawValue), "message": .string(message),
        ]
        if let advice { object["advice"] = .string(advice) }
        return .object(object)
    }

    func lines(_ style: Style) -> [String] {
        let mark =
            switch level {
            case .well: style(.green, "well   ")
            case .warning: style(.yellow, "warning")
            case .problem: style(.red, "problem")
            }
        let head = "\(mark)  \(subject.padded(to: 9)) \(SafeText.sanitised(message))"
        return [head] + (advice.map { ["                   \(SafeText.sanitised($0))"] } ?? [])
    }
}

extension String {
    fileprivate func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
