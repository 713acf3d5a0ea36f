/// Named defaults for requests, as AFHTTPSessionManager and its request serializer hold them.
///
/// When a task is added, it takes the profile's values for fields that it does not set; later changes do not affect it.
/// Only the credential, the client certificate and the cookies are looked up by the profile's name at each attempt.
public struct Profile: Hashable, Sendable, Codable {
    /// Lower-case letters, digits, `-`, `_` and `.`.
    public var name: String
    /// Relative URLs of tasks are resolved against it; its path ends in a slash.
    public var baseURL: HTTPURL?
    public var headers: [HeaderField]
    public var headerRules: [HeaderRule]
    /// Language tags in order of preference, for Accept-Language.
    public var languages: [String]
    public var credential: Credential?
    public var clientCertificate: ClientCertificateFiles?
    /// Whether cookies are kept and sent, in a jar of the profile's own.
    public var keepsCookies: Bool
    public var proxy: ProxySettings?
    public var redirect: RedirectPolicy?
    public var allowsDowngrade: Bool?
    public var httpVersion: HTTPVersion?
    /// Seconds, 0 is none.
    public var connectTimeout: Double?
    public var idleTimeout: Double?
    public var totalTimeout: Double?
    public var acceptedStatus: ClosedRange<Int>?
    /// Media types or presets as written; nil says nothing.
    public var acceptedTypes: [String]?
    /// What is done about kept responses; nil says nothing.
    public var cachePolicy: CachePolicy?
    /// Whether responses are kept; nil says nothing.
    public var storesResponses: Bool?
    public var cacheKey: CacheKeyRule?
    /// Whether tasks may go over links that cost money.
    public var allowsMetered: Bool?
    /// Transfers with this profile at once, at least 1; nil is bounded by what holds for all.
    public var maxActive: Int?
    /// Bytes per second that all transfers with this profile may receive together; 0 is unlimited.
    public var maxReceiveRate: Int64?
    /// Bytes of content per second that all transfers with this profile may send together; 0 is unlimited.
    public var maxSendRate: Int64?

    public init(name: String) {
        self.name = name
        headers = []
        headerRules = []
        languages = []
        keepsCookies = false
    }
}
