import XferCore
import XferCurl
import XferFiles
import XferModel
import XferProtocol
import XferStore

/// Checks new tasks: converts a client's task to a specification, or reports the invalid field.
///
/// It opens each destination directory once for each share of a call's tasks. The opening checks roots, links and
/// permissions.
struct TaskAdmission: Sendable {
    let principal: Principal
    let settings: ManagerSettings
    let pool: BlockingPool
    let paths: PathPools
    let directories: DirectoryAdmission
    let rights: OwnerRights
    let policies: PolicyResolver
    let requests: RequestAdmission
    let content: ContentAdmission
    let zones: TimeZones
    let coalesceKeys: CoalesceKeys
    let now: Timestamp

    /// The number of tasks checked one after the other. The next ones are checked by another processor meanwhile.
    private static let share = 250

    /// Returns the admitted tasks in order.
    ///
    /// - Parameters:
    ///   - requestText: the clients' requests as text; empty if no task has a `client_key`.
    ///   - path: the prefix of field names in errors, such as `tasks[3].`
    func admit(
        _ tasks: [some AdmissibleTask], requestText: [String?], _ defaults: TaskDefaults,
        path: @escaping @Sendable (Int) -> String
    ) async throws -> [AdmittedTask] {
        try await admitEach(tasks, requestText: requestText, defaults, path: path).map { try $0.get() }
    }

    /// Admits each task separately: a refused one does not stop the others.
    func admitEach(
        _ tasks: [some AdmissibleTask], requestText: [String?], _ defaults: TaskDefaults,
        path: @escaping @Sendable (Int) -> String
    ) async throws -> [Result<AdmittedTask, ManagerError>] {
        let count = tasks.count
        let profiles = ProfileReading(store: requests.store)
        guard count > Self.share else {
            return try await admitEach(0..<count, of: tasks, requestText, defaults, profiles, path: path)
        }
        let shares = stride(from: 0, to: count, by: Self.share).map { $0..<min($0 + Self.share, count) }
        return try await withThrowingTaskGroup(of: (start: Int, judged: [Result<AdmittedTask, ManagerError>]).self) {
            group in
            for share in shares {
                group.addTask {
                    let found = try await admitEach(share, of: tasks, requestText, defaults, profiles, path: path)
                    return (share.lowerBound, found)
                }
            }
            var judged: [Int: [Result<AdmittedTask, ManagerError>]] = [:]
            for try await share in group { judged[share.start] = share.judged }
            return shares.flatMap { judged[$0.lowerBound] ?? [] }
        }
    }

    /// Checks some of the tasks, by their indices.
    private func admitEach(
        _ places: Range<Int>, of tasks: [some AdmissibleTask], _ requestText: [String?], _ defaults: TaskDefaults,
        _ reading: ProfileReading, path: @Sendable (Int) -> String
    ) async throws -> [Result<AdmittedTask, ManagerError>] {
        var directories = KnownDirectories()
        // All profiles, read once a task names one.
        var profiles: ProfileReading.Profiles?
        var judged: [Result<AdmittedTask, ManagerError>] = []
        judged.reserveCapacity(places.count)
        for place in places {
            let task = tasks[place]
            do {
                if profiles == nil, task.profile != nil {
                    profiles = try await reading.profiles()
                }
                if let name = task.profile, profiles?.damaged.contains(name) == true {
                    throw ManagerError.damagedProfile(name, path: path(place) + "profile")
                }
                let admitted = try await admit(
                    task, requestText: requestText.isEmpty ? nil : requestText[place], defaults, profiles?.all ?? [],
                    knowing: &directories,
                    path: path(place))
                judged.append(.success(admitted))
            } catch let error as ManagerError {
                judged.append(.failure(error))
            }
        }
        return judged
    }

    private func admit(
        _ task: some AdmissibleTask, requestText: String?, _ defaults: TaskDefaults, _ profiles: [Profile],
        knowing directories: inout KnownDirectories, path: String
    ) async throws -> AdmittedTask {
        let (fields, further) = (task.requestFields, task.mirrors)
        let built = try build(fields, url: task.firstURL, further, profiles, path: path)
        var defaults = defaults
        defaults.directory =
            settings.confinement(of: principal)?.directory ?? principal.defaultDirectory(defaults.directory)
        var specification = task.specification(owner: principal.owner, request: built.request, defaults: defaults)
        specification.isRestricted = settings.restricts(principal, taskOf: principal.owner)
        if !further.isEmpty {
            specification.mirrors = try mirrors(further, fields, of: built.request, profiles, path: path)
        }
        try await requests.check(specification, path: path)
        try await checkAuthorities(of: specification, path: path)
        try checkTrust(specification, path: path)
        try checkHooks(specification.completion, path: path)
        try await checkWindow(specification.schedule.window, path: path)
        try checkLease(specification.schedule.lease, path: path)
        try check(specification.priority, path: path)
        try await admitDestination(
            of: &specification, knowing: &directories, path: path, directoryField: task.directoryField)
        let body = try await content.admit(built.content, path: path)
        specification.request.bodySummary = body.map { BodySummary($0) }
        let isIndependent =
            specification.clientKey == nil && specification.policy == nil && specification.slot == nil
            && specification.schedule.isEmpty && body == nil
        return AdmittedTask(
            insertion: try TaskInsertion(
                specification, body: body, requestText: requestText, coalesceKey: coalesceKeys.key(of: specification),
                state: specification.startsPaused ? .paused : .queued),
            retriesFailed: task.retriesFailed, shownURL: specification.request.url.description,
            isIndependent: isIndependent, path: path)
    }

