public import StrictJSON

/// The options of one call or command line that have a meaning for xferd, and the names of the others.
public struct Aria2Options: Hashable, Sendable {
    public private(set) var values: [Aria2Option.Mapped: [String]] = [:]
    /// Names of options that are accepted and have no effect.
    public private(set) var ignored: Set<String> = []

    /// The highest number of options of a call: more than aria2 has.
    private static let maxCount = 300

    public init() {}

    /// Reads the options of a call: names with a string, or an array of strings if an option may be repeated.
    ///
    /// - Throws: a fault with the first option that is refused.
    public init(_ object: JSONObject) throws(Aria2Fault) {
        guard object.count <= Self.maxCount else { throw Aria2Fault("more than \(Self.maxCount) options") }
        for (name, value) in object.members {
            for text in try Self.texts(value, of: name) { try add(name, text) }
        }
    }

    /// Adds an option as aria2 writes it, without dashes.
    public mutating func add(_ name: String, _ value: String) throws(Aria2Fault) {
        let shown = String(name.prefix(40))
        switch Aria2Option.treatment(of: name) {
        case .mapped(.header): addHeader(value)
        case .mapped(let option): values[option] = [value]
        case .ignored: ignored.insert(name)
        case .refused(let why): throw .option(shown, why)
        case .only(let harmless, let why):
            guard value == harmless else { throw .option(shown, why) }
        }
    }

    /// Adds a header field, unless it is about the browser's own connection. Programs in browsers copy all fields of a
    /// request.
    private mutating func addHeader(_ text: String) {
        guard let field = Aria2Value.header(text), HopByHopFields.contains(field.name) else {
            values[.header, default: []].append(text)
            return
        }
        ignored.insert("header \(field.name.lowercased())")
    }

    public var isEmpty: Bool { values.isEmpty }

    subscript(option: Aria2Option.Mapped) -> String? { values[option]?.last }

    /// A flag; nil if it was not given.
    func flag(_ option: Aria2Option.Mapped) throws(Aria2Fault) -> Bool? {
        guard let text = self[option] else { return nil }
        guard let flag = Aria2Value.flag(text) else { throw .option(option.rawValue, "expected true or false") }
        return flag
    }

    func number(_ option: Aria2Option.Mapped, _ range: ClosedRange<Int64>) throws(Aria2Fault) -> Int64? {
        guard let text = self[option] else { return nil }
        guard let number = Aria2Value.number(text, range) else {
            throw .option(option.rawValue, "expected a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    func bytes(_ option: Aria2Option.Mapped) throws(Aria2Fault) -> Int64? {
        guard let text = self[option] else { return nil }
        guard let bytes = Aria2Value.bytes(text) else {
            throw .option(option.rawValue, "expected bytes per second, for example 500K or 10M; 0 is unlimited")
        }
        return bytes
    }

    /// The values of an option as text. aria2 takes strings only; front-ends also send numbers and truth values.
    private static func texts(_ value: JSONValue, of name: String) throws(Aria2Fault) -> [String] {
        switch value {
        case .string(let text): [text]
        case .bool(let flag): [flag ? "true" : "false"]
        case .integer(let number): [String(number)]
        case .array(let values):
            try values.map { value throws(Aria2Fault) in
                guard let text = value.stringValue else {
                    throw .option(String(name.prefix(40)), "expected an array of strings")
                }
                return text
            }
        default: throw .option(String(name.prefix(40)), "expected a string")
        }
    }
}
