import Logging
import XferCore
import XferCurl
public import XferModel
public import XferProtocol
import XferStore

/// Pauses the queue and sets its limits. Limits set over RPC take precedence over the configuration.
public actor QueueControl: ManagerPart {
    nonisolated let context: ManagerContext
    let scheduler: RunScheduler
    /// Limits set by an operator over RPC. They take precedence over the configuration until set to nil.
    private var overrides = LimitOverrides()
    /// The limits that operators have set for hosts.
    var hostLimits: [String: OriginWindows.HostLimit] = [:]
    /// Wakes at the next change in the timetable.
    private var rateTimer = WakeTimer()
    /// Changes of `overrides` are made one at a time: each begins with the result of the one before.
    let lock = AsyncLock()
    /// Limits are determined and applied by one call at a time: an earlier call's older limits must not follow the
    /// newer.
    private let applying = AsyncLock()

    init(context: ManagerContext, scheduler: RunScheduler) {
        self.context = context
        self.scheduler = scheduler
    }

    /// Pauses the queue, also across restarts.
    ///
    /// - Parameter stopsRunning: true if running tasks also return to the queue, which `resume` lets start again; see
    ///   `requeueRuns`. A task that its user has paused stays paused.
    public func pause(stopsRunning: Bool) async throws {
        await scheduler.hold(.pausedByOperator)
        try await translatingStoreErrors {
            try await store.write { try $0.settings.set(StoredSetting.queuePaused, "true") }
        }
        if stopsRunning {
            try await translatingStoreErrors {
                try await scheduler.requeueRuns(matching: TaskQuery(states: [.running]))
            }
        }
    }

    /// Resumes the queue.
    ///
    /// - Parameter liftsWaits: true to let waiting tasks start now, and to end the cooldowns of hosts. A task's own
    ///   conditions stay in force, and so do the waits of tasks that may crash the service.
    public func resume(liftsWaits: Bool = false) async throws {
        try await translatingStoreErrors {
            try await store.write { try $0.settings.set(StoredSetting.queuePaused, nil) }
        }
        await scheduler.release(.pausedByOperator)
        if liftsWaits { try await liftWaits() }
        await scheduler.schedule()
    }

    private func liftWaits() async throws {
        // Tasks that start meanwhile would overtake those not resumed yet.
        await scheduler.hold(.resuming)
        do {
            try await translatingStoreErrors {
                for reason in WaitReason.allCases where !reason.isStartCondition && reason != .suspect {
                    try await resumeAll(waitingFor: reason)
                }
                _ = try await store.repeating { tx in
                    let hosts = try tx.cooldowns.hosts(limit: StoreTransaction.largestStep)
                    for host in hosts { try tx.cooldowns.set(host: host, until: nil) }
                    return hosts.count
                }
            }
        } catch {
            await scheduler.release(.resuming)
            throw error
        }
        await scheduler.release(.resuming)
    }

    private func resumeAll(waitingFor reason: WaitReason) async throws {
        var after: TaskID?
        repeat {
            let now = clock()
            after = try await store.write(.bulky) { [after] tx in
                let page = try tx.waits.tasks(for: reason, after: after, limit: StoreTransaction.largestStep)
                for task in page { try tx.transition(task, at: now) { $0.onResume() } }
                return page.lastID
            }
        } while after != nil
    }

    /// Sets limits that take precedence over the configuration until set to nil. They survive a restart.
    public func setLimits(_ change: @Sendable (inout LimitOverrides) -> Void) async throws {
        await lock.enter()
        defer { lock.leave() }
        var changed = overrides
        change(&changed)
        let stored = changed
        try await translatingStoreErrors {
            try await store.write { tx in
                try tx.settings.set(StoredSetting.maxActive, stored.maxActive.map(String.init))
                try tx.settings.set(StoredSetting.maxActivePerHost, stored.maxActivePerHost.map(String.init))
                try tx.settings.set(StoredSetting.order, stored.order?.rawValue)
                try tx.settings.set(StoredSetting.maxReceiveRate, stored.maxReceiveRate.map(String.init))
                try tx.settings.set(StoredSetting.maxSendRate, stored.maxSendRate.map(String.init))
            }
        }
        overrides = changed
        await applyQueueLimits()
        await applyServiceRates()
        await scheduler.schedule()
    }

    /// The queue's counts, rates and limits.
    public func stats(for principal: Principal) async throws -> QueueStats.Result {
        let owner = principal.visibleOwner
        let counts = try await store.readStates { try $0.counts.byState(owner: owner) }
        let moving = await scheduler.rates(visibleTo: owner)
        let (limits, isPaused) = await (limitsInForce, scheduler.activity.isPaused)
        var result = QueueStats.Result()
        result.counts = StateCounts(counts)
        result.rates = QueueStats.Rates(received: moving.received, sent: moving.sent)
        result.paused = isPaused
        result.limits = limits
        return result
    }

    /// The limits in force, including those set over RPC, and the rates as the timetable sets them now.
    private var limitsInForce: QueueLimits {
        get async {
            let limits = await scheduler.activity.limits
            var result = QueueLimits(
                maxActive: limits.maxActive ?? TransferMix.mostSmall,
                maxActivePerHost: limits.maxActivePerHost
                    ?? (settings.isPolite ? OriginWindow.Bounds.polite : .impolite).connections,
                order: limits.order, rates: rateLimits)
            let automatic = [
                limits.maxActive == nil ? "max_active" : nil,
                limits.maxActivePerHost == nil ? "max_active_per_host" : nil,
            ]
            .compactMap(\.self)
            result.automatic = automatic.isEmpty ? nil : automatic
            let overridden = overrides.names
            result.overridden = overridden.isEmpty ? nil : overridden
            let (timetable, now) = (settings.timetable, clock())
            guard let zone = zones.rules(named: nil), timetable.limits(at: now, in: zone) != nil else {
                return result
            }
            let timetabled = ["max_recv_rate", "max_send_rate"].filter { !overridden.contains($0) }
            guard !timetabled.isEmpty else { return result }
            result.timetabled = timetabled
            result.timetableUntil = timetable.nextChange(after: now, in: zone)
            return result
        }
    }

    /// Loads the limits that were set over RPC in an earlier daemon.
    func loadOverrides() async throws {
        let (isPaused, loaded) = try await store.read { reader in
            func number<Number: LosslessStringConvertible>(_ key: String) throws -> Number? {
                try reader.settings.find(key).flatMap { Number($0) }
            }
            return (
                try reader.settings.find(StoredSetting.queuePaused) != nil,
                LimitOverrides(
                    maxActive: try number(StoredSetting.maxActive),
                    maxActivePerHost: try number(StoredSetting.maxActivePerHost),
                    order: try reader.settings.find(StoredSetting.order).flatMap(QueueOrder.init),
                    maxReceiveRate: try number(StoredSetting.maxReceiveRate),
                    maxSendRate: try number(StoredSetting.maxSendRate))
            )
        }
        overrides = loaded
        hostLimits = try await store.read { HostLimitText.limits(in: try $0.settings.find(StoredSetting.hostLimits)) }
        if isPaused { await scheduler.hold(.pausedByOperator) }
        await applyLimits()
    }

    /// Applies all limits in force: the queue's limits, the profiles' limits, and the rates that transfers share.
    func applyLimits() async {
        await applyQueueLimits()
        await applySharedLimits()
        await applyServiceRates()
    }

    /// Logs the limits of the configuration that have changed, but that those of a client override.
    func reportOverridden(changedFrom former: ManagerSettings) {
        let settings = settings
        let rates = [
            overrides.maxReceiveRate.map { _ in "--recv default" }, overrides.maxSendRate.map { _ in "--send default" },
        ].compactMap(\.self)
        func changed<Value: Equatable>(_ value: KeyPath<ManagerSettings, Value>) -> Bool {
            settings[keyPath: value] != former[keyPath: value]
        }
        let all: [(key: String, isChanged: Bool, options: [String])] = [
            ("queue.max_active", changed(\.maxActive), overrides.maxActive.map { _ in ["--max-active default"] } ?? []),
            (
                "queue.max_active_per_host", changed(\.maxActivePerHost),
                overrides.maxActivePerHost.map { _ in ["--max-active-per-host default"] } ?? []
            ),
            ("queue.order", changed(\.order), overrides.order.map { _ in ["--order default"] } ?? []),
            ("bandwidth.recv", changed(\.bandwidth.receive), rates.filter { $0.hasPrefix("--recv") }),
            ("bandwidth.send", changed(\.bandwidth.send), rates.filter { $0.hasPrefix("--send") }),
            ("bandwidth.timetable", changed(\.timetable) && !settings.timetable.entries.isEmpty, rates),
        ]
        for limit in all where limit.isChanged && !limit.options.isEmpty {
            let command = "xferctl limit \(limit.options.joined(separator: " "))"
            logger.warning(
                "a limit of the configuration is not in force: a client has set one (xferctl limit, the page, aria2)",
                metadata: ["setting": "\(limit.key)", "removed_by": "\(command)"])
        }
    }

    func applyQueueLimits() async {
        await applying.enter()
        defer { applying.leave() }
        let settings = settings
        var limits = settings.scheduler
        limits.maxActive = overrides.maxActive ?? limits.maxActive
        limits.maxActivePerHost = overrides.maxActivePerHost ?? limits.maxActivePerHost
        limits.order = overrides.order ?? limits.order
        await scheduler.setLimits(limits, isPolite: settings.isPolite, ofHosts: hostLimits)
    }

    // MARK: Rates

    /// Bytes per second over all transfers now: as set over RPC, else by the timetable, else by the configuration.
    var rateLimits: BandwidthLimits {
        let settings = settings
        var limits = settings.bandwidth
        if let zone = zones.rules(named: nil), let entry = settings.timetable.limits(at: clock(), in: zone) {
            limits = entry
        }
        limits.receive = overrides.maxReceiveRate ?? limits.receive
        limits.send = overrides.maxSendRate ?? limits.send
        return limits
    }

    /// Applies the limits that all groups and profiles set, and the service's.
    private func applySharedLimits() async {
        await applying.enter()
        defer { applying.leave() }
        var limits = RateLimits()
        var maxActive: [String: Int] = [:]
        var impolite: Set<String> = []
        do {
            let profiles: [Profile]
            (limits, profiles) = try await store.read { reader in
                (try reader.groups.rates(), try reader.profiles.all().map(\.profile))
            }
            for profile in profiles {
                limits.receive[.profile(profile.name)] = profile.maxReceiveRate
                limits.send[.profile(profile.name)] = profile.maxSendRate
                maxActive[profile.name] = profile.maxActive
                if profile.isPolite == false { impolite.insert(profile.name) }
            }
        } catch {
            logger.report("the limits of groups and profiles cannot be read", error)
        }
        await scheduler.setProfiles(maxActive: maxActive, impolite: impolite)
        let service = rateLimits
        limits.receive[.service] = service.receive
        limits.send[.service] = service.send
        await services.engine.setRateLimits(limits)
    }

    /// Applies the limits of one profile, at a cost that does not depend on the number of profiles.
    func applyLimits(ofProfile name: String) async {
        await applying.enter()
        defer { applying.leave() }
        do {
            // Of two changes at once the later one applies: the row is read in the turn.
            let profile = try await store.read { try $0.profiles.find(named: name) }?.profile
            await scheduler.setProfile(name, maxActive: profile?.maxActive, isImpolite: profile?.isPolite == false)
            let rates = BandwidthLimits(receive: profile?.maxReceiveRate ?? 0, send: profile?.maxSendRate ?? 0)
            await services.engine.setRates(rates, of: .profile(name))
        } catch {
            logger.report("the limits of a profile cannot be read", error)
        }
    }

    /// Applies the rates of one group, at a cost that does not depend on the number of groups.
    func applyLimits(ofGroup key: GroupKey) async {
        await applying.enter()
        defer { applying.leave() }
        do {
            let limits = try await store.read { try $0.groups.settings(key) }?.limits
            let rates = BandwidthLimits(receive: limits?.maxReceiveRate ?? 0, send: limits?.maxSendRate ?? 0)
            await services.engine.setRates(rates, of: .group(key))
        } catch {
            logger.report("the limits of a group cannot be read", error)
        }
    }

    /// Applies the rates of all transfers together, and arms the timer for the next change in the timetable.
    private func applyServiceRates() async {
        await applying.enter()
        defer { applying.leave() }
        await services.engine.setRates(rateLimits, of: .service)
        let now = clock()
        let change = zones.rules(named: nil).flatMap { settings.timetable.nextChange(after: now, in: $0) }
        rateTimer.arm(for: change, now: now) { [weak self] _ in await self?.onRateTimer() }
    }

    private func onRateTimer() async {
        rateTimer.onFired()
        await applyServiceRates()
    }

    /// Determines the timetable's entry and the time until the next change again, because the wall clock was set.
    func onClockSet() async {
        rateTimer.disarm()
        await applyServiceRates()
    }

    func stopTimers() { rateTimer.disarm() }
}

