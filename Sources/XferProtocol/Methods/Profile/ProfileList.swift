import StrictJSON

/// `profile.list`: all profiles.
public enum ProfileList: RPCMethod {
    public typealias Params = NoParams

    public static let name = "profile.list"
    public static let summary = "All profiles by name; their secrets are ***."
    public static let examples = [
        MethodExample(
            "one profile", params: [:],
            result: [
                "profiles": [
                    ["name": "api", "origin": "configuration", "base_url": "https://api.example.org/v1/"]
                ]
            ])
    ]

    public struct Result: WireRecord, Hashable {
        public var profiles: [ProfileRecord] = []

        public init() {}
        public init(profiles: [ProfileRecord]) { self.profiles = profiles }

        public static let summary = "All profiles."
        public static let wireFields: WireFields<Self> = [.required("profiles", \.profiles, "By name.")]
    }
}
