/// A value whose fields clients choose, when they add a task, change it, or write a profile.
public protocol ChoiceSubject: Sendable {
    /// A `Patch` for each field that can be chosen.
    associatedtype Choices: Sendable

    static var choiceTable: [Choice<Self>] { get }
}

/// A choice, and the field of the subject that it sets. A class for the reason of `StoredOption`.
public final class Choice<Subject: ChoiceSubject>: Sendable {
    let apply: @Sendable (UnsafePointer<Subject.Choices>, UnsafeMutablePointer<Subject>) -> Void
    let show: @Sendable (UnsafePointer<Subject>, UnsafeMutablePointer<Subject.Choices>) -> Void
    /// Takes the other's choice if this one is unset.
    let complete: @Sendable (inout Subject.Choices, Subject.Choices) -> Void

    /// Declares a choice that the subject stores unchanged. A cleared one leaves the field unchanged.
    @inline(__always)
    init<Value>(
        _ choice: any WritableKeyPath<Subject.Choices, Patch<Value>> & Sendable,
        _ field: any WritableKeyPath<Subject, Value> & Sendable
    ) {
        let (choicePlace, fieldPlace) = (FieldPlace(choice), FieldPlace(field))
        apply = { if case .set(let value) = choicePlace.value(of: $0) { fieldPlace.set(value, in: $1) } }
        show = { choicePlace.set(.set(fieldPlace.value(of: $0)), in: $1) }
        complete = { Self.complete(&$0[keyPath: choice], with: $1[keyPath: choice]) }
    }

    /// A choice of a field that can be without a value; a cleared one removes it.
    @inline(__always)
    init<Value>(
        _ choice: any WritableKeyPath<Subject.Choices, Patch<Value>> & Sendable,
        optional field: any WritableKeyPath<Subject, Value?> & Sendable
    ) {
        let (choicePlace, fieldPlace) = (FieldPlace(choice), FieldPlace(field))
        apply = {
            switch choicePlace.value(of: $0) {
            case .unchanged: break
            case .clear: fieldPlace.set(nil, in: $1)
            case .set(let value): fieldPlace.set(value, in: $1)
            }
        }
        show = { choicePlace.set(Patch(fieldPlace.value(of: $0)), in: $1) }
        complete = { Self.complete(&$0[keyPath: choice], with: $1[keyPath: choice]) }
    }

    /// Declares a choice like the first form, except that a value of `hidden`, the default, is not shown.
    @inline(__always)
    init<Value: Equatable & Sendable>(
        _ choice: any WritableKeyPath<Subject.Choices, Patch<Value>> & Sendable,
        _ field: any WritableKeyPath<Subject, Value> & Sendable, hidden: Value
    ) {
        let (choicePlace, fieldPlace) = (FieldPlace(choice), FieldPlace(field))
        apply = { if case .set(let value) = choicePlace.value(of: $0) { fieldPlace.set(value, in: $1) } }
        show = {
            let value = fieldPlace.value(of: $0)
            choicePlace.set(value == hidden ? .unchanged : .set(value), in: $1)
        }
        complete = { Self.complete(&$0[keyPath: choice], with: $1[keyPath: choice]) }
    }

    /// A choice that needs more than a copy: `RequestBuilder` sets the field, `TransferRequest.choices` shows it.
    ///
    /// `apply` ignores the choice, so `task.update` cannot change it.
    @inline(__always)
    init<Value>(_ choice: any WritableKeyPath<Subject.Choices, Patch<Value>> & Sendable) {
        apply = { _, _ in }
        show = { _, _ in }
        complete = { Self.complete(&$0[keyPath: choice], with: $1[keyPath: choice]) }
    }

    @inline(__always)
    private static func complete<Value>(_ own: inout Patch<Value>, with other: Patch<Value>) {
        if !own.isChange { own = other }
    }
}

extension ChoiceSubject {
    /// Sets the fields that were chosen; the others stay.
    public mutating func apply(_ choices: Choices) {
        withUnsafePointer(to: choices) { choices in
            withUnsafeMutablePointer(to: &self) { subject in
                for choice in Self.choiceTable { choice.apply(choices, subject) }
            }
        }
    }

    /// Sets the choices that lead to this subject.
    public func show(in choices: inout Choices) {
        withUnsafePointer(to: self) { subject in
            withUnsafeMutablePointer(to: &choices) { choices in
                for choice in Self.choiceTable { choice.show(subject, choices) }
            }
        }
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
