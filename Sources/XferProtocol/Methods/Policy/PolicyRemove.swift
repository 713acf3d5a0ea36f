import StrictJSON

/// `policy.remove`: forgets a trust policy.
public enum PolicyRemove: RPCMethod {
    public typealias Params = PolicyGet.Params
    public typealias Result = Done

    public static let name = "policy.remove"
    public static let summary =
        "Forgets a trust policy: its hosts are judged by the next less specific one. Refused with in_use while an "
        + "unfinished task names it."
    public static let errors: [ErrorCode] = [.notFound, .conflict, .storageUnavailable]
    public static let examples = [MethodExample("by name", params: ["name": "mirror"], result: [:])]
}