    /// Throws unless the caller may set this priority.
    func check(_ priority: Priority, path: String) throws {
        guard priority <= principal.maxPriority else {
            throw ManagerError.permissionDenied(
                path: path + "priority", reason: "this user's tasks may have priority \(principal.maxPriority) at most")
        }
    }

    /// Throws unless the policies allow the first hop of each source, and the task's own policy applies to it.
    func checkTrust(_ specification: TaskSpecification, path: String) throws {
        for (index, url) in specification.sources.enumerated() {
            do throws(PolicyResolutionError) {
                _ = try policies.admit(url.origin, taskPolicy: specification.policy, at: now)
            } catch {
                switch error {
                // The task waits: nothing is transferred until all policies are in force.
                case .policyUnreadable, .policyNotInForce: return
                default: throw ManagerError(error, path: path, urlField: specification.urlField(index))
                }
            }
        }
    }

    /// Throws unless the caller may use the file of authorities that a task names: an operator, or the file's owner.
    /// With authorities of its own, a guest could make a server that gets a profile's secrets.
    func checkAuthorities(of specification: TaskSpecification, path: String) async throws {
        let request = specification.request
        guard let file = request.authoritiesFile else { return }
        guard principal.isOperator || specification.profile == nil else {
            throw ManagerError.permissionDenied(
                path: path + "ca_file", reason: "only operators may set authorities for a task with a profile")
        }
        guard !request.caching.stores, !request.caching.policy.usesCache else {
            throw ManagerError.invalidField(
                path: path + "ca_file", reason: "the cache keeps responses for tasks that trust other authorities",
                expected: "the field to be left out, or no cache_policy and store")
        }
        let owner: UInt32
        do throws(SourceError) {
            owner = try await paths.pool(of: principal, forPath: file).run {
                [rights, principal] () throws(SourceError) in
                try rights.sources(of: principal).owner(of: file)
            }
        } catch {
            if error.isDescriptorShortage { throw ManagerError.outOfDescriptors }
            if error.isPermission {
                throw ManagerError.permissionDenied(path: path + "ca_file", reason: error.description)
            }
            throw ManagerError.invalidField(
                path: path + "ca_file", reason: error.description,
                expected: "the absolute path of a PEM file that can be read")
        }
        guard principal.isOperator || owner == principal.owner.rawValue else {
            throw ManagerError.permissionDenied(
                path: path + "ca_file", reason: "the file belongs to another user")
        }
    }

    /// Throws unless the hooks and webhooks that a task names exist and the caller may use them.
    private func checkHooks(_ completion: TaskCompletion, path: String) throws {
        for occasion in HookOccasion.allCases {
            guard let name = completion.hook(for: occasion) else { continue }
            let known = settings.hooks.filter { principal.isOperator || $0.isForGuests }.map(\.name)
            guard !known.contains(name) else { continue }
            throw ManagerError.invalidField(
                path: path + occasion.rawValue, reason: "there is no hook \"\(name)\"",
                expected: known.isEmpty
                    ? "the field to be left out: no hooks are configured"
                    : "one of \(known.sorted().joined(separator: ", "))")
        }
        guard let names = completion.onEnd else { return }
        let known = settings.webhooks.filter { principal.isOperator || $0.isForGuests }.map(\.name)
        for (index, name) in names.enumerated() where !known.contains(name) {
            throw ManagerError.invalidField(
                path: "\(path)on_end[\(index)]", reason: "there is no webhook \"\(name)\"",
                expected: known.isEmpty
                    ? "the field to be left out: no webhooks are configured"
                    : "one of \(known.sorted().joined(separator: ", "))")
        }
    }

    /// Throws unless the caller may set a lease.
    func checkLease(_ lease: String?, path: String) throws {
        guard lease != nil, !principal.mayNameLeases else { return }
        throw ManagerError.permissionDenied(path: path + "lease", reason: "only operators may set a lease")
    }

    /// Throws unless the window's time zone is known.
    func checkWindow(_ window: TimeWindow?, path: String) async throws {
        guard let window else { return }
        do throws(TimeZones.Fault) {
            try await pool.run { [zones] () throws(TimeZones.Fault) in try zones.check(window.zone) }
        } catch {
            throw ManagerError.invalidField(
                path: path + "window.zone", reason: error.description,
                expected: "a name from the time zone database such as Europe/Berlin, or local")
        }
    }

    // MARK: The request

