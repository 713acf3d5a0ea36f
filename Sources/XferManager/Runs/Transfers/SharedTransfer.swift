import Logging
import NIOConcurrencyHelpers
import XferCore
import XferCurl
import XferFiles
import XferModel
import XferStore

/// A live transfer: one request for everybody who subscribes to it. Makes the attempts, checkpoints, judges and gives up kept
/// bytes; tells its members what the server answers, and hands the whole body out.
///
/// Idle until the first member asks for the body, and again when the last one has left. A member joins and leaves at any
/// moment and notices nothing of the others. Class of origin: SDWebImageDownloaderOperation with its callback tokens.
actor SharedTransfer: AttemptMaker {
    /// Of whoever came first; nothing in it but the request is looked at, which is the same for all.
    let context: RunContext
    var course: AttemptState
    var transfer: Transfer
    /// Durable bytes, as committed.
    var committed: Int64 = 0
    /// Those who bring parts of the body at the same time; nil while one attempt is for all of it.
    var lanes: Lanes?
    /// One checkpoint at a time covers all lanes.
    let checkpointing = AsyncLock()
    /// What describes the bytes in the partial file, those not yet checkpointed included.
    var described = ResumeData() {
        didSet {
            control.note(
                isResumable: ResumeRules.isResumable(
                    described, allowsUnsafe: specification.resumesUnsafely || mayJoinUnproven))
        }
    }
    var members: [TaskID: Member] = [:]
    /// The head of the response whose body comes, for those who join late.
    var head: ResponseUpdate?
    var headCount = 0
    /// What the last attempt was made with, if the whole was asked for.
    var conditions: [HeaderField] = []
    /// Who may send the bytes, as far as this run knows them.
    var book: MirrorSelector
    /// Who is asked, and for what, by lane.
    var choices: [Int: MirrorSelector.Choice] = [:]
    /// Whether the head of the attempt that runs was such that its bytes follow those in the partial file, or take their place.
    var isBodyTaken = false
    /// Whether the attempt that runs goes on from what is kept without a validator, because a digest will tell.
    var isJoinUnproven = false
    /// The digest that holds kept bytes together, once there are such bytes: whoever demanded it may have left meanwhile.
    var holdingDigest: Checksum?
    /// Whether this run has received anything that is kept.
    var hasGained = false
    /// When the last attempt began, and when its answer's head came.
    var times = ExchangeTimes(asked: Timestamp(microseconds: 0), answered: Timestamp(microseconds: 0))
    var reserve = BlockReserve.none
    /// One takes the bytes at a time, so that the last one finds that it is the last.
    let handingOut = AsyncLock()

    var state = State.idle
    private var hasBegun = false
    /// Who left last waits until what is left behind is durable.
    var leaving: [TaskID: Member] = [:]
    /// Tasks that were started on this transfer and have not asked for the body yet, and in how many segments each wants it: it
    /// does not stop before they have.
    nonisolated let expected = NIOLockedValueBox<[TaskID: SegmentCount]>([:])
    /// Whether nobody was ever on the transfer before, and how many were started on it since.
    private let isNew: Bool
    private nonisolated let startCount = NIOLockedValueBox(0)
    /// How the last attempt failed. Until that is recorded of all whom it failed for, whoever asks shares the failure: a
    /// server that has just refused is not asked again for those who came a moment later.
    private var failure: Delivery?
    /// Whom it failed for and of whom it is not recorded yet.
    nonisolated let failedFor = NIOLockedValueBox<Set<TaskID>>([])
    /// The partial file's directory, as a member opened it.
    var directory: DirectoryHandle?
    /// Which file the partial file is; nil until the first checkpoint.
    var mark: FileMark?
    /// What was recorded of the partial file when it was left.
    var keptRecord: PartRecord?

    typealias Asking = CheckedContinuation<Delivery, Never>

    /// Somebody who waits for the body.
    struct Member {
        let run: any TransferSubscriber
        let maxRates: BandwidthLimits
        /// For `on_conflict: update`, which shares with nobody, or with a kept response's validators.
        let conditions: [HeaderField]
        let asking: Asking
        /// Number of the head it was told last.
        var toldHead: Int
    }

    /// What a member gets for its waiting.
    enum Delivery: Sendable {
        case whole(WholeBody)
        /// Of a `data` task's request.
        case answered(WholeAnswer)
        /// What the member's conditions were made of is current.
        case notModified(Confirmation)
        case failed(any Error)
        /// The member was told to stop, or wanted nothing more after the head.
        case left
    }

    enum State {
        case idle
        case bringing
        /// The body, or the answer.
        case whole(Delivery)
    }

    /// - Parameter isNew: nobody was ever on the transfer.
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

    /// The task is about to ask for the body.
    nonisolated func expect(_ task: TransferTask) {
        expected.withLockedValue { $0[task.id] = task.specification.segments ?? settings.segments }
        startCount.withLockedValue { $0 += 1 }
    }

    /// Whether it was made for a task that has been alone on it so far: nobody else can hold its bytes.
    var isExclusive: Bool { isNew && startCount.withLockedValue { $0 == 1 } }

    /// Waits for the body together with whoever else does. The partial file lies in the member's directory or in that of
    /// somebody who was here before.
    ///
    /// - Parameter directory: the member's; nil when it wants an answer and no file.
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
        // Nothing is awaited between this look at the wish to stop and being known to `leave`.
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

    /// What came between the member's last look and its joining.
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
            // Here and not when it begins: by then somebody may have wished it to stop again.
            control.withdrawStop()
            Task { await bring() }
        }
    }

    /// A member was told to stop. The others go on; when it was the last one, the transfer stops.
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

    /// A task that was started on this transfer has ended, perhaps without ever asking for the body.
    func forget(_ id: TaskID) async {
        expected.withLockedValue { $0[id] = nil }
        await stopIfUnwanted()
    }

    /// Whether anybody waits for the body, or is about to.
    var isWanted: Bool { !members.isEmpty || expected.withLockedValue { !$0.isEmpty } }

    func stopIfUnwanted() async {
        guard !isWanted, case .bringing = state else { return }
        for attempt in control.requestStop() { await services.engine.stop(attempt.id) }
    }

    /// A member's limits have changed.
    func setMaxRates(_ rates: BandwidthLimits, of id: TaskID) async {
        guard let member = members[id] else { return }
        members[id] = Member(
            run: member.run, maxRates: rates, conditions: member.conditions, asking: member.asking,
            toldHead: member.toldHead)
        await applyRates()
    }

    /// The highest limit among the members holds.
    private func applyRates() async {
        guard !members.isEmpty else { return }
        let rates = BandwidthLimits(
            receive: SharingRules.highestRate(members.values.map(\.maxRates.receive)),
            send: SharingRules.highestRate(members.values.map(\.maxRates.send)))
        guard rates != course.maxRates else { return }
        await setMaxRates(receive: rates.receive, send: rates.send)
    }

    // MARK: Bringing the body

    /// Brings the body for as long as somebody waits for it.
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
                // Who joined with other conditions, or with none, is not answered.
                if !members.isEmpty { continue }
                state = .idle
            case .failed, .left:
                head = nil
                // Somebody joined while the attempt was being stopped because nobody was there.
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

    /// Those whose conditions the answer is about.
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
                // Whoever holds the bytes without waiting for them is to find them.
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

    /// The bytes have another owner now: whoever asks again finds what the database says.
    func forgetBody() {
        state = .idle
        head = nil
    }

    // MARK: Before the first byte

    /// Bytes of earlier runs count only while the policies in force believe whoever sent them.
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

/// What a response's head says, for the members of a transfer.
struct ResponseUpdate: Sendable {
    /// Tells one head from the next.
    let number: Int
    let head: ResponseHead
    let url: HTTPURL?
    let total: Int64?
    let isResumed: Bool
    let times: ExchangeTimes
}

/// Word of the server that what it was asked about is current: a `304`.
struct Confirmation: Sendable {
    let head: ResponseHead
    let url: HTTPURL
    let times: ExchangeTimes
}

/// A body that has come to its last byte, not yet verified.
struct WholeBody: Sendable {
    let part: PartialFile
    let length: Int64
    /// What describes the bytes.
    let described: ResumeData
    /// What the file was like when its last byte had come; nil where that tells nothing.
    var facts: FileFacts?

    /// The digest the bytes must have for being of one version; nil where a validator has shown that.
    let holdingDigest: Checksum?

    /// Throws unless the open file is what it was when its last byte had come. Blocks.
    ///
    /// - Throws: `partChanged`, `closed`, `system`.
    func requireUnchanged() throws(FileError) {
        let now = try part.requireWhole(length)
        guard let facts, let now, !now.isSameContent(as: facts) else { return }
        throw .partChanged(path: part.path, problem: "it was changed after its last byte had come")
    }
}
