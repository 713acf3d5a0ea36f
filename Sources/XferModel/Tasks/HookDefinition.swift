/// A command that the operator defines and that tasks refer to by name.
public struct HookDefinition: Hashable, Sendable {
    public var name: String
    /// The program's absolute path and its arguments.
    public var arguments: [String]
    /// The longest run time, in seconds.
    public var timeout: Int64
    /// True if users who are not operators may refer to it in their tasks.
    public var isForGuests: Bool

    public init(name: String, arguments: [String], timeout: Int64 = 60, isForGuests: Bool = false) {
        self.name = name
        self.arguments = arguments
        self.timeout = timeout
        self.isForGuests = isForGuests
    }
}
