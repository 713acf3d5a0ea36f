/// A rarely set field of a specification: how rows keep it, and whether tasks that share a transfer must agree on it.
///
/// A class, because each add looks through all of them, and a copy of the structure would retain each of its closures.
public final class StoredOption: Sendable {
    /// The rules by which tasks that differ in a field may share a transfer.
    public enum Sharing: Sendable {
        /// The field may differ between tasks that share a transfer: it is not part of the coalesce key.
        case own
        /// The server's answer or the trust in it depends on the field: it is part of the coalesce key.
        case common
    }

    /// The member's name in the row's JSON. Never changed, since older rows have it.
    public let name: String
    public let sharing: Sharing
    private let isDefaultValue: @Sendable (UnsafePointer<TaskSpecification>) -> Bool
    private let write: @Sendable (TaskSpecification, inout KeyedEncodingContainer<OptionName>) throws -> Void
    private let read: @Sendable (KeyedDecodingContainer<OptionName>, inout TaskSpecification) throws -> Void
    private let describe: @Sendable (TaskSpecification) -> String

    /// Creates an option whose default is the value of a specification with nothing but an owner, a URL and a
    /// directory.
    @inline(__always)
    convenience init<Value: Codable & Equatable & Sendable>(
        _ name: String, _ path: any WritableKeyPath<TaskSpecification, Value> & Sendable, _ sharing: Sharing
    ) {
        let place = FieldPlace(path)
        self.init(name, path, sharing) { place.value(of: $0) }
    }

    /// A computed property. Reading it through its key path would copy the specification.
    @inline(__always)
    init<Value: Codable & Equatable & Sendable>(
        _ name: String, _ path: any WritableKeyPath<TaskSpecification, Value> & Sendable, _ sharing: Sharing,
        value: @escaping @Sendable (UnsafePointer<TaskSpecification>) -> Value
    ) {
        let unset = TaskSpecification.unset[keyPath: path]
        self.name = name
        self.sharing = sharing
        isDefaultValue = { value($0) == unset }
        write = { try $1.encode($0[keyPath: path], forKey: OptionName(stringValue: name)) }
        read = {
            guard let value = try $0.decodeIfPresent(Value.self, forKey: OptionName(stringValue: name)) else { return }
            $1[keyPath: path] = value
        }
        describe = { String(describing: $0[keyPath: path]) }
    }

    public func isDefault(in specification: UnsafePointer<TaskSpecification>) -> Bool { isDefaultValue(specification) }

    public func encode(
        _ specification: TaskSpecification, to container: inout KeyedEncodingContainer<OptionName>
    ) throws {
        try write(specification, &container)
    }

    /// Sets the field if the container has it.
    public func decode(
        from container: KeyedDecodingContainer<OptionName>, to specification: inout TaskSpecification
    ) throws {
        try read(container, &specification)
    }

    /// The value as text, for the coalesce key.
    public func text(in specification: TaskSpecification) -> String { describe(specification) }
}

/// The name of a stored option as a key of JSON.
public struct OptionName: CodingKey {
    public let stringValue: String

    public init(stringValue: String) { self.stringValue = stringValue }
    public init?(intValue: Int) { nil }

    public var intValue: Int? { nil }
}

extension TaskSpecification {
    /// All fields that rows keep as options; the others have columns.
    public static let storedOptions = requestOptions + destinationOptions + ownOptions

    /// A specification whose options all have their defaults.
    static let unset = TaskSpecification(
        owner: Owner(uid: 0),
        request: TransferRequest(url: HTTPURL(scheme: .https, host: "", port: 443, target: "/")),
        destination: Destination(directory: "/"))
}
