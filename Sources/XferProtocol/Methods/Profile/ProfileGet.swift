import StrictJSON

/// `profile.get`: one profile.
public enum ProfileGet: RPCMethod {
    public static let name = "profile.get"
    public static let summary = "One profile; its secrets are ***."
    public static let errors: [ErrorCode] = [.notFound]
    public static let examples = [
        MethodExample(
            "by name", params: ["name": "api"],
            result: [
                "profile": [
                    "name": "api", "origin": "rpc", "base_url": "https://api.example.org/v1/",
                    "credential": ["scheme": "bearer", "secret": "***"], "accept_types": ["json"],
                ]
            ])
    ]

    public struct Params: WireInput, WireParams, Hashable {
        public var name = ""

        public init() {}
        public init(name: String) { self.name = name }

        public static let summary = "Which profile."
        public static let wireFields: WireFields<Self> = [.required("name", \.name, "The profile's name.")]
    }

    public struct Result: WireRecord, Hashable {
        public var profile = ProfileRecord()

        public init() {}
        public init(profile: ProfileRecord) { self.profile = profile }

        public static let summary = "The profile."
        public static let wireFields: WireFields<Self> = [.required("profile", \.profile, "The profile.")]
    }
}
