/// A command the operator defined, which tasks can only name.
public struct HookDefinition: Hashable, Sendable {
    public var name: String
    /// The program's absolute path and its arguments.
    public var arguments: [String]
    /// Seconds it may take.
    public var timeout: Int64
    /// Whether tasks of users who are not operators may name it.
    public var isForEverybody: Bool

    public init(name: String, arguments: [String], timeout: Int64 = 60, isForEverybody: Bool = false) {
        self.name = name
        self.arguments = arguments
        self.timeout = timeout
        self.isForEverybody = isForEverybody
    }
}
