import StrictJSON
public import XferModel

/// A profile as clients write it: the parameters of `profile.set`, and a profile in the configuration file.
public struct ProfileInput: WireInput, Hashable {
    public var name = ""
    public var baseURL: String?
    public var headers: HeaderList?
    public var headerRules: [HeaderRuleInput]?
    public var languages: [String]?
    public var cookies: CookieKeeping?
    public var access = AccessChoices()
    public var credentialHook: String?
    public var choices = TransferRequest.Choices()
    public var cacheKey: CacheKeyRecord?
    public var maxActive: Int?
    public var isPolite: Bool?
    public var maxReceiveRate: Int64?
    public var maxSendRate: Int64?

    public init() {}
    public init(name: String) { self.name = name }

    public static let summary = "Defaults for the requests of the tasks that refer to it."
    public static let wireFields = WireFields<Self>(
        sections: [
            .required("name", \.name, "Lower-case letters, digits, -, _ and .", .length(1...64), example: "api"),
            .optional(
                "base_url", \.baseURL,
                "Relative URLs of tasks are resolved against it; a slash is added to its path if it does not end in one.",
                .length(1...TaskLimits.urlLength), example: "https://api.example.org/v1/"),
            .optional("headers", \.headers, "Header fields of requests that have none of the same name."),
            .optional(
                "header_rules", \.headerRules, "Changes to the header fields by host, at every redirect.",
                .count(0...64)),
            .optional(
                "languages", \.languages, "Language tags in order of preference, for Accept-Language.", .count(0...32),
                example: ["de", "en"]),
            .optional("cookies", \.cookies, "jar: cookies are stored, also across restarts, and sent; default none."),
        ], TaskFields.access.fields(ofProfile: \.access),
        [
            .optional(
                "credential_hook", \.credentialHook,
                "A hook of the configuration that is run when a server refuses the credential (401), once for all tasks of the "
                    + "profile. It renews the secret in the credential's file; then each task repeats its request once.",
                .length(1...64))
        ],
        (TaskFields.request + TaskFields.caching).fields(ofProfile: \.choices),
        [
            .optional(
                "cache_key", \.cacheKey, "Parts of URLs that the cache ignores.", example: ["ignore_query": true])
        ], (TaskFields.conditions + TaskFields.connections).fields(ofProfile: \.choices),
        [
            .optional(
                "max_active", \.maxActive, "Highest number of transfers of its tasks at once.",
                .range(GroupLimits.activeRange)),
            .optional(
                "polite", \.isPolite,
                "False lets the hosts of its tasks have up to 16 connections over HTTP/1.1, as queue.polite does."),
            .optional(
                "max_recv_rate", \.maxReceiveRate,
                "Bytes per second that its tasks may receive together; 0 is unlimited.",
                .range(0...BandwidthLimits.highest)),
            .optional(
                "max_send_rate", \.maxSendRate, "Bytes per second that its tasks may send together; 0 is unlimited.",
                .range(0...BandwidthLimits.highest)),
        ])

    /// The profile without its base URL and header rules, which are still text and have to be parsed.
    public var profile: Profile {
        var profile = Profile(name: name)
        profile.headers = headers?.fields ?? []
        profile.languages = languages ?? []
        profile.credential = access.credential.applied(to: nil)?.credential
        profile.credentialHook = credentialHook
        profile.clientCertificate = access.clientCert.applied(to: nil)?.files
        profile.keepsCookies = cookies == .jar
        profile.proxy = access.proxy.applied(to: nil)?.settings
        profile.choices = choices
        profile.cacheKey = cacheKey?.rule
        profile.maxActive = maxActive
        profile.isPolite = isPolite
        profile.maxReceiveRate = maxReceiveRate
        profile.maxSendRate = maxSendRate
        return profile
    }
}

/// The choice whether a profile has a jar for cookies.
public enum CookieKeeping: String, WireEnum {
    case none, jar
}

/// A change to the header fields of requests to some hosts.
public struct HeaderRuleInput: WireInput, Hashable {
    public var hosts: [String] = []
    public var set: HeaderList?
    public var remove: [String]?

    public init() {}

    public init(_ rule: HeaderRule) {
        hosts = rule.hosts.map(\.description)
        set = rule.set.isEmpty ? nil : HeaderList(rule.set).redacted
        remove = rule.remove.isEmpty ? nil : rule.remove
    }

    public static let summary = "A change to the header fields of requests to some hosts."
    public static let wireFields: WireFields<Self> = [
        .defaulted(
            "hosts", \.hosts,
            "example.org, *.example.org or .example.org, each with an optional :port; none is every host.",
            .count(0...64), example: [".example.org"]),
        .optional("set", \.set, "Fields that replace those of the same names."),
        .optional("remove", \.remove, "Names of fields that are not sent.", .count(0...100)),
    ]
}
