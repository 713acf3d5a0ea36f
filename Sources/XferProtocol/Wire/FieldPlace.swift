import StrictJSON

/// Where in a record a field's value lies.
///
/// Reading through a key path costs some six hundred instructions and a copy of the record, and a task's answer has seventy
/// fields; a stored property is as quickly read by its offset.
struct FieldPlace<Record, Value>: Sendable {
    private let path: any WritableKeyPath<Record, Value> & Sendable
    /// Nil for what is computed.
    private let offset: Int?

    init(_ path: any WritableKeyPath<Record, Value> & Sendable) {
        self.path = path
        offset = MemoryLayout<Record>.offset(of: path)
    }

    func value(of record: UnsafePointer<Record>) -> Value {
        guard let offset else { return record.pointee[keyPath: path] }
        return (UnsafeRawPointer(record) + offset).assumingMemoryBound(to: Value.self).pointee
    }
}

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
