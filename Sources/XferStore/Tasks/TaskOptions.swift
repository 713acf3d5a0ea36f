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
        func note<T: Equatable>(_ value: T, _ defaults: T) -> T? {
            guard value != defaults else { return nil }
            isUsual = false
            return value
        }
        method = note(request.method, defaults.request.method)
        headers = note(request.headers, defaults.request.headers)
        credential = request.credential
        redirect = note(request.redirect, defaults.request.redirect)
        allowsDowngrade = note(request.allowsDowngrade, defaults.request.allowsDowngrade)
        httpVersion = note(request.httpVersion, defaults.request.httpVersion)
        timeouts = note(request.timeouts, defaults.request.timeouts)
        firstAcceptedStatus = note(request.acceptedStatus.lowerBound, defaults.request.acceptedStatus.lowerBound)
        lastAcceptedStatus = note(request.acceptedStatus.upperBound, defaults.request.acceptedStatus.upperBound)
        onConflict = note(specification.destination.onConflict, defaults.destination.onConflict)
        mode = specification.destination.mode
        usesRemoteTime = note(specification.destination.usesRemoteTime, defaults.destination.usesRemoteTime)
        retry = note(specification.retry, defaults.retry)
        startsPaused = note(specification.startsPaused, defaults.startsPaused)
        maxReceiveRate = note(specification.maxReceiveRate, defaults.maxReceiveRate)
        progressInterval = note(specification.progressInterval, defaults.progressInterval)
        resumesUnsafely = note(specification.resumesUnsafely, defaults.resumesUnsafely)
        headerRules = note(request.headerRules, defaults.request.headerRules)
        bodySummary = note(request.bodySummary, nil) ?? nil
        let usesBoth = request.usesProfileCredential && request.usesProfileCertificate
        usesProfileCredentials = note(usesBoth, false)
        usesProfileCredential = note(request.usesProfileCredential && !usesBoth, false)
        usesProfileCertificate = note(request.usesProfileCertificate && !usesBoth, false)
        clientCertificate = note(request.clientCertificate, nil) ?? nil
        usesCookies = note(request.usesCookies, defaults.request.usesCookies)
        proxy = note(request.proxy, nil) ?? nil
        acceptedTypes = note(request.acceptedTypes, defaults.request.acceptedTypes)
        maxSendRate = note(specification.maxSendRate, defaults.maxSendRate)
        retriesNonIdempotent = note(specification.retriesNonIdempotent, defaults.retriesNonIdempotent)
        upload = note(specification.upload, defaults.upload)
        response = note(specification.response, defaults.response)
        completion = note(specification.completion, defaults.completion)
        coalesces = note(specification.coalesces, defaults.coalesces)
        caching = note(request.caching, defaults.request.caching)
        schedule = note(specification.schedule, defaults.schedule)
        allowsMetered = note(request.allowsMetered, defaults.request.allowsMetered)
        mirrors = note(specification.mirrors, defaults.mirrors)
        segments = note(specification.segments, nil) ?? nil
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
