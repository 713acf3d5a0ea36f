/// How the response of a `data` or `upload` task is handled.
public struct ResponseHandling: Hashable, Sendable, Codable {
    /// Tried in this order on the whole body; empty parses nothing.
    public var parsers: [ResponseParser]
    /// Removes null values of objects at any depth; nulls in arrays stay. AFJSONResponseSerializer's
    /// `removesKeysWithNullValues`.
    public var stripsNulls: Bool

    public init(parsers: [ResponseParser] = [], stripsNulls: Bool = false) {
        self.parsers = parsers
        self.stripsNulls = stripsNulls
    }
}

/// A way to parse a response's body into an object.
public enum ResponseParser: String, Sendable, Codable, CaseIterable {
    /// RFC 8259; an empty body or a single space is null.
    case json
}
