/// Named defaults for requests, similar to AFHTTPSessionManager and its request serializer.
///
/// When a task is added, it takes the profile's values for fields that it does not set; later changes do not affect it.
/// Only the credential, the client certificate and the cookies are looked up by the profile's name at each attempt.
@dynamicMemberLookup
public struct Profile: Hashable, Sendable, Codable {
    /// The name: lower-case letters, digits, `-`, `_` and `.`.
    public var name: String
    /// Relative URLs of tasks are resolved against it; its path ends in a slash.
    public var baseURL: HTTPURL?
    public var headers: [HeaderField]
    public var headerRules: [HeaderRule]
    /// Language tags in order of preference, for Accept-Language.
    public var languages: [String]
    public var credential: Credential?
    /// The hook that renews the credential after a server has refused it (401).
    public var credentialHook: String?
    public var clientCertificate: ClientCertificateFiles?
    /// True if cookies are kept and sent, in a jar of the profile's own.
    public var keepsCookies: Bool
    public var proxy: ProxySettings?
    /// The choices for the requests of its tasks. It clears no field.
    public var choices = TransferRequest.Choices()
    public var cacheKey: CacheKeyRule?
    /// The highest number of transfers with this profile at once, at least 1; nil means that only the general limits
    /// apply.
    public var maxActive: Int?
    /// False if the hosts of its tasks may see more connections than is polite; nil is the service's rule.
    public var isPolite: Bool?
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
    /// A choice by its name; nil is none.
    public subscript<Value>(
        dynamicMember choice: WritableKeyPath<TransferRequest.Choices, Patch<Value>>
    ) -> Value? {
        get { choices[keyPath: choice].applied(to: nil) }
        set { choices[keyPath: choice] = newValue.map { .set($0) } ?? .unchanged }
    }
}

// The choices are members of the profile's own object, as they were before they became a group.
extension Profile {
    private enum CodingKeys: CodingKey {
        case name, baseURL, headers, headerRules, languages, credential, clientCertificate, keepsCookies, proxy
        case cacheKey, maxActive, isPolite, maxReceiveRate, maxSendRate, credentialHook
    }

    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        name = try members.decode(String.self, forKey: .name)
        baseURL = try members.decodeIfPresent(HTTPURL.self, forKey: .baseURL)
        headers = try members.decode([HeaderField].self, forKey: .headers)
        headerRules = try members.decode([HeaderRule].self, forKey: .headerRules)
        languages = try members.decode([String].self, forKey: .languages)
        credential = try members.decodeIfPresent(Credential.self, forKey: .credential)
        credentialHook = try members.decodeIfPresent(String.self, forKey: .credentialHook)
        clientCertificate = try members.decodeIfPresent(ClientCertificateFiles.self, forKey: .clientCertificate)
        keepsCookies = try members.decode(Bool.self, forKey: .keepsCookies)
        proxy = try members.decodeIfPresent(ProxySettings.self, forKey: .proxy)
        choices = try TransferRequest.Choices(from: decoder)
        cacheKey = try members.decodeIfPresent(CacheKeyRule.self, forKey: .cacheKey)
        maxActive = try members.decodeIfPresent(Int.self, forKey: .maxActive)
        isPolite = try members.decodeIfPresent(Bool.self, forKey: .isPolite)
        maxReceiveRate = try members.decodeIfPresent(Int64.self, forKey: .maxReceiveRate)
        maxSendRate = try members.decodeIfPresent(Int64.self, forKey: .maxSendRate)
    }

    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(name, forKey: .name)
        try members.encodeIfPresent(baseURL, forKey: .baseURL)
        try members.encode(headers, forKey: .headers)
        try members.encode(headerRules, forKey: .headerRules)
        try members.encode(languages, forKey: .languages)
        try members.encodeIfPresent(credential, forKey: .credential)
        try members.encodeIfPresent(credentialHook, forKey: .credentialHook)
        try members.encodeIfPresent(clientCertificate, forKey: .clientCertificate)
        try members.encode(keepsCookies, forKey: .keepsCookies)
        try members.encodeIfPresent(proxy, forKey: .proxy)
        try choices.encode(to: encoder)
        try members.encodeIfPresent(cacheKey, forKey: .cacheKey)
        try members.encodeIfPresent(maxActive, forKey: .maxActive)
        try members.encodeIfPresent(isPolite, forKey: .isPolite)
        try members.encodeIfPresent(maxReceiveRate, forKey: .maxReceiveRate)
        try members.encodeIfPresent(maxSendRate, forKey: .maxSendRate)
    }
}
