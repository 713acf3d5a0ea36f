/// One of `TransferRequest.Choices`, and the field of a request that it sets.
struct RequestChoice: Sendable {
    let apply: @Sendable (UnsafePointer<TransferRequest.Choices>, UnsafeMutablePointer<TransferRequest>) -> Void
    let show: @Sendable (UnsafePointer<TransferRequest>, UnsafeMutablePointer<TransferRequest.Choices>) -> Void
    /// Takes over the other's choice where there is none.
    let complete: @Sendable (inout TransferRequest.Choices, TransferRequest.Choices) -> Void

    /// A choice that the request holds as it is.
    init<Value>(
        _ choice: any WritableKeyPath<TransferRequest.Choices, Patch<Value>> & Sendable,
        _ field: any WritableKeyPath<TransferRequest, Value> & Sendable
    ) {
        let (choicePlace, fieldPlace) = (FieldPlace(choice), FieldPlace(field))
        apply = { if case .set(let value) = choicePlace.value(of: $0) { fieldPlace.set(value, in: $1) } }
        show = { choicePlace.set(.set(fieldPlace.value(of: $0)), in: $1) }
        complete = { Self.complete(&$0[keyPath: choice], with: $1[keyPath: choice]) }
    }

    /// A choice that the request's makers put into it.
    init<Value>(_ choice: any WritableKeyPath<TransferRequest.Choices, Patch<Value>> & Sendable) {
        apply = { _, _ in }
        show = { _, _ in }
        complete = { Self.complete(&$0[keyPath: choice], with: $1[keyPath: choice]) }
    }

    private static func complete<Value>(_ own: inout Patch<Value>, with other: Patch<Value>) {
        if !own.isChange { own = other }
    }
}

extension TransferRequest {
    /// Sets what was chosen; what was cleared or not chosen stays.
    public mutating func apply(_ choices: Choices) {
        withUnsafePointer(to: choices) { choices in
            withUnsafeMutablePointer(to: &self) { request in
                for choice in Self.choiceTable { choice.apply(choices, request) }
            }
        }
    }

    /// The choices that lead to this request.
    public var choices: Choices {
        var shown = Choices()
        withUnsafePointer(to: self) { request in
            withUnsafeMutablePointer(to: &shown) { choices in
                for choice in Self.choiceTable { choice.show(request, choices) }
            }
        }
        if !acceptedTypes.isEmpty { shown.acceptedTypes = .set(acceptedTypes) }
        if caching.policy != .reload { shown.cachePolicy = .set(caching.policy) }
        if caching.stores { shown.storesResponses = .set(true) }
        return shown
    }
}

extension TransferRequest.Choices {
    /// These choices, and the profile's where there is none.
    public func completed(by profile: Self) -> Self {
        var choices = self
        for choice in TransferRequest.choiceTable { choice.complete(&choices, profile) }
        return choices
    }
}

// A profile is stored with the values that were chosen; a missing member is no choice.
extension KeyedEncodingContainer {
    mutating func encode<Value: Encodable>(_ choice: Patch<Value>, forKey key: Key) throws {
        if case .set(let value) = choice { try encode(value, forKey: key) }
    }
}

extension KeyedDecodingContainer {
    func decode<Value: Decodable>(_: Patch<Value>.Type, forKey key: Key) throws -> Patch<Value> {
        try decodeIfPresent(Value.self, forKey: key).map { .set($0) } ?? .unchanged
    }
}

extension Patch: Encodable where Value: Encodable {
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(applied(to: nil))
    }
}

extension Patch: Decodable where Value: Decodable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        self = container.decodeNil() ? .unchanged : .set(try container.decode(Value.self))
    }
}
