import Logging
import XferCore
import XferCurl
import XferModel
import XferStore

/// Requests servers to delete the partial uploads of cancelled tasks.
///
/// The transaction that cancels the task records the upload for deletion, so that a crash does not lose it. Failed
/// requests are retried for at most one day. The cancellation does not wait for them.
actor RemoteUploadCleanup: ManagerPart {
    nonisolated let context: ManagerContext
    private let scheduler: RunScheduler
    private var isWanted = false
    private var task: Task<Void, Never>?
    private var timer = WakeTimer()
    /// The live requests, by the id of the abandoned upload.
    private var runs: [Int64: RemoteUploadCleanupRun] = [:]

    init(context: ManagerContext, scheduler: RunScheduler) {
        self.context = context
        self.scheduler = scheduler
    }

    /// The highest number of concurrent requests.
    private static let maxAbandonments = 4

    /// Sends the requests that are due. A server that cannot be reached is retried later. If no upload is recorded, no
    /// timer is armed.
    nonisolated func wake() { Task { await begin(asOf: clock()) } }

    private func begin(asOf now: Timestamp) {
        isWanted = true
        guard task == nil else { return }
        task = Task {
            var now = now
            while isWanted, maySend {
                isWanted = false
                do {
                    try await abandonDue(now)
                } catch {
                    logger.report("deleting cancelled uploads from their servers failed", error)
                }
                now = max(now, clock())
            }
            task = nil
        }
    }

    /// Stops the requests that the new policies and rules would judge differently. They are sent again under the new
    /// ones.
    func stopStale(under policies: PolicyRegistry, _ rules: AdmissionRules, at now: Timestamp) async {
        for run in runs.values where run.trust.isStale(under: policies, rules, at: now) { await run.stop() }
    }

    /// Recomputes the time until the next request after the wall clock was set.
    func onClockSet() {
        timer.disarm()
        begin(asOf: clock())
    }

    /// Returns when the requests in progress have ended. Shut the engine down first.
    func shutdown() async {
        timer.disarm()
        await task?.value
    }

    private var maySend: Bool { !isShuttingDown && store.degradation == nil }

    private func abandonDue(_ now: Timestamp) async throws {
        var seen: Set<Int64> = []
        while maySend {
            // A run that has not ended may still send to the upload. When it ends, the discard of its bytes calls
            // `wake` again.
            let found = try await store.read { try $0.abandonedUploads.due(now: now, limit: 1000) }
            let inUse = await scheduler.tasksInUse(among: found.map(\.taskID))
            let due = found.filter { !inUse.contains($0.taskID) && !seen.contains($0.id) }
                .prefix(Self.maxAbandonments)
            if due.isEmpty { break }
            seen.formUnion(due.map(\.id))
            await withDiscardingTaskGroup { group in
                for upload in due { group.addTask { await self.abandon(upload) } }
            }
        }
        guard maySend else { return }
        let next = try await store.read { try $0.abandonedUploads.next(after: now) }
        timer.arm(for: next, now: clock()) { [weak self] target in await self?.onTimer(target) }
    }

    /// Handles the timer. If the wall clock was set back, `target` is used as the current time.
    private func onTimer(_ target: Timestamp) {
        timer.onFired()
        begin(asOf: max(clock(), target))
    }

    private func abandon(_ upload: AbandonedUpload) async {
        let run = RemoteUploadCleanupRun(upload, services: services, settings: settings)
        runs[upload.id] = run
        let answer: Result<ResponseHead, any Error>
        do {
            answer = .success(try await run.run())
        } catch {
            answer = .failure(error)
        }
        runs[upload.id] = nil
        // The next start retries a request that the shutdown interrupted.
        if case .failure = answer, isShuttingDown { return }
        do {
            try await settle(upload, answer)
        } catch {
            logger.report(
                "the end of a cancelled upload's cleanup could not be recorded", error, ["task": "\(upload.taskID)"])
        }
    }

    private func settle(_ upload: AbandonedUpload, _ answer: Result<ResponseHead, any Error>) async throws {
        let head = try? answer.get()
        let now = clock()
        var random = SystemRandomNumberGenerator()
        let decision = RemoteUploadCleanupRules.decide(
            status: head?.status, retryAfter: head.flatMap { ResponseRules.retryAfter($0, now: now) },
            tries: upload.attempts + 1,
            // While the wall clock is not trusted, the age of the cancellation is unknown.
            abandonedAt: services.ages.isTrusted ? upload.abandonedAt : now, at: now, using: &random)
        switch decision {
        case .tryAgain(let next):
            try await store.write { try $0.abandonedUploads.postpone(upload.id, until: next) }
        case .giveUp:
            let reason = head.map { "status \($0.status)" } ?? answer.failureText
            logger.notice(
                "a server did not delete a cancelled upload",
                metadata: ["task": "\(upload.taskID)", "url": "\(upload.url)", "reason": "\(reason)"])
            fallthrough
        case .done:
            try await store.write { try $0.abandonedUploads.remove(upload.id) }
        }
    }
}

extension Result {
    fileprivate var failureText: String {
        if case .failure(let error) = self { "\(error)" } else { "" }
    }
}

/// One request to a server to delete an upload that will not be continued.
actor RemoteUploadCleanupRun: AttemptMaker {
    let context: RunContext
    var attemptState = AttemptState()
    private let upload: AbandonedUpload

    /// The request's timeout, in seconds.
    private static let patience: Double = 10

    init(_ upload: AbandonedUpload, services: RunServices, settings: ManagerSettings) {
        self.upload = upload
        let specification = upload.specification
        context = RunContext(
            taskID: upload.taskID, specification: specification, services: services, settings: settings,
            control: RunControl(kind: .upload),
            trust: RunTrust(
                policies: services.policies, admission: services.admission, taskPolicy: specification.policy,
                authoritiesFile: settings.authoritiesFile(of: specification.request), kept: [], clock: services.clock),
            tries: 1, onBodyEnd: {})
    }

    func stop() async {
        for attempt in control.requestStop() { await services.engine.stop(attempt.id) }
    }

    /// Sends the request. Returns the response head, even if the attempt failed after it.
    ///
    /// - Throws: the reason why there is no final response.
    func run() async throws -> ResponseHead {
        guard let cancellation else { throw TransferError(.internalError, "an upload without a place on its server") }
        var request = specification.request.forUpload(cancellation)
        request.timeouts = Timeouts(
            connect: min(request.timeouts.connect, Self.patience), idle: Self.patience, total: Self.patience)
        let ended = try await attempt(request, into: .memory(limit: 64 << 10)) {
            $0.mode = .exchange
        } onEvent: { _, _ in
        }
        if let head = ended.head, !head.isRedirect { return head }
        if case .failed(let error) = ended.result { throw error }
        throw TransferError(.connectionLost, "the attempt was stopped")
    }

    private var cancellation: UploadRequest? {
        let data = UploadResumeData(url: upload.url)
        return switch specification.upload.uploadProtocol {
        case .plain: nil
        case .tus: TusUpload.cancellation(of: data)
        case .resumable: ResumableUpload.cancellation(of: data)
        }
    }
}
