/// A named value of a query, a form or a form's parts. Lists and objects are flattened as AFNetworking does.
public struct Parameter: Hashable, Sendable {
    public var name: String
    public var value: ParameterValue

    public init(_ name: String, _ value: ParameterValue) {
        self.name = name
        self.value = value
    }
}

/// The value of a parameter. Each case says how its name is written.
public indirect enum ParameterValue: Hashable, Sendable {
    /// The bare name, without `=`.
    case null
    case text(String)
    /// `name[]`, once for every element.
    case list([ParameterValue])
    /// `name[member]`.
    case object([Parameter])
}
