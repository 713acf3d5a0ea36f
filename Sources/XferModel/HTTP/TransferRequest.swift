/// A request with its credentials, its route, and its timeouts.
///
/// Its content is stored separately in a `RequestBody`, because it may be large. Class of origin: `NSURLRequest`, with
/// the properties that AFHTTPRequestSerializer sets.
public struct TransferRequest: Hashable, Sendable, Codable {
    public var url: HTTPURL
    public var method: HTTPMethod
    /// The client's own header fields and the profile's, in order.
    public var headers: [HeaderField]
    /// Changes to the header fields by host, applied at every hop.
    public var headerRules: [HeaderRule]
    /// A summary of the content for code that does not read it; nil when none is sent.
    public var bodySummary: BodySummary?
    /// The client's own credential; it takes precedence over the profile's.
    public var credential: Credential?
    /// True if the profile's credential is used. It is looked up by the profile's name at every attempt.
    public var usesProfileCredential: Bool
    /// True if the profile's client certificate is used. It is looked up by the profile's name at every attempt.
    public var usesProfileCertificate: Bool
    /// The client certificate for servers of `url`'s origin that request one.
    public var clientCertificate: ClientCertificateFiles?
    /// True if the profile's cookie jar is used.
    public var usesCookies: Bool
    /// True if cookies that responses set are ignored, so that only the client's own cookies are sent.
    public var refusesCookies = false
    /// The client's own cookies, instead of a jar.
    public var cookies: [RequestCookie]
    /// The proxy; nil connects directly.
    public var proxy: ProxySettings?
    public var redirect: RedirectPolicy
    /// A PEM file of the authorities that are trusted in place of the service's, absolute; nil is the service's.
    public var authoritiesFile: String?
    /// The highest number of redirects of one attempt.
    public var maxRedirects = Self.usualMaxRedirects
    /// True if a redirect may lead from https to http.
    public var allowsDowngrade: Bool
    public var httpVersion: HTTPVersion
    public var timeouts: Timeouts
    public var leastRate = LeastRate()
    /// Status codes that count as success.
    public var acceptedStatus: StatusSet
    /// Media ranges that count as success, lower case, without parameters; empty accepts all.
    public var acceptedTypes: [String]
    /// True if a response of type HTML is a failure, with any status.
    public var rejectsPages = false
    /// The treatment of digests that the server announces.
    public var announcedDigests = AnnouncedDigests.verify
    /// The part of the source to download, or nil for the whole. Only for downloads with GET.
    public var range: SourceRange?
    /// The greatest length of a download in bytes; nil is unlimited.
    public var maxSize: Int64?
    /// The use of cached responses.
    public var caching: CachingOptions
    /// True if the request may use metered links.
    public var allowsMetered: Bool
    public var connections: ConnectionRules
    /// True if dot segments in the paths of the task's own URLs stay. Redirects are resolved without them.
    public var keepsPath = false

    public init(
        url: HTTPURL, method: HTTPMethod = .get, headers: [HeaderField] = [], headerRules: [HeaderRule] = [],
        bodySummary: BodySummary? = nil, credential: Credential? = nil, usesProfileCredential: Bool = false,
        usesProfileCertificate: Bool = false, clientCertificate: ClientCertificateFiles? = nil,
        usesCookies: Bool = false, cookies: [RequestCookie] = [], proxy: ProxySettings? = nil,
        redirect: RedirectPolicy = .follow, allowsDowngrade: Bool = false, httpVersion: HTTPVersion = .automatic,
        timeouts: Timeouts = Timeouts(), acceptedStatus: StatusSet = .success, acceptedTypes: [String] = [],
        caching: CachingOptions = CachingOptions(), allowsMetered: Bool = true,
        connections: ConnectionRules = ConnectionRules()
    ) {
        self.url = url
        self.method = method
        self.headers = headers
        self.headerRules = headerRules
        self.bodySummary = bodySummary
        self.credential = credential
        self.usesProfileCredential = usesProfileCredential
        self.usesProfileCertificate = usesProfileCertificate
        self.clientCertificate = clientCertificate
        self.usesCookies = usesCookies
        self.cookies = cookies
        self.proxy = proxy
        self.redirect = redirect
        self.allowsDowngrade = allowsDowngrade
        self.httpVersion = httpVersion
        self.timeouts = timeouts
        self.acceptedStatus = acceptedStatus
        self.acceptedTypes = acceptedTypes
        self.caching = caching
        self.allowsMetered = allowsMetered
        self.connections = connections
    }

