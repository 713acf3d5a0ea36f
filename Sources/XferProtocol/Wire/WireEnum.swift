public import StrictJSON

/// An enumeration whose values are lower-case names on the wire.
public protocol WireEnum: WireValue, CaseIterable, Hashable {
    var wireName: String { get }
    init?(wireName: String)
}

extension WireEnum where Self: RawRepresentable<String> {
    public var wireName: String { rawValue }
    public init?(wireName: String) { self.init(rawValue: wireName) }
}

extension WireEnum {
    public init(wire value: JSONValue, mode: WireMode) throws(WireError) {
        guard case .string(let name) = value else { throw .wrongType(expected: Self.choice(for: nil)) }
        guard let known = Self(wireName: name) else {
            throw WireError(.unknownValue, expected: Self.choice(for: name))
        }
        self = known
    }

    public var wire: JSONValue { .string(wireName) }
    public func write(to output: inout [UInt8]) { output.appendJSON(wireName) }

    public static func schema(in schemas: inout WireSchemas) -> JSONValue {
        schemas.reference(to: schemaName, words: EnumAdvice.words(of: self))
    }

    /// The type's name with those it is nested in.
    static var schemaName: String { WireSchemas.name(of: Self.self) }

    private static func choice(for name: String?) -> String { EnumAdvice.expected(of: self, for: name) }
}

/// The advice for a client that sent an unknown name.
///
/// The enumerations are existential, which keeps the compiler from making this code anew for each of them.
private enum EnumAdvice {
    @inline(never)
    static func expected(of known: any WireEnum.Type, for name: String?) -> String {
        let names = words(of: known)
        if let name, let close = names.closest(to: name) { return "one of the known names; did you mean \"\(close)\"?" }
        return names.count == 1 ? "\"\(names[0])\"" : "one of " + names.map { "\"\($0)\"" }.joined(separator: ", ")
    }

    /// The known names in the order of their declaration.
    @inline(never)
    static func words(of known: any WireEnum.Type) -> [String] {
        func words<Enumeration: WireEnum>(of _: Enumeration.Type) -> [String] {
            Enumeration.allCases.map(\.wireName)
        }
        return words(of: known)
    }
}

/// An enumeration's value as a client may receive it: a newer daemon can send names that the client does not know.
public enum OpenEnum<Known: WireEnum>: WireValue, Hashable, CustomStringConvertible {
    case known(Known)
    case unknown(String)

    public init(_ value: Known) { self = .known(value) }

    public init(wire value: JSONValue, mode: WireMode) throws(WireError) {
        if mode == .lenient, case .string(let name) = value {
            self = Known(wireName: name).map(Self.known) ?? .unknown(name)
        } else {
            self = .known(try Known(wire: value, mode: mode))
        }
    }

    public var wire: JSONValue { .string(description) }
    public func write(to output: inout [UInt8]) { output.appendJSON(description) }

    /// The name on the wire.
    public var description: String {
        switch self {
        case .known(let value): value.wireName
        case .unknown(let name): name
        }
    }

    /// The value, nil when this reader does not know the name.
    public var value: Known? { if case .known(let value) = self { value } else { nil } }

    public static func schema(in schemas: inout WireSchemas) -> JSONValue { Known.schema(in: &schemas) }
}
