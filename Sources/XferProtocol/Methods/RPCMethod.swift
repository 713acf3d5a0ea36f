public import StrictJSON

/// One RPC method: its name, parameters, result and documentation.
///
/// To add a method, declare an enumeration, add it to the list in its namespace's file, and write a handler in the
/// daemon.
public protocol RPCMethod: Sendable {
    associatedtype Params: WireParams
    associatedtype Result: WireValue

    /// The method's name, in the form `noun.verb`.
    static var name: String { get }
    /// The callers who may use the method. It has no default, so that no method becomes open to guests by accident.
    static var access: MethodAccess { get }
    /// The scope that a remote client's token must have to call the method.
    static var scope: MethodScope { get }
    /// The effect of the method, in one or two sentences.
    static var summary: String { get }
    /// The error codes of the method in addition to `ErrorCode.everywhere`.
    static var errors: [ErrorCode] { get }
    /// At least one example. A test checks the examples against the schemas.
    static var examples: [MethodExample] { get }
    /// True if a call may read and return so much that the service runs only a few such calls at the same time.
    static var isBulk: Bool { get }
    /// True if a call waits for an event, as long as the caller allows. It does not count towards a user's running calls.
    static var isWaiting: Bool { get }
    /// True if the answer to one call may have megabytes. Only a few such calls of a user run at the same time.
    static var hasLongAnswer: Bool { get }
    /// True if a call with few parameters takes so little time that the thread that read it also answers it.
    static var isBrief: Bool { get }
}

extension RPCMethod {
    public static var errors: [ErrorCode] { [] }
    public static var isBulk: Bool { false }
    public static var isWaiting: Bool { false }
    public static var hasLongAnswer: Bool { false }
    public static var isBrief: Bool { false }
}

/// The callers who may use a method. The daemon decides by this declaration before it reads the parameters.
///
/// A guest is a user whom `access.users` or `access.groups` admits and who is not an operator.
public enum MethodAccess: String, Sendable, CaseIterable {
    /// Operators, and guests. The answer is about the service or about the caller itself.
    case users
    /// Operators, and guests for their own objects. Other users' objects are reported as not found.
    case owners
    /// Operators only: the daemon's own user and root. Guests get `permission_denied`.
    case operators

    /// A phrase for the reference documentation.
    public var summary: String {
        switch self {
        case .users: "every user"
        case .owners: "every user for its own, operators for all"
        case .operators: "operators"
        }
    }
}

/// The scope that a remote client's token must have to call a method. The rights of the token's user are also checked.
public enum MethodScope: String, Sendable, CaseIterable {
    /// The method returns data and changes nothing.
    case read
    /// The method adds tasks of the token's user.
    case add
    /// The method changes objects of the token's user.
    case own
    /// The method returns or changes data of the service.
    case operate
}

/// A call and its answer, for the documentation.
public struct MethodExample: Sendable {
    public let name: String
    public let params: JSONValue
    public let result: JSONValue

    public init(_ name: String, params: JSONValue, result: JSONValue) {
        self.name = name
        self.params = params
        self.result = result
    }
}

/// The parameters of a method: an object with named members.
public protocol WireParams: WireValue {
    /// The parameters one by one, as OpenRPC lists them.
    static func parameters(in schemas: inout WireSchemas) -> [ParameterDescription]
}

/// One named parameter.
public struct ParameterDescription: Sendable {
    public let name: String
    public let documentation: String
    public let isRequired: Bool
    public let schema: JSONValue
}

extension WireParams where Self: WireRecord {
    public static func parameters(in schemas: inout WireSchemas) -> [ParameterDescription] {
        wireFields.table.parameters(in: &schemas)
    }
}

/// No parameters.
public struct NoParams: WireInput, WireParams, Hashable {
    public init() {}
    public static let summary = "No parameters."
    public static let wireFields: WireFields<Self> = []
}

/// An empty result, `{}`: the method has succeeded.
public struct Done: WireRecord, Hashable {
    public init() {}
    public static let summary = "Done."
    public static let wireFields: WireFields<Self> = []
}

/// All methods, in the order of the OpenRPC document. The daemon checks at start that each of its own has a handler.
public enum MethodRegistry {
    /// The methods of `xferd`.
    public static let all: [any RPCMethod.Type] = namespaces.flatMap(\.self)

    /// The methods that only `xfer-fleet` answers.
    public static let fleet: [any RPCMethod.Type] = FleetMethods.all

    /// The methods in the OpenRPC document.
    public static let documented: [any RPCMethod.Type] = all + fleet

    private static let namespaces = [
        TaskMethods.all, OperationMethods.all, QueueMethods.all, BatchMethods.all, GroupMethods.all, SlotMethods.all,
        CacheMethods.all, FailedURLMethods.all, PolicyMethods.all, ProfileMethods.all, HookMethods.all,
        WebhookMethods.all,
        StrictTransportMethods.all, EventMethods.all, NetworkMethods.all, TokenMethods.all, LeaseMethods.all,
        DaemonMethods.all,
    ]

    /// The method with this name.
    public static func method(named name: String) -> (any RPCMethod.Type)? { byName[name] }

    /// The name that is closest to this one; nil if none is close.
    ///
    /// `task.add_many` is far from `task.add`, but begins with it.
    public static func suggestion(for name: String) -> String? {
        let names = documented.map { $0.name }
        return names.closest(to: name) ?? names.filter { name.hasPrefix($0) }.max { $0.count < $1.count }
    }

    private static let byName = Dictionary(uniqueKeysWithValues: documented.map { ($0.name, $0) })
}
