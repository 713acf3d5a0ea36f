import Logging
import NIOConcurrencyHelpers
import XferCore
import XferCurl
import XferFiles
public import XferModel
import XferStore

/// Reads and writes trust policies. A change applies to every hop that begins after its commit. A run that was judged
/// otherwise stops at its next safe point and is judged again.
public actor TrustPolicies: ManagerPart {
    nonisolated let context: ManagerContext
    private let scheduler: RunScheduler
    private let remoteUploads: RemoteUploadCleanup
    private let webhooks: WebhookDispatcher
    /// Changes are made one at a time.
    private let lock = AsyncLock()
    /// The lax policies of which the log has warned.
    private var knownStandIns: [LaxStandIn] = []
    /// True if no task may start, because a policy cannot be read.
    private var holdsStarts = false
    /// Wakes for warnings before a policy's expiry.
    private var expiryTimer = WakeTimer()

    init(
        context: ManagerContext, scheduler: RunScheduler, remoteUploads: RemoteUploadCleanup,
        webhooks: WebhookDispatcher
    ) {
        self.context = context
        self.scheduler = scheduler
        self.remoteUploads = remoteUploads
        self.webhooks = webhooks
    }

    /// All policies by name, with the default. The rows of the database are read again for `damagedRows` alone.
    public nonisolated func list() async -> [PolicyEntry] {
        await context.findDamagedRows()
        return services.policies.withLockedValue(\.entries)
    }

    /// Returns a policy.
    ///
    /// - Throws: `ManagerError.policyNotFound`.
    public nonisolated func get(_ name: String) throws(ManagerError) -> PolicyEntry {
        guard let entry = services.policies.withLockedValue({ $0.entry(named: name) }) else {
            throw .policyNotFound(name)
        }
        return entry
    }

    /// Writes a policy, replacing the one of that name, and returns it with its version.
    ///
    /// - Parameter path: the prefix of field names in errors.
    /// - Throws: `ManagerError`; nothing is stored then.
    public func set(_ policy: TrustPolicy, path: String = "") async throws -> PolicyEntry {
        let now = clock()
        do throws(TrustPolicyError) {
            try TrustPolicyRules.check(policy, at: now)
        } catch {
            throw ManagerError(error, path: path)
        }
        if let files = policy.clientCertificate {
            do {
                try await context.inspections.run { () throws(PolicyReadingError) in try PolicyReading.check(files) }
            } catch {
                throw ManagerError.invalidField(
                    path: path + "client_certificate", reason: error.description,
                    expected: "a PEM certificate and its private key, which only its owner can read")
            }
        }
        do {
            try await changePolicies { tx in try PolicyChanges.set(policy, in: tx, at: now) }
        } catch let error as TrustPolicyError {
            throw ManagerError(error, path: path)
        }
        return try get(policy.name)
    }

    /// Removes a policy. If one of the configuration is not in force because of it, that one takes effect at once.
    ///
    /// - Throws: `ManagerError`: `policyInUse` while unfinished tasks refer to it, unless the configuration has one of
    ///   its name.
    public func remove(_ name: String) async throws {
        let now = clock()
        let conflicts = services.policies.withLockedValue(\.notInForce).filter { $0.other == name }
        guard !conflicts.isEmpty else {
            return try await changePolicies { tx in
                try PolicyChanges.remove(name, in: tx, at: now)
                return try PolicyRegistry(in: tx)
            }
        }
        let configured = context.settings.withLockedValue(\.policies)
        try await changePolicies(removesConflicts: true) { tx in
            try PolicyChanges.remove(name, isReplaced: conflicts.contains { $0.name == name }, in: tx, at: now)
            return try PolicyChanges.applyConfigured(configured, in: tx, at: now)
        }
    }

    /// Applies the configuration file's policies.
    ///
    /// - Throws: `ConfigurationConflicts` if policies or profiles of the file conflict with those of operators.
    func applyConfigured(_ settings: ManagerSettings) async throws {
        let now = clock()
        try await changePolicies(removesConflicts: true) { tx in
            let conflicts = try ConfigurationConflict.all(settings, in: tx)
            guard conflicts.isEmpty else { throw ConfigurationConflicts(conflicts: conflicts) }
            return try PolicyChanges.applyConfigured(settings.policies, in: tx, at: now)
        }
    }

    /// True if the error is about the configuration's trust policies: they are invalid.
    public static func isPolicyFault(_ error: any Error) -> Bool { error is TrustPolicyError }

    /// Lets tasks start only while all policies are in force: one that is not may pin any host.
    private func applyReadability(_ policies: PolicyRegistry) async {
        let holds = !policies.damaged.isEmpty || !policies.notInForce.isEmpty
        guard holds != holdsStarts else { return }
        holdsStarts = holds
        if holds { return await scheduler.hold(.policyUnreadable) }
        await scheduler.release(.policyUnreadable)
        await scheduler.schedule()
    }

    /// Applies the policies that the start has read.
    func begin() async { await applyReadability(services.policies.withLockedValue(\.self)) }

    // MARK: Changing

    /// Makes one change at a time, so that the policies in force are always the ones committed last. When this returns,
    /// no file will be published under earlier policies.
    ///
    /// - Parameter removesConflicts: true if the change has applied the configuration file's policies.
    private func changePolicies(
        removesConflicts: Bool = false, _ change: @escaping @Sendable (StoreTransaction) throws -> PolicyRegistry
    ) async throws {
        await lock.enter()
        let tooLate: [TaskID]
        do {
            defer { lock.leave() }
            let book = try await translatingStoreErrors { try await store.write { tx in try change(tx) } }
            services.policies.withLockedValue { present in
                let (authorities, notInForce) = (present.authorities, present.notInForce)
                present = book
                present.authorities = authorities
                if !removesConflicts { present.leaveOut(notInForce) }
            }
            await applyReadability(services.policies.withLockedValue(\.self))
            tooLate = await reevaluateTrust()
            await warnOfExpiry()
            warnOfLaxPolicies()
        }
        for id in tooLate { await scheduler.runEnded(id) }
    }

    /// Retires the connections that the policies in force did not judge, and stops the runs whose judgement would
    /// change. Returns the runs that can no longer be stopped, because their files are getting their names.
    ///
    /// - Parameter retiringAll: true if the authorities changed, which judged every connection.
    func reevaluateTrust(retiringAll: Bool = false) async -> [TaskID] {
        let book = services.policies.withLockedValue(\.self)
        let rules = services.admission.withLockedValue(\.self)
        let versions = book.versions
        // Runs on the engine's loop: a hop either began before this and is recorded by its run, or uses the new
        // policies.
        await services.engine.retireSessions {
            retiringAll || !versions.isSuperset(of: $0.key.trustVersions) || $0.admission != rules
        }
        let now = clock()
        await remoteUploads.stopStale(under: book, rules, at: now)
        await webhooks.stopStale(under: book, rules, at: now)
        return await scheduler.reevaluateTrust(under: book, rules, at: now)
    }

    /// Applies the rules for which URLs may be loaded. Connections were judged when they were made, so different rules
    /// need different pools.
    func applyAdmissionLists() async {
        let rules = AdmissionRules(context.settings.withLockedValue(\.admission))
        guard services.admission.withLockedValue({ $0 != rules }) else { return }
        services.admission.withLockedValue { $0 = rules }
        // A run that cannot be stopped any more got its bytes while they were allowed.
        _ = await reevaluateTrust()
    }

    // MARK: Authorities

    /// Reads the authorities' file again. Stops runs over connections that other contents judged.
    func readAuthorities() async {
        let file = context.settings.withLockedValue(\.authoritiesFile)
        let known = services.policies.withLockedValue(\.authorities)
        let found: String
        do throws(AuthoritiesError) {
            found = try await context.inspections.run { () throws(AuthoritiesError) in
                try Authorities.fingerprint(ofFile: file, known: known)
            }
        } catch {
            logger.error(
                "the certificate authorities were not reloaded", metadata: ["error": "\(error.description)"])
            return
        }
        guard found != known else { return }
        await lock.enter()
        let tooLate: [TaskID]
        do {
            defer { lock.leave() }
            do {
                let taken = try await store.write { try AuthoritiesChange.apply(found, in: $0) }
                services.policies.withLockedValue { $0.authorities = taken }
            } catch {
                // They are in force all the same: the next start compares with the contents recorded last.
                logger.warning("the new authorities could not be recorded", metadata: ["error": "\(error)"])
                services.policies.withLockedValue { $0.authorities = found }
            }
            logger.notice("the certificate authorities have changed: running TLS connections are judged again")
            tooLate = await reevaluateTrust(retiringAll: true)
        }
        for id in tooLate { await scheduler.runEnded(id) }
    }

    // MARK: Expiry

    /// Publishes due warnings, and arms the timer for the next.
    func warnOfExpiry() async {
        let now = clock()
        var next: Timestamp?
        for entry in services.policies.withLockedValue(\.stored) {
            guard let expiresAt = entry.policy.expiresAt else { continue }
            if let due = ExpiryWarning.due(
                for: expiresAt, after: entry.warned.flatMap { ExpiryWarning(rawValue: $0) }, at: now)
            {
                await warn(of: entry.policy, due, expiresAt, at: now)
            }
            next = [next, ExpiryWarning.next(for: expiresAt, at: now)].compactMap(\.self).min()
        }
        expiryTimer.arm(for: next, now: now) { [weak self] _ in await self?.onExpiryTimer() }
    }

    /// Warns of policies that allow invalid certificates if a report-only policy may have been meant to decide.
    func warnOfLaxPolicies() {
        let found = services.policies.withLockedValue(\.resolver).laxStandIns(at: clock())
        for standIn in found where !knownStandIns.contains(standIn) {
            logger.warning(
                "a trust policy that allows invalid certificates decides for hosts of a report-only policy",
                metadata: ["policy": "\(standIn.lax)", "report_only": "\(standIn.reportOnly)"])
        }
        knownStandIns = found
    }

    /// Computes the time until the next warning again, because the wall clock was set.
    func onClockSet() async {
        expiryTimer.disarm()
        await warnOfExpiry()
    }

    func stopTimers() { expiryTimer.disarm() }

    private func onExpiryTimer() async {
        expiryTimer.onFired()
        await lock.enter()
        defer { lock.leave() }
        await warnOfExpiry()
        // An expired policy is replaced by the default check, for live runs, too.
        _ = await reevaluateTrust()
    }

    private func warn(of policy: TrustPolicy, _ due: ExpiryWarning, _ expiresAt: Timestamp, at now: Timestamp) async {
        let metadata: Logger.Metadata = [
            "policy": "\(policy.name)", "version": "\(policy.version)", "expires_at": "\(expiresAt)",
        ]
        if due == .expired {
            logger.error("a trust policy has expired: its pins are no longer enforced", metadata: metadata)
        } else {
            logger.warning("a trust policy expires within \(due.rawValue) days", metadata: metadata)
        }
        do {
            try await store.write { tx in
                try tx.events.append(
                    .policyExpiring(
                        policy: policy.name, version: policy.version, expiresAt: expiresAt, days: due.rawValue),
                    at: now)
                try tx.policies.setWarned(due.rawValue, ofPolicyVersion: policy.version)
            }
            services.policies.withLockedValue { $0.recordWarning(due.rawValue, ofVersion: policy.version) }
        } catch {
            logger.report("a warning could not be recorded", error)
        }
    }
}

extension ManagerError {
    init(_ error: TrustPolicyError, path: String) {
        self = .invalidField(
            path: path + error.field, reason: error.description, expected: "a trust policy that a server can satisfy")
    }

    /// - Parameter path: the prefix of the names of a task's fields.
    init(_ error: PolicyResolutionError, path: String, urlField: String = "url") {
        switch error {
        case .policyMissing, .policyDoesNotMatch:
            self = .invalidField(
                path: path + "policy", reason: error.description,
                expected: "the name of a trust policy that matches the URL's host")
        case .policyUnreadable, .policyNotInForce:
            self = .rejectedByPolicy(path: path + urlField, reason: error.description)
        case .plainHTTP(let refusal):
            self = .rejectedByPolicy(path: path + urlField, reason: refusal.message)
        }
    }
}
