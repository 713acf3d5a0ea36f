import XferModel

/// What of a specification is rarely set: one JSON column, null when all is as usual. Only what differs from the default
/// is written; names are never changed.
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

    private static let usual = TaskSpecification(
        owner: Owner(uid: 0),
        request: TransferRequest(url: HTTPURL(scheme: .https, host: "", port: 443, target: "/")),
        destination: Destination(directory: "/"))

    /// Nil when everything is as usual.
    init?(_ specification: TaskSpecification) {
        let (request, usual) = (specification.request, Self.usual)
        var isUsual = true
        func note<T: Equatable>(_ value: T, _ usual: T) -> T? {
            guard value != usual else { return nil }
            isUsual = false
            return value
        }
        method = note(request.method, usual.request.method)
        headers = note(request.headers, usual.request.headers)
        credential = request.credential
        redirect = note(request.redirect, usual.request.redirect)
        allowsDowngrade = note(request.allowsDowngrade, usual.request.allowsDowngrade)
        httpVersion = note(request.httpVersion, usual.request.httpVersion)
        timeouts = note(request.timeouts, usual.request.timeouts)
        firstAcceptedStatus = note(request.acceptedStatus.lowerBound, usual.request.acceptedStatus.lowerBound)
        lastAcceptedStatus = note(request.acceptedStatus.upperBound, usual.request.acceptedStatus.upperBound)
        onConflict = note(specification.destination.onConflict, usual.destination.onConflict)
        mode = specification.destination.mode
        usesRemoteTime = note(specification.destination.usesRemoteTime, usual.destination.usesRemoteTime)
        retry = note(specification.retry, usual.retry)
        startsPaused = note(specification.startsPaused, usual.startsPaused)
        maxReceiveRate = note(specification.maxReceiveRate, usual.maxReceiveRate)
        progressInterval = note(specification.progressInterval, usual.progressInterval)
        resumesUnsafely = note(specification.resumesUnsafely, usual.resumesUnsafely)
        headerRules = note(request.headerRules, usual.request.headerRules)
        bodySummary = note(request.bodySummary, nil) ?? nil
        let usesBoth = request.usesProfileCredential && request.usesProfileCertificate
        usesProfileCredentials = note(usesBoth, false)
        usesProfileCredential = note(request.usesProfileCredential && !usesBoth, false)
        usesProfileCertificate = note(request.usesProfileCertificate && !usesBoth, false)
        clientCertificate = note(request.clientCertificate, nil) ?? nil
        usesCookies = note(request.usesCookies, usual.request.usesCookies)
        proxy = note(request.proxy, nil) ?? nil
        acceptedTypes = note(request.acceptedTypes, usual.request.acceptedTypes)
        maxSendRate = note(specification.maxSendRate, usual.maxSendRate)
        retriesNonIdempotent = note(specification.retriesNonIdempotent, usual.retriesNonIdempotent)
        upload = note(specification.upload, usual.upload)
        response = note(specification.response, usual.response)
        completion = note(specification.completion, usual.completion)
        coalesces = note(specification.coalesces, usual.coalesces)
        caching = note(request.caching, usual.request.caching)
        schedule = note(specification.schedule, usual.schedule)
        allowsMetered = note(request.allowsMetered, usual.request.allowsMetered)
        mirrors = note(specification.mirrors, usual.mirrors)
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
