/// A change of an optional field: none, `null`, or a value.
public enum Patch<Value: Sendable>: Sendable {
    /// The field was not named.
    case unchanged
    /// The field was `null`: back to the service's default.
    case clear
    case set(Value)

    /// Creates a patch that sets `value`, or changes nothing if `value` is nil.
    public init(_ value: Value?) { self = value.map { .set($0) } ?? .unchanged }

    /// Applies the change to the present value.
    public func applied(to current: Value?) -> Value? {
        switch self {
        case .unchanged: current
        case .clear: nil
        case .set(let value): value
        }
    }

    /// The same change with the value transformed.
    public func map<Other>(_ transform: (Value) -> Other) -> Patch<Other> {
        switch self {
        case .unchanged: .unchanged
        case .clear: .clear
        case .set(let value): .set(transform(value))
        }
    }

    /// True if the field was named.
    public var isChange: Bool { if case .unchanged = self { false } else { true } }
}

extension Patch: Equatable where Value: Equatable {}
extension Patch: Hashable where Value: Hashable {}
