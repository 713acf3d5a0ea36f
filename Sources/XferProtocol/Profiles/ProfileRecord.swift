public import XferModel

/// A profile as methods return it. Secrets are `***`.
public struct ProfileRecord: WireRecord, Hashable {
    public var name = ""
    public var origin = OpenEnum(ProfileOrigin.client)
    public var baseURL: String?
    public var headers: HeaderList?
    public var headerRules: [HeaderRuleInput]?
    public var languages: [String]?
    public var cookies: OpenEnum<CookieKeeping>?
    public var access = AccessChoices()
    public var credentialHook: String?
    public var choices = TransferRequest.Choices()
    public var cacheKey: CacheKeyRecord?
    public var maxActive: Int?
    public var isPolite: Bool?
    public var maxReceiveRate: Int64?
    public var maxSendRate: Int64?

    public init() {}

    public init(_ profile: Profile, origin: ProfileOrigin) {
        name = profile.name
        self.origin = OpenEnum(origin)
        baseURL = profile.baseURL.map { Redaction.url($0.string) }
        headers = profile.headers.isEmpty ? nil : HeaderList(profile.headers).redacted
        headerRules = profile.headerRules.isEmpty ? nil : profile.headerRules.map { HeaderRuleInput($0) }
        languages = profile.languages.isEmpty ? nil : profile.languages
        access = AccessChoices(masking: profile)
        credentialHook = profile.credentialHook
        cookies = profile.keepsCookies ? OpenEnum(.jar) : nil
        choices = profile.choices
        cacheKey = profile.cacheKey.map { CacheKeyRecord($0) }
        maxActive = profile.maxActive
        isPolite = profile.isPolite
        maxReceiveRate = profile.maxReceiveRate
        maxSendRate = profile.maxSendRate
    }

    public static let summary = "Defaults for the requests of the tasks that refer to it; secrets are ***."
    public static let wireFields = WireFields<Self>(
        sections: [
            .required("name", \.name, "The profile's name."),
            .required(
                "origin", \.origin, "Origin of the definition. A profile from the configuration is changed there."),
            .optional("base_url", \.baseURL, "Relative URLs of tasks are resolved against it."),
            .optional("headers", \.headers, "Header fields of requests that have none of the same name."),
            .optional("header_rules", \.headerRules, "Changes to the header fields by host."),
            .optional("languages", \.languages, "Language tags, for Accept-Language."),
            .optional("cookies", \.cookies, "jar if cookies are stored and sent."),
        ], TaskFields.access.fields(ofProfileRecord: \.access),
        [
            .optional(
                "credential_hook", \.credentialHook, "The hook that is run when a server refuses the credential.")
        ],
        (TaskFields.request + TaskFields.caching).fields(ofProfileRecord: \.choices),
        [
            .optional("cache_key", \.cacheKey, "Parts of URLs that the cache ignores.")
        ], (TaskFields.conditions + TaskFields.connections).fields(ofProfileRecord: \.choices),
        [
            .optional("max_active", \.maxActive, "Highest number of transfers of its tasks at once."),
            .optional(
                "polite", \.isPolite, "False lets the hosts of its tasks have up to 16 connections over HTTP/1.1."),
            .optional(
                "max_recv_rate", \.maxReceiveRate,
                "Bytes per second that its tasks may receive together; 0 is unlimited."),
            .optional(
                "max_send_rate", \.maxSendRate, "Bytes per second that its tasks may send together; 0 is unlimited."),
        ])
}

/// The origin of a profile.
public enum ProfileOrigin: String, WireEnum {
    case configuration
    /// A client wrote it with `profile.set`.
    case client = "rpc"
}