    public static let usualMaxRedirects = 20

    /// True if an attempt needs a secret of the profile.
    public var usesProfileSecrets: Bool { usesProfileCredential || usesProfileCertificate }

    /// True if it has neither secrets nor a cookie jar nor a proxy of its own.
    public var isPlain: Bool {
        credential == nil && !usesProfileSecrets && clientCertificate == nil && !usesCookies && proxy == nil
    }
}

extension TransferRequest: ChoiceSubject {
    /// The request options that both a task and its profile can choose. The task's choice takes precedence over the
    /// profile's. A cleared choice means the service's default.
    public struct Choices: Hashable, Sendable, Codable {
        public var redirect = Patch<RedirectPolicy>.unchanged
        public var maxRedirects = Patch<Int>.unchanged
        public var allowsDowngrade = Patch<Bool>.unchanged
        public var httpVersion = Patch<HTTPVersion>.unchanged
        /// The timeouts are in seconds; 0 is no timeout.
        public var connectTimeout = Patch<Double>.unchanged
        public var idleTimeout = Patch<Double>.unchanged
        public var totalTimeout = Patch<Double>.unchanged
        /// Bytes per second.
        public var minReceiveRate = Patch<Int64>.unchanged
        /// Seconds.
        public var minReceiveTime = Patch<Double>.unchanged
        public var acceptedStatus = Patch<StatusSet>.unchanged
        /// Media types and names of presets, as the client wrote them.
        public var acceptedTypes = Patch<[String]>.unchanged
        public var rejectsPages = Patch<Bool>.unchanged
        public var announcedDigests = Patch<AnnouncedDigests>.unchanged
        public var cachePolicy = Patch<CachePolicy>.unchanged
        public var storesResponses = Patch<Bool>.unchanged
        public var allowsMetered = Patch<Bool>.unchanged
        public var ipVersion = Patch<IPVersion>.unchanged
        public var authoritiesFile = Patch<String>.unchanged
        public var interface = Patch<LocalInterface>.unchanged
        public var resolve = Patch<[ResolveRule]>.unchanged
        public var connectTo = Patch<[ConnectToRule]>.unchanged
        public var unixSocket = Patch<String>.unchanged
        public var keepsPath = Patch<Bool>.unchanged

        public init() {}
    }

    public static let choiceTable: [Choice<Self>] = [
        Choice(\.redirect, \.redirect),
        Choice(\.maxRedirects, \.maxRedirects, hidden: usualMaxRedirects),
        Choice(\.allowsDowngrade, \.allowsDowngrade),
        Choice(\.httpVersion, \.httpVersion),
        Choice(\.connectTimeout, \.timeouts.connect),
        Choice(\.idleTimeout, \.timeouts.idle),
        Choice(\.totalTimeout, \.timeouts.total),
        Choice(\.minReceiveRate, optional: \.leastRate.rate),
        Choice(\.minReceiveTime, optional: \.leastRate.time),
        Choice(\.acceptedStatus, \.acceptedStatus),
        Choice(\.acceptedTypes),
        Choice(\.rejectsPages, \.rejectsPages, hidden: false),
        Choice(\.announcedDigests, \.announcedDigests, hidden: .verify),
        Choice(\.cachePolicy),
        Choice(\.storesResponses),
        Choice(\.allowsMetered, \.allowsMetered),
        Choice(\.ipVersion, \.connections.ipVersion, hidden: .any),
        Choice(\.authoritiesFile, optional: \.authoritiesFile),
        Choice(\.interface, optional: \.connections.interface),
        Choice(\.resolve, \.connections.resolve, hidden: []),
        Choice(\.connectTo, \.connections.connectTo, hidden: []),
        Choice(\.unixSocket, optional: \.connections.unixSocket),
        Choice(\.keepsPath, \.keepsPath, hidden: false),
    ]
}

extension TransferRequest {
    /// The choices that would produce this request.
    public var choices: Choices {
        var choices = Choices()
        show(in: &choices)
        if !acceptedTypes.isEmpty { choices.acceptedTypes = .set(acceptedTypes) }
        if caching.policy != .reload { choices.cachePolicy = .set(caching.policy) }
        if caching.stores { choices.storesResponses = .set(true) }
        return choices
    }
}

extension TransferRequest.Choices {
    /// Returns these choices, with the profile's choice wherever this value has none.
    public func completed(by profile: Self) -> Self {
        var choices = self
        for choice in TransferRequest.choiceTable { choice.complete(&choices, profile) }
        return choices
    }
}

