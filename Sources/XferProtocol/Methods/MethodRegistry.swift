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
