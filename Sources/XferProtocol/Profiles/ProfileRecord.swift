public import XferModel

/// A profile coming out. Secrets are `***`.
public struct ProfileRecord: WireRecord, Hashable {
    public var name = ""
    public var origin = OpenEnum(ProfileOrigin.client)
    public var baseURL: String?
    public var headers: HeaderList?
    public var headerRules: [HeaderRuleInput]?
    public var languages: [String]?
    public var credential: CredentialRecord?
    public var clientCert: ClientCertificateRecord?
    public var cookies: OpenEnum<CookieKeeping>?
    public var proxy: ProxyRecord?
    public var redirect: OpenEnum<RedirectPolicy>?
    public var allowDowngrade: Bool?
    public var httpVersion: OpenEnum<HTTPVersion>?
    public var connectTimeout: Double?
    public var idleTimeout: Double?
    public var totalTimeout: Double?
    public var acceptStatus: StatusRange?
    public var acceptTypes: [String]?
    public var cachePolicy: OpenEnum<CachePolicy>?
    public var store: Bool?
    public var cacheKey: CacheKeyRecord?
    public var allowMetered: Bool?
    public var maxActive: Int?
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
        credential = profile.credential.map { CredentialRecord(masking: $0) }
        clientCert = profile.clientCertificate.map { ClientCertificateRecord($0) }
        cookies = profile.keepsCookies ? OpenEnum(.jar) : nil
        proxy = profile.proxy.map { ProxyRecord(masking: $0) }
        redirect = profile.redirect.map { OpenEnum($0) }
        allowDowngrade = profile.allowsDowngrade
        httpVersion = profile.httpVersion.map { OpenEnum($0) }
        connectTimeout = profile.connectTimeout
        idleTimeout = profile.idleTimeout
        totalTimeout = profile.totalTimeout
        acceptStatus = profile.acceptedStatus.map { StatusRange($0) }
        acceptTypes = profile.acceptedTypes
        cachePolicy = profile.cachePolicy.map { OpenEnum($0) }
        store = profile.storesResponses
        cacheKey = profile.cacheKey.map { CacheKeyRecord($0) }
        allowMetered = profile.allowsMetered
        maxActive = profile.maxActive
        maxReceiveRate = profile.maxReceiveRate
        maxSendRate = profile.maxSendRate
    }

    public static let summary = "Defaults for the requests of the tasks that name it; secrets are ***."
    public static let wireFields: WireFields<Self> = [
        .required("name", \.name, "The profile's name."),
        .required("origin", \.origin, "Who wrote it; those of the configuration are changed there."),
        .optional("base_url", \.baseURL, "Relative URLs of tasks are resolved against it."),
        .optional("headers", \.headers, "Header fields of requests that have none of the same name."),
        .optional("header_rules", \.headerRules, "Changes to the header fields by host."),
        .optional("languages", \.languages, "Language tags, for Accept-Language."),
        .optional("credential", \.credential, "Set when there is one; its values are ***."),
        .optional("client_cert", \.clientCert, "Files of a client certificate."),
        .optional("cookies", \.cookies, "jar where cookies are kept."),
        .optional("proxy", \.proxy, "The proxy to go through."),
        .optional("redirect", \.redirect, "Whether redirects are followed."),
        .optional("allow_downgrade", \.allowDowngrade, "Whether a redirect may lead from https to http."),
        .optional("http_version", \.httpVersion, "The protocol to use."),
        .optional("connect_timeout", \.connectTimeout, "Seconds; 0 is none."),
        .optional("idle_timeout", \.idleTimeout, "Seconds without a byte that end a try; 0 is none."),
        .optional("total_timeout", \.totalTimeout, "Seconds that one try may take; 0 is none."),
        .optional("accept_status", \.acceptStatus, "Status codes that count as success."),
        .optional("accept_types", \.acceptTypes, "Media types and presets that count as success."),
        .optional("cache_policy", \.cachePolicy, "Whether kept responses are used."),
        .optional("store", \.store, "Whether responses are kept."),
        .optional("cache_key", \.cacheKey, "What of URLs does not count in the cache."),
        .optional("allow_metered", \.allowMetered, "Whether tasks may go over links that cost money."),
        .optional("max_active", \.maxActive, "Most transfers of its tasks at once."),
        .optional(
            "max_recv_rate", \.maxReceiveRate, "Bytes per second that its tasks may receive together; 0 is unlimited."),
        .optional(
            "max_send_rate", \.maxSendRate, "Bytes per second that its tasks may send together; 0 is unlimited."),
    ]
}

/// The origin of a profile.
public enum ProfileOrigin: String, WireEnum {
    case configuration
    /// `profile.set`.
    case client = "rpc"
}
