import StrictJSON

/// The methods of `profile.*`, in the order of the document.
enum ProfileMethods {
    static let all: [any RPCMethod.Type] = [ProfileList.self, ProfileGet.self, ProfileSet.self, ProfileRemove.self]
}

/// `profile.list`: all profiles.
public enum ProfileList: RPCMethod {
    public typealias Params = NamedPageParams

    public static let name = "profile.list"
    public static let access = MethodAccess.operators
    public static let scope = MethodScope.operate
    public static let summary = "All profiles by name; their secrets are ***."
    public static let examples = [
        MethodExample(
            "one profile", params: [:],
            result: [
                "profiles": [
                    ["name": "api", "origin": "configuration", "base_url": "https://api.example.org/v1/"]
                ], "next_cursor": nil,
            ])
    ]

    public struct Result: PageRecord, Hashable {
        public var profiles: [ProfileRecord] = []
        public var nextCursor: String?

        public init() {}

        public static var list: WritableKeyPath<Self, [ProfileRecord]> { \.profiles }

        public static let summary = "All profiles."
        public static let wireFields: WireFields<Self> = [
            .required("profiles", \.profiles, "The profiles, by name."),
            .nextCursor(\.nextCursor),
        ]
    }
}

/// `profile.get`: one profile.
public enum ProfileGet: RPCMethod {
    public static let name = "profile.get"
    public static let access = MethodAccess.operators
    public static let scope = MethodScope.operate
    public static let summary = "One profile. Its secrets are ***, or the places that they are read from."
    public static let errors: [ErrorCode] = [.notFound]
    public static let examples = [
        MethodExample("by name", params: ["name": "api"], result: ["profile": example])
    ]

    static let example: JSONValue = [
        "name": "api", "origin": "rpc", "base_url": "https://api.example.org/v1/",
        "credential": ["scheme": "bearer", "secret": ["file": "/etc/xferd/api-token"]], "accept_types": ["json"],
    ]

    public struct Params: WireInput, WireParams, Hashable {
        public var name = ""

        public init() {}
        public init(name: String) { self.name = name }

        public static let summary = "The profile."
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

/// `profile.set`: writes a profile.
public enum ProfileSet: RPCMethod {
    public typealias Result = ProfileGet.Result

    public static let name = "profile.set"
    public static let access = MethodAccess.operators
    public static let scope = MethodScope.operate
    public static let summary =
        "Writes a profile, replacing the one of that name. Existing tasks keep the values that they got from it; only its "
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
            result: ["profile": ProfileGet.example])
    ]

    public struct Params: WireInput, WireParams, Hashable {
        public var profile = ProfileInput()

        public init() {}
        public init(profile: ProfileInput) { self.profile = profile }

        public static let summary = "The new profile."
        public static let wireFields: WireFields<Self> = [
            .required("profile", \.profile, "The whole profile: fields left unset are removed.")
        ]
    }
}

/// `profile.remove`: removes a profile.
public enum ProfileRemove: RPCMethod {
    public typealias Params = ProfileGet.Params
    public typealias Result = Done

    public static let name = "profile.remove"
    public static let access = MethodAccess.operators
    public static let scope = MethodScope.operate
    public static let summary =
        "Removes a profile and its cookies. Tasks that use its defaults continue, unless they use its credential: their "
        + "next attempt fails with credential_missing."
    public static let errors: [ErrorCode] = [.notFound, .conflict, .storageUnavailable]
    public static let examples = [MethodExample("by name", params: ["name": "api"], result: [:])]
}
