import StrictJSON

/// A field's name as it stands in an object's text.
struct FieldLabel: Sendable {
    /// With quotes and colon, a comma before it; and without that.
    private let text: [UInt8]
    private let firstText: [UInt8]

    init(_ name: String) {
        var text = Array(",".utf8)
        text.appendJSON(name)
        text.append(UInt8(ascii: ":"))
        self.text = text
        firstText = Array(text.dropFirst())
    }

    /// Appends it to what begins with the object's bracket.
    func write(to output: inout [UInt8]) {
        output.append(contentsOf: output.last == UInt8(ascii: "{") ? firstText : text)
    }
}