extension TaskSpecification {
    /// The request's fields that the database stores as options of a task.
    static let requestOptions: [StoredOption] = [
        StoredOption("method", \.request.method, .common),
        StoredOption("headers", \.request.headers, .common),
        StoredOption("headerRules", \.request.headerRules, .common),
        StoredOption("bodySummary", \.request.bodySummary, .common),
        StoredOption("credential", \.request.credential, .common),
        // This option is stored if both profile flags are set, one of the next two if only one flag is set.
        StoredOption("usesProfileCredentials", \.request.usesBothOfProfile, .common) {
            $0.pointee.request.usesBothOfProfile
        },
        StoredOption("usesProfileCredential", \.request.usesOnlyProfileCredential, .common) {
            $0.pointee.request.usesOnlyProfileCredential
        },
        StoredOption("usesProfileCertificate", \.request.usesOnlyProfileCertificate, .common) {
            $0.pointee.request.usesOnlyProfileCertificate
        },
        StoredOption("clientCertificate", \.request.clientCertificate, .common),
        StoredOption("usesCookies", \.request.usesCookies, .common),
        StoredOption("refusesCookies", \.request.refusesCookies, .common),
        StoredOption("cookies", \.request.cookies, .common),
        StoredOption("proxy", \.request.proxy, .common),
        StoredOption("redirect", \.request.redirect, .common),
        StoredOption("maxRedirects", \.request.maxRedirects, .common),
        StoredOption("allowsDowngrade", \.request.allowsDowngrade, .common),
        StoredOption("httpVersion", \.request.httpVersion, .own),
        StoredOption("timeouts", \.request.timeouts, .own),
        StoredOption("leastRate", \.request.leastRate, .own),
        StoredOption("firstAcceptedStatus", \.request.firstAcceptedStatus, .common) {
            $0.pointee.request.firstAcceptedStatus
        },
        StoredOption("lastAcceptedStatus", \.request.lastAcceptedStatus, .common) {
            $0.pointee.request.lastAcceptedStatus
        },
        // This option is stored if the set is more than one range, the last two if it is one.
        StoredOption("acceptedStatus", \.request.severalAcceptedRanges, .common) {
            $0.pointee.request.severalAcceptedRanges
        },
        StoredOption("acceptedTypes", \.request.acceptedTypes, .own),
        StoredOption("rejectsPages", \.request.rejectsPages, .common),
        StoredOption("announcedDigests", \.request.announcedDigests, .common),
        StoredOption("range", \.request.range, .common),
        StoredOption("maxSize", \.request.maxSize, .common),
        StoredOption("caching", \.request.caching, .own),
        StoredOption("allowsMetered", \.request.allowsMetered, .own),
        StoredOption("connections", \.request.connections, .common),
        StoredOption("authoritiesFile", \.request.authoritiesFile, .common),
        StoredOption("keepsPath", \.request.keepsPath, .own),
    ]
}

extension TransferRequest {
    fileprivate var usesBothOfProfile: Bool {
        get { usesProfileCredential && usesProfileCertificate }
        set { (usesProfileCredential, usesProfileCertificate) = (newValue, newValue) }
    }

    fileprivate var usesOnlyProfileCredential: Bool {
        get { usesProfileCredential && !usesProfileCertificate }
        set { usesProfileCredential = newValue }
    }

    fileprivate var usesOnlyProfileCertificate: Bool {
        get { usesProfileCertificate && !usesProfileCredential }
        set { usesProfileCertificate = newValue }
    }

    // A single range is stored as its bounds, which may be set in either order. Several ranges are stored together.

    fileprivate var firstAcceptedStatus: Int {
        get { singleRange.lowerBound }
        set { acceptedStatus = StatusSet(newValue...max(newValue, singleRange.upperBound)) }
    }

    fileprivate var lastAcceptedStatus: Int {
        get { singleRange.upperBound }
        set { acceptedStatus = StatusSet(min(singleRange.lowerBound, newValue)...newValue) }
    }

    private var singleRange: ClosedRange<Int> {
        let ranges = acceptedStatus.ranges.count == 1 ? acceptedStatus.ranges : StatusSet.success.ranges
        return ranges[0]
    }

    fileprivate var severalAcceptedRanges: StatusSet? {
        get { acceptedStatus.ranges.count == 1 ? nil : acceptedStatus }
        set { acceptedStatus = newValue ?? acceptedStatus }
    }
}
