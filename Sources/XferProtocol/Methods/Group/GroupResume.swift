import StrictJSON

/// `group.resume`: lets a group's tasks start again.
public enum GroupResume: RPCMethod {
    public typealias Params = GroupGet.Params
    public typealias Result = GroupGet.Result

    public static let name = "group.resume"
    public static let summary = "Lets a group's tasks start again. Tasks that are paused themselves stay so."
    public static let errors: [ErrorCode] = [.storageUnavailable]
    public static let examples = [
        MethodExample("go on", params: ["name": "isos"], result: ["group": GroupExample.running])
    ]
}
