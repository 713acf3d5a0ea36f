import Logging
import NIOConcurrencyHelpers
import XferCore
import XferCurl
import XferFiles
import XferModel
import XferStore

/// A live transfer: one request for all tasks that subscribe to it. It makes the attempts, commits checkpoints, checks
/// kept bytes and drops those that cannot be used, reports response heads to its members, and hands out the whole body.
///
/// The transfer is idle until the first member asks for the body, and again after the last one has left. Members join
/// and leave at any moment and do not affect each other. Class of origin: SDWebImageDownloaderOperation with its
/// callback tokens.
actor SharedTransfer: AttemptMaker {
    /// The context of the task that created the transfer. Members may differ in all that is not part of the sharing
    /// key, such as the checksum where there are no mirrors.
    let context: RunContext
    var course: AttemptState
    var transfer: Transfer
    /// Durable bytes, as committed.
    var committed: Int64 = 0
    /// The attempts that fetch segments of the body at the same time; nil while a single attempt fetches all of it.
    var connections: SegmentConnections?
    /// One checkpoint at a time covers all connections.
    let checkpointing = AsyncLock()
    /// Validators, length and segments of the bytes in the partial file, including bytes not yet checkpointed.
    var described = ResumeData() {
        didSet {
            control.note(
                isResumable: ResumeRules.isResumable(
                    described, allowsUnsafe: specification.resumesUnsafely || mayJoinUnproven))
        }
    }
    var members: [TaskID: Member] = [:]
    /// The head of the response whose body is arriving, for members that join late.
    var head: ResponseUpdate?
    var headCount = 0
    /// The conditional header fields of the last attempt, if it requested the whole body.
    var conditions: [HeaderField] = []
    /// Selects the source of the next attempt and keeps each source's standing during this run.
    var book: MirrorSelector
    /// The source and fetch mode of each connection.
    var choices: [Int: MirrorSelector.Choice] = [:]
    /// Whether the response of the current attempt was accepted: its bytes follow those in the partial file or replace
    /// them.
    var isBodyTaken = false
    /// Whether the current attempt resumes without a validator, because a digest will verify the result.
    var isJoinUnproven = false
    /// The digest that verifies kept bytes which no validator proves to be of one version. It is stored because the
    /// member that demanded it may leave.
    var holdingDigest: Checksum?
    /// Whether this run has received bytes that are kept.
    var hasGained = false
    /// When the last attempt began, and when its response head arrived.
    var times = ExchangeTimes(asked: Timestamp(microseconds: 0), answered: Timestamp(microseconds: 0))
    var reserve = BlockReserve.none
    /// Hands out the body to one member at a time, so that the last member can find out that it is the last.
    let handingOut = AsyncLock()

    var state = State.idle
    private var hasBegun = false
    /// The last member that left. It waits until the received bytes are durable.
    var leaving: [TaskID: Member] = [:]
    /// Tasks that were started on this transfer but have not asked for the body yet, with the number of segments each
    /// wants. The transfer does not stop while there are any.
    nonisolated let expected = NIOLockedValueBox<[TaskID: SegmentCount]>([:])
    /// Whether no task used the transfer before. `startCount` counts the tasks started on it since.
    private let isNew: Bool
    private nonisolated let startCount = NIOLockedValueBox(0)
    /// How the last attempt failed. Until the failure is committed for every task in `failedFor`, a task that asks for
    /// the body gets the same failure: a server that has just refused is not asked again at once.
    private var failure: Delivery?
    /// The tasks for which `failure` is not committed yet.
    nonisolated let failedFor = NIOLockedValueBox<Set<TaskID>>([])
    /// The partial file's directory, as a member opened it.
    var directory: DirectoryHandle?
    /// The identity of the partial file; nil until the first checkpoint.
    var mark: FileMark?
    /// What was recorded of the partial file when the last run closed it.
    var keptRecord: PartRecord?

    typealias Asking = CheckedContinuation<Delivery, Never>

    /// A task that waits for the body.
    struct Member {
        let run: any TransferSubscriber
        let maxRates: BandwidthLimits
        /// The conditional header fields: for `on_conflict: update`, which is never shared, or from a kept response's
        /// validators.
        let conditions: [HeaderField]
        let asking: Asking
        /// The number of the last head reported to it.
        var toldHead: Int
    }

    /// What a waiting member receives.
    enum Delivery: Sendable {
        case whole(WholeBody)
        /// The response to a `data` task's request.
        case answered(WholeAnswer)
        /// The server confirmed with 304 that the version the conditions name is current.
        case notModified(Confirmation)
        case failed(any Error)
        /// The member was asked to stop, or did not want the body after it saw the head.
        case left
    }

    enum State {
        case idle
        case bringing
        /// The body, or the response of a `data` task.
        case whole(Delivery)
    }

    /// - Parameter isNew: whether no task has used the transfer before.
    init(_ context: RunContext, _ transfer: Transfer, isNew: Bool) {
        self.context = context
        self.transfer = transfer
        self.isNew = isNew
        course = AttemptState()
        book = MirrorSelector(count: context.specification.sources.count, use: transfer.sourceUse)
    }

    var keptByteCount: Int64 { committed }
    var audience: [TaskID] { members.keys.sorted() }

    // MARK: Joining and leaving

    /// Registers a task that is about to ask for the body.
    nonisolated func expect(_ task: TransferTask) {
        expected.withLockedValue { $0[task.id] = task.specification.segments ?? settings.segments }
        startCount.withLockedValue { $0 += 1 }
    }

    /// Whether the transfer was created for one task and no other was started on it, so that no other task can hold its
    /// bytes.
    var isExclusive: Bool { isNew && startCount.withLockedValue { $0 == 1 } }

    /// Waits for the body together with the other members. The partial file is in this member's directory or in that of
    /// an earlier member.
    ///
    /// - Parameter directory: the member's; nil when the task wants a response and no file.
    func body(
        for run: any TransferSubscriber, in directory: DirectoryHandle?, _ conditions: [HeaderField] = []
    ) async -> Delivery {
        var toldHead = 0
        while true {
            if run.control.isStopRequested { return .left }
            if let failure {
                if failedFor.withLockedValue({ !$0.isEmpty }) { return failure }
                self.failure = nil
            }
            if let head, head.number != toldHead {
                toldHead = head.number
                guard await run.take(head) else { return .left }
                continue
            }
            guard case .whole(let delivery) = state else { break }
            await onBodyEnd()
            return delivery
        }
        if self.directory == nil, let directory, directory.path == transfer.partial.directory {
            self.directory = directory
        }
        let rates = await run.maxRates
        // There is no `await` between this check and the insertion into `members`, so actor isolation ensures that
        // `leave` finds the member.
        if run.control.isStopRequested { return .left }
        return await withCheckedContinuation { asking in
            expected.withLockedValue { $0[run.taskID] = nil }
            members[run.taskID] = Member(
                run: run, maxRates: rates, conditions: conditions, asking: asking, toldHead: toldHead)
            Task {
                await applyRates()
                await welcome(run.taskID)
            }
        }
    }

    /// Delivers what changed between the member's last check and its insertion, and starts the transfer if it is idle.
    private func welcome(_ id: TaskID) async {
        guard let member = members[id] else { return }
        if case .whole(let delivery) = state {
            members[id] = nil
            member.asking.resume(returning: delivery)
            return
        }
        if let head { await tell(head) }
        if case .idle = state, !members.isEmpty {
            state = .bringing
            // Withdrawn here and not in `bring`: a new stop may be requested before `bring` begins.
            control.withdrawStop()
            Task { await bring() }
        }
    }

    /// Removes a member that was asked to stop. The others continue; without any the transfer stops.
    func leave(_ id: TaskID) async {
        guard let member = members.removeValue(forKey: id) else { return }
        guard !isWanted, case .bringing = state else {
            member.asking.resume(returning: .left)
            await applyRates()
            return
        }
        leaving[id] = member
        await stopIfUnwanted()
    }

    /// Removes a task that was started on this transfer and has ended, perhaps without asking for the body.
    func forget(_ id: TaskID) async {
        expected.withLockedValue { $0[id] = nil }
        await stopIfUnwanted()
    }

    /// Whether a task waits for the body or is about to.
    var isWanted: Bool { !members.isEmpty || expected.withLockedValue { !$0.isEmpty } }

    func stopIfUnwanted() async {
        guard !isWanted, case .bringing = state else { return }
        for attempt in control.requestStop() { await services.engine.stop(attempt.id) }
    }

    /// Sets the limits of a member.
    func setMaxRates(_ rates: BandwidthLimits, of id: TaskID) async {
        guard let member = members[id] else { return }
        members[id] = Member(
            run: member.run, maxRates: rates, conditions: member.conditions, asking: member.asking,
            toldHead: member.toldHead)
        await applyRates()
    }

    /// Applies the highest limit among the members.
    private func applyRates() async {
        guard !members.isEmpty else { return }
        let rates = BandwidthLimits(
            receive: SharingRules.highestRate(members.values.map(\.maxRates.receive)),
            send: SharingRules.highestRate(members.values.map(\.maxRates.send)))
        guard rates != course.maxRates else { return }
        await setMaxRates(receive: rates.receive, send: rates.send)
    }

    // MARK: Bringing the body

    /// Fetches the body as long as a member waits for it.
    private func bring() async {
        while true {
            let end = await bringOnce()
            services.space.withLockedValue { $0.remove(transfer.id) }
            await passOnEvents()
            let wasToldToStop = control.isStopRequested
            let left = leaving
            leaving = [:]
            for member in left.values { member.asking.resume(returning: .left) }
            switch end {
            case .whole, .answered:
                state = .whole(end)
            case .notModified:
                answerAsked(end)
                head = nil
                // The response does not answer members with other conditions or none.
                if !members.isEmpty { continue }
                state = .idle
            case .failed, .left:
                head = nil
                // The attempt was being stopped because no member was left, and a new member joined.
                if case .left = end, wasToldToStop, !members.isEmpty {
                    control.withdrawStop()
                    continue
                }
                state = .idle
                if case .failed = end {
                    failure = end
                    let failed = expected.withLockedValue { Set($0.keys) }.union(members.keys)
                    failedFor.withLockedValue { $0 = failed }
                }
            }
            let waiting = members
            members = [:]
            for member in waiting.values { member.asking.resume(returning: end) }
            return
        }
    }

    /// Resumes the members whose conditions the 304 is about.
    private func answerAsked(_ end: Delivery) {
        for (id, member) in members where member.conditions == conditions {
            members[id] = nil
            member.asking.resume(returning: end)
        }
    }

    private func bringOnce() async -> Delivery {
        do {
            if hasBegun {
                guard let found = try await services.store.read({ [id = transfer.id] in try $0.transfer(id) }) else {
                    throw Overtaken()
                }
                transfer = found
                trust.beginAnew(kept: found.sources)
            }
            hasBegun = true
            if specification.kind == .data { return try await answer() }
            let directory = try await openDirectory()
            let part = try await openPart(in: directory)
            try await judgeKeptBytes(in: part)
            try await demandDigest(in: part)
            try await makeRoom(for: part, in: directory)
            let fetched = try await fetchWithinReserve(of: part, in: directory)
            if case .whole(let body) = fetched {
                await onBodyEnd()
                // No member waits, but tasks that keep the bytes must find them complete.
                if members.isEmpty { try await seal(body) }
            } else {
                try await leaveAtRest(part)
            }
            return fetched
        } catch FileError.partChanged(let path, let problem) {
            return .failed(await giveUpSpoiled(FileError.partChanged(path: path, problem: problem)))
        } catch {
            return .failed(error)
        }
    }

    private func openDirectory() async throws -> DirectoryHandle {
        if let directory { return directory }
        let opened = try await openDirectory(of: transfer)
        directory = opened
        return opened
    }

    /// The bytes belong to another transfer or were dropped: the next request reads the state from the database.
    func forgetBody() {
        state = .idle
        head = nil
    }

    // MARK: Before the first byte

    /// Drops the bytes of earlier runs if the policies in force no longer trust the servers that sent them.
    private func judgeKeptBytes(in part: PartialFile) async throws {
        guard committed > 0 else { return }
        let urls = senders + (transfer.resumeData.finalURL.map { [$0] } ?? [])
        let (trust, id) = (trust, transfer.id)
        let refusal = try await services.pool.run { () throws(TransferError) in try trust.refusalOfKept(from: urls) }
        guard let refusal else { return }
        services.logger.notice(
            "the policies have changed: what was received is given up",
            metadata: ["task": "\(taskID)", "transfer": "\(id)", "reason": "\(refusal)"])
        try await dropKeptBytes(sourceChange: nil)
        try await services.pool.run { try part.truncate(to: 0) }
        described = ResumeData()
    }

}

