/// A named value of a query, a form or a form's parts; AFNetworking's query string pairs before they are flattened.
public struct Parameter: Hashable, Sendable {
    public var name: String
    public var value: ParameterValue

    public init(_ name: String, _ value: ParameterValue) {
        self.name = name
        self.value = value
    }
}

public indirect enum ParameterValue: Hashable, Sendable {
    /// The bare name, without `=`.
    case null
    case text(String)
    /// `name[]`, once for every element.
    case list([ParameterValue])
    /// `name[member]`.
    case object([Parameter])
}
