public import StrictJSON

/// One method of the RPC surface: its name, what goes in, what comes out, and its documentation.
///
/// To add one: an enumeration and its name in the list of its namespace's file, a handler in the daemon.
public protocol RPCMethod: Sendable {
    associatedtype Params: WireParams
    associatedtype Result: WireValue

    /// `noun.verb`.
    static var name: String { get }
    /// Who may call it. Has no default, so that no method is open to guests by accident.
    static var access: MethodAccess { get }
    /// What a token has to allow before a remote client may call it.
    static var scope: MethodScope { get }
    /// What it does, one or two sentences.
    static var summary: String { get }
    /// Codes it answers with beyond `ErrorCode.everywhere`.
    static var errors: [ErrorCode] { get }
    /// At least one; checked against the schemas by a test.
    static var examples: [MethodExample] { get }
    /// Whether a call may read and answer so much that the service lets only a few of them run at the same time.
    static var isBulk: Bool { get }
    /// Whether a call with few parameters takes so little that it is answered on the thread that read it.
    static var isBrief: Bool { get }
}

extension RPCMethod {
    public static var errors: [ErrorCode] { [] }
    public static var isBulk: Bool { false }
    public static var isBrief: Bool { false }
}

/// Who may call a method. The daemon decides by this declaration before it reads the parameters.
///
/// A guest is a user whom `access.users` or `access.groups` lets in and who is no operator.
public enum MethodAccess: String, Sendable, CaseIterable {
    /// Operators, and guests. The answer is about the service or about the caller itself.
    case users
    /// Operators, and guests for what belongs to them: what belongs to others is not found.
    case owners
    /// Operators only: the daemon's own user and root. Guests are answered `permission_denied`.
    case operators

    /// A phrase for the reference.
    public var summary: String {
        switch self {
        case .users: "every user"
        case .owners: "every user for its own, operators for all"
        case .operators: "operators"
        }
    }
}

/// What a token has to allow before a remote client may call a method, beside what its user may do.
public enum MethodScope: String, Sendable, CaseIterable {
    /// Shows and changes nothing.
    case read
    /// Adds tasks of the token's user.
    case add
    /// Changes what belongs to the token's user.
    case own
    /// Shows or changes what belongs to the service.
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

/// What a method takes: an object with named parameters.
public protocol WireParams: WireValue {
    /// Each parameter by itself, as OpenRPC lists them.
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
        wireFields.map {
            ParameterDescription(
                name: $0.name, documentation: $0.documentation, isRequired: $0.isRequired,
                schema: $0.schema(in: &schemas))
        }
    }
}

/// No parameters.
public struct NoParams: WireInput, WireParams, Hashable {
    public init() {}
    public static let summary = "No parameters."
    public static let wireFields: WireFields<Self> = []
}

/// Nothing to say beyond that it was done: `{}`.
public struct Done: WireRecord, Hashable {
    public init() {}
    public static let summary = "Done."
    public static let wireFields: WireFields<Self> = []
}

/// Every method there is, in the order of the document. The daemon checks at start that each has a handler.
public enum MethodRegistry {
    public static let all: [any RPCMethod.Type] = namespaces.flatMap(\.self)

    private static let namespaces = [
        TaskMethods.all, QueueMethods.all, BatchMethods.all, GroupMethods.all, SlotMethods.all, CacheMethods.all,
        FailedURLMethods.all, PolicyMethods.all, ProfileMethods.all, HookMethods.all, EventMethods.all,
        NetworkMethods.all, DaemonMethods.all,
    ]

    /// The method with this name.
    public static func method(named name: String) -> (any RPCMethod.Type)? { byName[name] }

    /// The name a caller most likely meant, nil when none is near.
    public static func suggestion(for name: String) -> String? { all.map { $0.name }.closest(to: name) }

    private static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })
}
