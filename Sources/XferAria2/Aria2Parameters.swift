public import StrictJSON

/// The parameters of a call, by position, after the token.
public struct Aria2Parameters: Sendable {
    private let values: [JSONValue]

    public init(_ values: [JSONValue]) { self.values = values }

    /// The token in the first parameter, and the parameters behind it. A token is not passed on to a method.
    public static func token(in params: [JSONValue]) -> (token: String?, rest: [JSONValue]) {
        guard case .string(let text)? = params.first, text.hasPrefix(tokenPrefix) else { return (nil, params) }
        return (String(text.dropFirst(tokenPrefix.count)), Array(params.dropFirst()))
    }

    private static let tokenPrefix = "token:"

    public func string(_ index: Int) throws(Aria2Fault) -> String {
        guard let value = value(index) else { throw Self.missing(index) }
        guard let text = value.stringValue else { throw Self.wrongType(index) }
        return text
    }

    public func integer(_ index: Int) throws(Aria2Fault) -> Int64 {
        guard let number = try optionalInteger(index) else { throw Self.missing(index) }
        return number
    }

    public func optionalInteger(_ index: Int) throws(Aria2Fault) -> Int64? {
        guard let value = value(index) else { return nil }
        guard let number = value.integerValue else { throw Self.wrongType(index) }
        return number
    }

    public func strings(_ index: Int) throws(Aria2Fault) -> [String] {
        guard let value = value(index) else { throw Self.missing(index) }
        guard let values = value.arrayValue else { throw Self.wrongType(index) }
        return try values.map { value throws(Aria2Fault) in
            guard let text = value.stringValue else { throw Self.wrongType(index) }
            return text
        }
    }

    public func object(_ index: Int) throws(Aria2Fault) -> JSONObject {
        guard let value = value(index) else { throw Self.missing(index) }
        guard let object = value.objectValue else { throw Self.wrongType(index) }
        return object
    }

    public func options(_ index: Int) throws(Aria2Fault) -> Aria2Options {
        value(index) == nil ? Aria2Options() : try Aria2Options(try object(index))
    }

    /// The requested keys of a status; an empty set requests all keys.
    public func keys(_ index: Int) throws(Aria2Fault) -> Set<Aria2Status.Key> {
        let names = value(index) == nil ? [] : try strings(index)
        return names.isEmpty ? Set(Aria2Status.Key.allCases) : Set(names.compactMap { Aria2Status.Key(rawValue: $0) })
    }

    /// The part of a list that begins at a parameter.
    public func slice(_ index: Int) throws(Aria2Fault) -> Aria2Slice {
        let count = try integer(index + 1)
        guard count >= 0 else { throw Aria2Fault("The integer parameter at \(index + 1) has invalid value.") }
        return Aria2Slice(offset: try integer(index), count: count)
    }

    public func position(_ index: Int) throws(Aria2Fault) -> Aria2Position {
        guard let how = Aria2Position(rawValue: try string(index)) else { throw Aria2Fault("Illegal argument.") }
        return how
    }

    /// The calls of `system.multicall`; a call that cannot be read has its own fault.
    public func calls(atMost limit: Int) throws(Aria2Fault) -> [Result<
        (method: String, params: [JSONValue]), Aria2Fault
    >] {
        guard let values = value(0)?.arrayValue else { throw value(0) == nil ? Self.missing(0) : Self.wrongType(0) }
        guard values.count <= limit else { throw Aria2Fault("at most \(limit) calls are allowed") }
        return values.map { call in
            guard let method = call["methodName"]?.stringValue else {
                return .failure(Aria2Fault("Missing methodName."))
            }
            switch call["params"] {
            case nil, .null?: return .success((method, []))
            case .array(let params)?: return .success((method, params))
            default: return .failure(.invalidParams)
            }
        }
    }

    private func value(_ index: Int) -> JSONValue? {
        guard values.indices.contains(index), !values[index].isNull else { return nil }
        return values[index]
    }

    private static func missing(_ index: Int) -> Aria2Fault {
        Aria2Fault("The parameter at \(index) is required but missing.")
    }

    private static func wrongType(_ index: Int) -> Aria2Fault {
        Aria2Fault("The parameter at \(index) has wrong type.")
    }
}