/// Limits set over RPC; nil means the configuration's.
public struct LimitOverrides: Hashable, Sendable {
    public var maxActive: Int?
    public var maxActivePerHost: Int?
    public var order: QueueOrder?
    /// Bytes per second over all transfers, 0 is unlimited; takes precedence over the timetable.
    public var maxReceiveRate: Int64?
    /// Bytes of content per second over all transfers, 0 is unlimited; takes precedence over the timetable.
    public var maxSendRate: Int64?

    /// The names on the wire of the limits that are set.
    var names: [String] {
        let all: [(name: String, isSet: Bool)] = [
            ("max_active", maxActive != nil), ("max_active_per_host", maxActivePerHost != nil),
            ("order", order != nil), ("max_recv_rate", maxReceiveRate != nil), ("max_send_rate", maxSendRate != nil),
        ]
        return all.filter(\.isSet).map(\.name)
    }
}

/// The keys of settings made over RPC in the store.
enum StoredSetting {
    static let queuePaused = "queue.paused"
    static let maxActive = "queue.max_active"
    static let maxActivePerHost = "queue.max_active_per_host"
    static let order = "queue.order"
    static let maxReceiveRate = "queue.max_recv_rate"
    static let maxSendRate = "queue.max_send_rate"
    static let hostLimits = "queue.host_limits"
}
