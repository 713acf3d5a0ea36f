import StrictJSON

/// `profile.set`: writes a profile.
public enum ProfileSet: RPCMethod {
    public typealias Result = ProfileGet.Result

    public static let name = "profile.set"
    public static let summary =
        "Writes a profile, replacing the one of that name. Tasks that exist keep what they took over from it; only its "
        + "credential, client certificate and cookies are looked up by its name at every attempt."
    public static let errors: [ErrorCode] = [.conflict, .storageUnavailable]
    public static let examples = [
        MethodExample(
            "an API with a token that is read from a file",
            params: [
                "profile": [
                    "name": "api", "base_url": "https://api.example.org/v1",
                    "credential": ["scheme": "bearer", "secret": ["file": "/etc/xferd/api-token"]],
                    "accept_types": ["json"],
                ]
            ],
            result: [
                "profile": [
                    "name": "api", "origin": "rpc", "base_url": "https://api.example.org/v1/",
                    "credential": ["scheme": "bearer", "secret": "***"], "accept_types": ["json"],
                ]
            ])
    ]

    public struct Params: WireInput, WireParams, Hashable {
        public var profile = ProfileInput()

        public init() {}
        public init(profile: ProfileInput) { self.profile = profile }

        public static let summary = "The profile as it is to be."
        public static let wireFields: WireFields<Self> = [
            .required("profile", \.profile, "The whole profile: what it does not say has no default here.")
        ]
    }
}
