import Logging
import XferCore
import XferModel
import XferSystem

/// Runs the credential hooks of profiles. After a server has refused a profile's credential (401), the hook may write
/// another one where the profile reads it. It runs once for all tasks of the profile that were refused.
actor CredentialRenewal {
    private let access: AccessResolver
    private let hooks: HookRunner
    private let logger: Logger
    /// The live runs by profile.
    private var runs: [String: (work: Task<Void, Never>, stop: HookStop)] = [:]
    /// The secret for which a profile's hook ran last, and the time.
    private var attempts: [String: (secret: Int, at: MonotonicInstant)] = [:]
    private var isShutDown = false

    /// The shortest time between two runs for the same secret.
    private static let pause = Duration.seconds(60)

    init(access: AccessResolver, hooks: HookRunner, logger: Logger) {
        self.access = access
        self.hooks = hooks
        self.logger = logger
    }

    /// A request that a server refused, and the profile whose credential it was sent with.
    struct Refusal: Sendable {
        var request: TransferRequest
        var profile: String
        var task: TaskID
        /// The origin that answered 401.
        var origin: Origin
        /// The `CredentialRenewal.stamp` of the credential that was sent.
        var secret: Int
    }

    /// A number that differs for different credentials, within this process.
    static func stamp(of credential: ResolvedCredential) -> Int { credential.hashValue }

    /// Returns true if the profile has another credential now than the refused one, so that one more request is
    /// worthwhile.
    func renew(after refusal: Refusal) async -> Bool {
        guard let hook = await access.credentialHook(of: refusal.profile), !isShutDown else { return false }
        if let live = runs[refusal.profile] {
            await live.work.value
        } else {
            let stop = HookStop()
            let work = Task { await run(hook, after: refusal, stop: stop) }
            runs[refusal.profile] = (work, stop)
            await work.value
            runs[refusal.profile] = nil
        }
        if isShutDown { return false }
        return await hasOther(refusal)
    }

    /// Stops the hooks that run.
    func shutdown() {
        isShutDown = true
        for live in runs.values { live.stop.request() }
    }

    private func hasOther(_ refusal: Refusal) async -> Bool {
        guard let known = try? await access.resolve(refusal.request, profile: refusal.profile) else { return false }
        return known.origins.contains(refusal.origin) && Self.stamp(of: known) != refusal.secret
    }

    private func run(_ hook: String, after refusal: Refusal, stop: HookStop) async {
        // Another run may have renewed it while this request was under way.
        guard let known = try? await access.resolve(refusal.request, profile: refusal.profile),
            known.origins.contains(refusal.origin), Self.stamp(of: known) == refusal.secret
        else { return }
        let now = Clocks.monotonic()
        if let last = attempts[refusal.profile], last.secret == refusal.secret,
            last.at.duration(to: now) < Self.pause
        {
            return
        }
        attempts[refusal.profile] = (refusal.secret, now)
        let report = await hooks.renewCredential(
            of: refusal.profile, by: hook, origin: refusal.origin, for: refusal.task, stop: stop)
        if report == nil {
            logger.warning(
                "a profile's credential_hook is not configured",
                metadata: ["profile": "\(refusal.profile)", "hook": "\(hook)"])
        }
    }
}