    func build(
        _ fields: RequestFields, url: String, _ mirrors: [String], _ profiles: [Profile], path: String
    ) throws -> (request: TransferRequest, content: RequestBuilder.Content?) {
        let profile = try profile(of: fields, profiles, path: path)
        let field = mirrors.isEmpty ? "url" : "urls[0]"
        let keepsPath = fields.choices.keepsPath.applied(to: nil) ?? false
        let parsed = try resolve(url, against: profile?.baseURL, keepsPath: keepsPath, path: path, field: field)
        let shown = try profile.map {
            try self.shown($0, to: parsed.url, mirrors, keepsPath: keepsPath, path: path)
        }
        do throws(RequestFault) {
            return try RequestBuilder.build(
                fields, url: parsed.url, userInfo: parsed.credential, profile: shown,
                encoding: CharsetEncoder.encode)
        } catch {
            throw ManagerError(error, path: path)
        }
    }

    /// The parts of a profile that a task of this caller may use.
    private func shown(
        _ profile: Profile, to url: HTTPURL, _ mirrors: [String], keepsPath: Bool, path: String
    ) throws -> Profile {
        guard !principal.isOperator else { return profile }
        let mirrors = try mirrors.enumerated().map { index, text in
            try resolve(
                text, against: profile.baseURL, keepsPath: keepsPath, path: path, field: "urls[\(index + 1)]"
            ).url
        }
        return ProfileSecretRules.profile(profile, for: [url] + mirrors)
    }

    private func profile(of fields: RequestFields, _ profiles: [Profile], path: String) throws -> Profile? {
        guard let name = fields.profile else { return nil }
        guard let profile = profiles.first(where: { $0.name == name }) else {
            throw ManagerError.invalidField(
                path: path + "profile", reason: "there is no profile \"\(name)\"", expected: "a profile's name")
        }
        return profile
    }

    /// The further sources, each with the request's parameters as in the first one.
    private func mirrors(
        _ mirrors: [String], _ fields: RequestFields, of request: TransferRequest, _ profiles: [Profile], path: String
    ) throws -> [HTTPURL] {
        func refuse(_ field: String, _ reason: String, expected: String) -> ManagerError {
            .invalidField(path: path + field, reason: reason, expected: expected)
        }
        let most = TaskSpecification.maxSources
        guard mirrors.count < most else {
            throw refuse("urls", "there are \(mirrors.count + 1)", expected: "\(most) at most")
        }
        guard request.method == .get, request.bodySummary == nil else {
            throw refuse("urls", "the request is not a GET", expected: "url in place of urls")
        }
        let profile = try profile(of: fields, profiles, path: path)
        var sources = [request.url]
        for (index, text) in mirrors.enumerated() {
            let field = "urls[\(index + 1)]"
            let parsed = try resolve(
                text, against: profile?.baseURL, keepsPath: request.keepsPath, path: path, field: field)
            guard parsed.credential == nil else {
                throw refuse(
                    field, "it has user info, which only the first URL may have",
                    expected: "a credential with the origins it is for")
            }
            let url: HTTPURL
            do throws(RequestFault) {
                url = try RequestBuilder.build(fields, url: parsed.url, userInfo: nil, profile: profile)
                    .request.url
            } catch {
                throw ManagerError(error, path: path)
            }
            if let same = sources.firstIndex(of: url) {
                throw refuse(field, "it is equal to urls[\(same)]", expected: "another URL")
            }
            sources.append(url)
        }
        return Array(sources.dropFirst())
    }

    /// Returns an absolute URL unchanged, and resolves any other against the profile's base URL (RFC 3986 §5.2).
    ///
    /// - Parameter keepsPath: dot segments of an absolute URL stay; a relative one is resolved in any case.
    func resolve(
        _ text: String, against base: HTTPURL?, keepsPath: Bool = false, path: String, field: String = "url"
    ) throws -> CurlURL.Parsed {
        do throws(URLSyntaxError) {
            guard let base, !CurlURL.isAbsolute(text) else { return try CurlURL.parse(text, keepsPath: keepsPath) }
            return CurlURL.Parsed(url: try CurlURL.resolve(text, against: base), credential: nil)
        } catch {
            throw ManagerError.invalidField(
                path: path + field, reason: error.description,
                expected: base == nil
                    ? "an absolute http:// or https:// URL" : "a URL, absolute or relative to the profile's base_url")
        }
    }
}

/// Reads the profiles when the first task of a call refers to one, so that every task is checked against the same
/// profiles on any processor.
actor ProfileReading {
    /// The profiles that can be read, and the names of the others.
    struct Profiles: Sendable {
        let all: [Profile]
        let damaged: Set<String>
    }

    private let store: TaskStore
    private var reading: Task<Profiles, any Error>?

    init(store: TaskStore) { self.store = store }

    func profiles() async throws -> Profiles {
        let reading =
            reading
            ?? Task { [store] in
                try await store.read { reader in
                    let found = try reader.profiles.readable()
                    return Profiles(all: found.rows.map(\.profile), damaged: Set(found.damaged.map(\.name)))
                }
            }
        self.reading = reading
        return try await reading.value
    }
}
