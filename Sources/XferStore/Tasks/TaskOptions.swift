import XferModel

/// The rarely set fields of a specification: one JSON column, null when all are default. Only fields that differ from
/// the default are written; names are never changed.
struct TaskOptions: Codable, Hashable {
    var method: HTTPMethod?
    var headers: [HeaderField]?
    var credential: Credential?
    var redirect: RedirectPolicy?
    var allowsDowngrade: Bool?
    var httpVersion: HTTPVersion?
    var timeouts: Timeouts?
    var firstAcceptedStatus: Int?
    var lastAcceptedStatus: Int?
    var onConflict: ConflictPolicy?
    var mode: UInt16?
    var usesRemoteTime: Bool?
    var retry: RetryLimits?
    var startsPaused: Bool?
    var maxReceiveRate: Int64?
    var progressInterval: Double?
    var resumesUnsafely: Bool?
    var headerRules: [HeaderRule]?
    var bodySummary: BodySummary?
    /// Credential and client certificate; either alone has the name that follows.
    var usesProfileCredentials: Bool?
    var usesProfileCredential: Bool?
    var usesProfileCertificate: Bool?
    var clientCertificate: ClientCertificateFiles?
    var usesCookies: Bool?
    var proxy: ProxySettings?
    var acceptedTypes: [String]?
    var maxSendRate: Int64?
    var retriesNonIdempotent: Bool?
    var upload: UploadOptions?
    var response: ResponseHandling?
    var completion: TaskCompletion?
    var coalesces: Bool?
    var caching: CachingOptions?
    var schedule: TaskSchedule?
    var allowsMetered: Bool?
    var mirrors: [HTTPURL]?
    var segments: SegmentCount?

    private static let `default` = TaskSpecification(
        owner: Owner(uid: 0),
        request: TransferRequest(url: HTTPURL(scheme: .https, host: "", port: 443, target: "/")),
        destination: Destination(directory: "/"))

    /// Nil when all fields have their defaults.
    init?(_ specification: TaskSpecification) {
        let (request, defaults) = (specification.request, Self.default)
        var isUsual = true
        func unlessDefault<T: Equatable>(_ value: T, _ defaults: T) -> T? {
            guard value != defaults else { return nil }
            isUsual = false
            return value
        }
        method = unlessDefault(request.method, defaults.request.method)
        headers = unlessDefault(request.headers, defaults.request.headers)
        credential = request.credential
        redirect = unlessDefault(request.redirect, defaults.request.redirect)
        allowsDowngrade = unlessDefault(request.allowsDowngrade, defaults.request.allowsDowngrade)
        httpVersion = unlessDefault(request.httpVersion, defaults.request.httpVersion)
        timeouts = unlessDefault(request.timeouts, defaults.request.timeouts)
        firstAcceptedStatus = unlessDefault(
            request.acceptedStatus.lowerBound, defaults.request.acceptedStatus.lowerBound)
        lastAcceptedStatus = unlessDefault(
            request.acceptedStatus.upperBound, defaults.request.acceptedStatus.upperBound)
        onConflict = unlessDefault(specification.destination.onConflict, defaults.destination.onConflict)
        mode = specification.destination.mode
        usesRemoteTime = unlessDefault(specification.destination.usesRemoteTime, defaults.destination.usesRemoteTime)
        retry = unlessDefault(specification.retry, defaults.retry)
        startsPaused = unlessDefault(specification.startsPaused, defaults.startsPaused)
        maxReceiveRate = unlessDefault(specification.maxReceiveRate, defaults.maxReceiveRate)
        progressInterval = unlessDefault(specification.progressInterval, defaults.progressInterval)
        resumesUnsafely = unlessDefault(specification.resumesUnsafely, defaults.resumesUnsafely)
        headerRules = unlessDefault(request.headerRules, defaults.request.headerRules)
        bodySummary = unlessDefault(request.bodySummary, nil) ?? nil
        let usesBoth = request.usesProfileCredential && request.usesProfileCertificate
        usesProfileCredentials = unlessDefault(usesBoth, false)
        usesProfileCredential = unlessDefault(request.usesProfileCredential && !usesBoth, false)
        usesProfileCertificate = unlessDefault(request.usesProfileCertificate && !usesBoth, false)
        clientCertificate = unlessDefault(request.clientCertificate, nil) ?? nil
        usesCookies = unlessDefault(request.usesCookies, defaults.request.usesCookies)
        proxy = unlessDefault(request.proxy, nil) ?? nil
        acceptedTypes = unlessDefault(request.acceptedTypes, defaults.request.acceptedTypes)
        maxSendRate = unlessDefault(specification.maxSendRate, defaults.maxSendRate)
        retriesNonIdempotent = unlessDefault(specification.retriesNonIdempotent, defaults.retriesNonIdempotent)
        upload = unlessDefault(specification.upload, defaults.upload)
        response = unlessDefault(specification.response, defaults.response)
        completion = unlessDefault(specification.completion, defaults.completion)
        coalesces = unlessDefault(specification.coalesces, defaults.coalesces)
        caching = unlessDefault(request.caching, defaults.request.caching)
        schedule = unlessDefault(specification.schedule, defaults.schedule)
        allowsMetered = unlessDefault(request.allowsMetered, defaults.request.allowsMetered)
        mirrors = unlessDefault(specification.mirrors, defaults.mirrors)
        segments = unlessDefault(specification.segments, nil) ?? nil
        if isUsual && credential == nil && mode == nil { return nil }
    }

    func apply(to specification: inout TaskSpecification) {
        func set<T>(_ value: T?, _ path: WritableKeyPath<TaskSpecification, T>) {
            if let value { specification[keyPath: path] = value }
        }
        set(method, \.request.method)
        set(headers, \.request.headers)
        specification.request.credential = credential
        set(redirect, \.request.redirect)
        set(allowsDowngrade, \.request.allowsDowngrade)
        set(httpVersion, \.request.httpVersion)
        set(timeouts, \.request.timeouts)
        let accepted = specification.request.acceptedStatus
        let first = firstAcceptedStatus ?? accepted.lowerBound
        specification.request.acceptedStatus = first...max(first, lastAcceptedStatus ?? accepted.upperBound)
        set(onConflict, \.destination.onConflict)
        specification.destination.mode = mode
        set(usesRemoteTime, \.destination.usesRemoteTime)
        set(retry, \.retry)
        set(startsPaused, \.startsPaused)
        set(maxReceiveRate, \.maxReceiveRate)
        set(progressInterval, \.progressInterval)
        set(resumesUnsafely, \.resumesUnsafely)
        set(headerRules, \.request.headerRules)
        specification.request.bodySummary = bodySummary
        set(usesProfileCredential ?? usesProfileCredentials, \.request.usesProfileCredential)
        set(usesProfileCertificate ?? usesProfileCredentials, \.request.usesProfileCertificate)
        specification.request.clientCertificate = clientCertificate
        set(usesCookies, \.request.usesCookies)
        specification.request.proxy = proxy
        set(acceptedTypes, \.request.acceptedTypes)
        set(maxSendRate, \.maxSendRate)
        set(retriesNonIdempotent, \.retriesNonIdempotent)
        set(upload, \.upload)
        set(response, \.response)
        set(completion, \.completion)
        set(coalesces, \.coalesces)
        set(caching, \.request.caching)
        set(schedule, \.schedule)
        set(allowsMetered, \.request.allowsMetered)
        set(mirrors, \.mirrors)
        specification.segments = segments
    }
}