/// A response head, as reported to the members of a transfer.
struct ResponseUpdate: Sendable {
    /// Distinguishes this head from earlier ones.
    let number: Int
    let head: ResponseHead
    let url: HTTPURL?
    let total: Int64?
    let isResumed: Bool
    let times: ExchangeTimes
}

/// A `304` response: the version that the request named is current.
struct Confirmation: Sendable {
    let head: ResponseHead
    let url: HTTPURL
    let times: ExchangeTimes
}

/// A body whose last byte has arrived, not yet verified.
struct WholeBody: Sendable {
    let part: PartialFile
    let length: Int64
    /// Validators, length and segments of the bytes.
    let described: ResumeData
    /// The file's metadata when its last byte had arrived; nil where metadata cannot be relied on.
    var facts: FileFacts?

    /// The digest that must match for the bytes to be of one version; nil where a validator has proved that.
    let holdingDigest: Checksum?

    /// Throws if the open file has changed since its last byte arrived. Blocks.
    ///
    /// - Throws: `partChanged`, `closed`, `system`.
    func requireUnchanged() throws(FileError) {
        let now = try part.requireWhole(length)
        guard let facts, let now, !now.isSameContent(as: facts) else { return }
        throw .partChanged(path: part.path, problem: "it was changed after its last byte had come")
    }
}
