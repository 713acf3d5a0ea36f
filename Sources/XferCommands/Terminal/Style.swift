/// Colours and weights (ECMA-48 §8.3.117), nothing at all when not enabled.
struct Style: Sendable {
    enum Attribute: Int, Sendable {
        case bold = 1
        case dim = 2
        case red = 31
        case green = 32
        case yellow = 33
        case magenta = 35
        case cyan = 36
    }

    let isEnabled: Bool

    static let plain = Style(isEnabled: false)

    func callAsFunction(_ attribute: Attribute?, _ text: String) -> String {
        guard isEnabled, let attribute, !text.isEmpty else { return text }
        return "\u{1b}[\(attribute.rawValue)m\(text)\u{1b}[0m"
    }
}
