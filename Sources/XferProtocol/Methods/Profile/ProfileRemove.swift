import StrictJSON

/// `profile.remove`: forgets a profile.
public enum ProfileRemove: RPCMethod {
    public typealias Params = ProfileGet.Params
    public typealias Result = Done

    public static let name = "profile.remove"
    public static let summary =
        "Forgets a profile and its cookies. Tasks that took over from it go on, unless they use its credential: their "
        + "next attempt fails with credential_missing."
    public static let errors: [ErrorCode] = [.notFound, .conflict, .storageUnavailable]
    public static let examples = [MethodExample("by name", params: ["name": "api"], result: [:])]
}
