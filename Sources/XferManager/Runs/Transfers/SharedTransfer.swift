import Logging
import NIOConcurrencyHelpers
import XferCore
import XferCurl
import XferFiles
import XferModel
import XferStore

/// A live transfer: one request for all tasks that subscribe to it.
///
/// The transfer is idle until the first member requests the body, and again after the last one has left. Members join
/// and leave at any moment and do not affect each other. The actor owns the members and the state of a run. Its parts
/// have one concern each and run in its isolation: `KeptBytes` commits, `SegmentedDownload` runs several attempts at
/// the same time, `TransferSources` and `ResponseState` contain decisions. Class of origin:
/// SDWebImageDownloaderOperation with its callback tokens.
///
/// Invariant: in the state `running` exactly one `runWhileWanted` runs, and it alone makes attempts and commits.
actor SharedTransfer: AttemptMaker {
    /// The context of the task that created the transfer. Members may differ in everything that is not part of the
    /// sharing key, such as the checksum if there are no mirrors.
    let context: RunContext
    var attemptState = AttemptState()
    /// Tasks that were started on this transfer. The transfer does not stop while one of them is about to request the
    /// body.
    nonisolated let started: StartedTasks
    let kept: KeptBytes
    var members = TransferMembers()
    var sources: TransferSources
    var response = ResponseState()
    /// The attempts that fetch segments of the body at the same time; nil while a single attempt fetches all of it.
    var segmented: SegmentedDownload?
    /// Another version that is received while the kept bytes stay; nil if there is none.
    var replacement: Replacement?
    /// Hands out the body to one member at a time, so that the last member can find out that it is the last.
    let handingOut = AsyncLock()
    private var state = State.idle
    private var hasBegun = false
    /// The failure of the last attempt. Until it is committed for every task that was waiting, a task that requests the
    /// body gets the same failure, so that a server that has just refused does not get the same request at once.
    private var failure: Delivery?
    /// The partial file's directory, as a member opened it.
    private var directory: DirectoryHandle?

    private enum State {
        case idle
        case running
        /// The body, or the response of a `data` task.
        case whole(Delivery)
    }

    /// - Parameters:
    ///   - isNew: true if no task has used the transfer before.
    ///   - begun: the attempt of the brief run that this transfer continues.
    init(_ context: RunContext, _ transfer: Transfer, isNew: Bool, begun: AttemptHandle? = nil) {
        self.context = context
        attemptState.begun = begun
        started = StartedTasks(isNew: isNew)
        kept = KeptBytes(context, transfer)
        sources = TransferSources(count: context.specification.sources.count, use: transfer.sourceUse)
    }

    var keptByteCount: Int64 { kept.committed }
    var subscribers: [TaskID] { members.ids }
    // Yields a reference instead of a copy, because every step reads a part of it.
    var transfer: Transfer { _read { yield kept.transfer } }

    // MARK: Joining and leaving

    /// Registers a task that is about to request the body.
    nonisolated func expect(_ task: TransferTask) {
        started.expect(task.id, segments: task.specification.segments ?? settings.segments)
    }

    /// Waits for the body together with the other members. The partial file is in this member's directory or in that of
    /// an earlier member.
    ///
    /// - Parameters:
    ///   - directory: the member's; nil if the task gets a response and no file.
    ///   - adopted: the file whose bytes the transfer begins with, if it has none.
    func body(
        for run: any TransferSubscriber, in directory: DirectoryHandle?, _ conditions: [HeaderField] = [],
        _ adopted: AdoptedFile? = nil
    ) async -> Delivery {
        var reportedHead = 0
        while true {
            if run.control.isStopRequested { return .left }
            if let failure {
                if started.isFailureUncommitted { return failure }
                self.failure = nil
            }
            if let head = response.head, head.number != reportedHead {
                reportedHead = head.number
                guard await run.apply(head) else { return .left }
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
            started.remove(run.taskID)
            members.insert(
                TransferMembers.Member(
                    run: run, maxRates: rates, conditions: conditions, adopted: adopted, asking: asking,
                    reportedHead: reportedHead))
            Task {
                await applyRates()
                await onJoined(run.taskID)
            }
        }
    }

    /// Delivers the changes between the member's last check and its insertion, and starts the transfer if it is idle.
    private func onJoined(_ id: TaskID) async {
        guard members.waiting[id] != nil else { return }
        if case .whole(let delivery) = state {
            members.remove(id)?.resume(delivery)
            return
        }
        if let head = response.head { await report(head) }
        // There is no `await` between this check and the change of the state, so actor isolation ensures that only one
        // `runWhileWanted` runs.
        if case .idle = state, !members.isEmpty {
            state = .running
            // Withdrawn here and not in `runWhileWanted`: a new stop may be requested before `runWhileWanted` begins.
            control.withdrawStop()
            Task { await runWhileWanted() }
        }
    }

    /// Removes a member that was requested to stop. The others continue; without any the transfer stops.
    func leave(_ id: TaskID) async {
        guard let member = members.remove(id) else { return }
        // Actor isolation: nothing suspends between this check and `beginLeaving`, so `runWhileWanted`, which resumes
        // the leaving member at its end, is still running.
        guard !isWanted, case .running = state else {
            member.resume(.left)
            await applyRates()
            return
        }
        members.beginLeaving(member)
        await stopIfUnwanted()
    }

    /// Removes a task that was started on this transfer and has ended, perhaps without requesting the body.
    func forget(_ id: TaskID) async {
        started.remove(id)
        await stopIfUnwanted()
        if !isWanted { await stopBegun() }
    }

    /// Stops the attempt of a brief run that no attempt has continued.
    private func stopBegun() async {
        guard let begun = attemptState.begun else { return }
        attemptState.begun = nil
        await services.engine.stop(begun.id)
    }

    /// True if a task waits for the body or is about to.
    var isWanted: Bool { !members.isEmpty || started.isAnyExpected }

    /// Stops the attempts if no task wants the body. Nothing suspends between the check and the request to stop, so
    /// actor isolation ensures that no member joins in between; one that joins later withdraws the request or starts a
    /// new run.
    func stopIfUnwanted() async {
        guard !isWanted, case .running = state else { return }
        for attempt in control.requestStop() { await services.engine.stop(attempt.id) }
    }

    /// Sets the limits of a member.
    func setMaxRates(_ rates: BandwidthLimits, of id: TaskID) async {
        if members.setMaxRates(rates, of: id) { await applyRates() }
    }

    /// Applies the highest limit among the members.
    private func applyRates() async {
        guard let rates = members.maxRates, rates != attemptState.maxRates else { return }
        await setMaxRates(receive: rates.receive, send: rates.send)
    }

    /// Reports a head to the members that have not got it yet. Members that do not need the body leave.
    func report(_ update: ResponseUpdate) async {
        for id in members.ids {
            guard let member = members.beginReport(of: update.number, to: id) else { continue }
            guard await !member.run.apply(update) else { continue }
            members.remove(id)?.resume(.left)
        }
        await stopIfUnwanted()
    }

    /// Passes the events of the attempts to every member.
    func passOnEvents() async {
        let events = pendingEvents
        guard !events.isEmpty else { return }
        pendingEvents = []
        for run in members.runs { await run.add(events) }
    }

    // MARK: Running

    /// Fetches the body as long as a member waits for it.
    private func runWhileWanted() async {
        while true {
            let end = await runOnce()
            services.space.withLockedValue { $0.remove(transfer.id) }
            await passOnEvents()
            // Actor isolation: nothing suspends from here to the end of the loop's body, so a member that joins meets
            // either the state `running` and is resumed here, or the new state.
            let wasAskedToStop = control.isStopRequested
            for member in members.removeLeaving() { member.resume(.left) }
            if case .notModified = end {
                for member in members.removeWaiting(with: response.conditions) { member.resume(end) }
            }
            switch end.successor(wasAskedToStop: wasAskedToStop, hasMembers: !members.isEmpty) {
            case .whole:
                state = .whole(end)
            case .again:
                response.removeHead()
                control.withdrawStop()
                continue
            case .idle:
                response.removeHead()
                state = .idle
            case .failed:
                response.removeHead()
                state = .idle
                failure = end
                started.beginFailure(of: members.ids)
            }
            for member in members.removeWaiting() { member.resume(end) }
            return
        }
    }

    private func runOnce() async -> Delivery {
        do {
            if hasBegun { try await kept.reload() }
            hasBegun = true
            if specification.kind == .data { return try await answer() }
            let directory = try await openDirectory()
            let part = try await openPart(in: directory)
            try await judgeKeptBytes(in: part)
            try await demandDigest(in: part)
            try await adopt(members.adopted, into: part, in: directory)
            try await kept.makeRoom(for: part, in: directory)
            let fetched = try await fetchWithinReserve(of: part, in: directory)
            if case .whole(let body) = fetched {
                await onBodyEnd()
                // No member waits, but tasks that keep the bytes must find them complete.
                if members.isEmpty { try await seal(body) }
            } else {
                try await kept.leaveAtRest(part)
            }
            if case .failed(let error) = fetched { return .failed(located(error)) }
            return fetched
        } catch FileError.partChanged(let path, let problem) {
            return .failed(await giveUpSpoiled(FileError.partChanged(path: path, problem: problem)))
        } catch {
            return .failed(located(error))
        }
    }

    /// The failure with the file system that is full, if that is the failure.
    private func located(_ error: any Error) -> any Error {
        guard let directory else { return error }
        let total = kept.described.totalLength ?? 0
        return services.located(error, in: directory, needed: total.subtractingSaturated(kept.committed))
    }

    /// The file system of the partial file; nil before it was opened.
    var fileSystem: UInt64? { directory?.fileSystemID }

    private func openDirectory() async throws -> DirectoryHandle {
        if let directory { return directory }
        let opened = try await openDirectory(of: transfer)
        directory = opened
        return opened
    }

    /// Fetches the body, and releases the preallocated blocks unless the body is whole.
    private func fetchWithinReserve(of part: PartialFile, in directory: DirectoryHandle) async throws -> Delivery {
        do {
            let fetched = try await fetch(into: part, in: directory)
            if case .whole = fetched { return fetched }
            if case .failed(let error) = fetched, lacksRoom(error) {
                try? await kept.space.giveUpRest(of: part, after: kept.durableEnd)
            } else {
                try await kept.space.release(of: part)
            }
            return fetched
        } catch {
            // The original error is reported. The next run truncates the file to the committed bytes anyway.
            if lacksRoom(error) {
                try? await kept.space.giveUpRest(of: part, after: kept.durableEnd)
            } else {
                try? await kept.space.release(of: part)
            }
            throw error
        }
    }

    private func lacksRoom(_ error: any Error) -> Bool {
        switch error {
        case let error as TransferError: error.reason == .insufficientSpace
        case let error as FileError: error.transferError.reason == .insufficientSpace
        default: false
        }
    }

    /// The bytes belong to another transfer or were dropped: the next request reads the state from the database.
    func forgetBody() {
        state = .idle
        response.removeHead()
    }
}

/// The known facts about the response whose body is arriving.
///
/// Invariant: `head` is nil while no response is accepted, so that a member that joins late never gets the head of an
/// earlier response.
struct ResponseState {
    /// The head as reported to the members; nil while no body is arriving.
    private(set) var head: ResponseUpdate?
    private var headCount = 0
    /// The conditional header fields of the last attempt, if it requested the whole body.
    var conditions: [HeaderField] = []
    /// True if the response of the current attempt was accepted: its bytes follow those in the partial file or replace
    /// them.
    var isAccepted = false
    /// The reason for which the source of the whole could not continue the kept bytes.
    var refusal: RestartReason?
    /// True if the source refuses requests for the rest. The whole is requested, and its kept bytes are skipped.
    var isRangeRefused = false
    /// The digest under which an attempt may continue bytes without a matching validator.
    var joinDigest: Checksum?
    /// The start of the last attempt, and the time at which its response head arrived.
    var times = ExchangeTimes(requested: Timestamp(microseconds: 0), answered: Timestamp(microseconds: 0))

    /// Sets the head of a new response. Returns it with its number, for the members.
    mutating func setHead(_ head: ResponseHead, from url: HTTPURL?, total: Int64?, isResumed: Bool) -> ResponseUpdate {
        headCount += 1
        let update = ResponseUpdate(
            number: headCount, head: head, url: url, total: total, isResumed: isResumed, times: times)
        self.head = update
        return update
    }

    mutating func removeHead() { head = nil }
}

/// A response head, as reported to the members of a transfer.
struct ResponseUpdate: Sendable {
    /// The number that distinguishes this head from earlier ones.
    let number: Int
    let head: ResponseHead
    let url: HTTPURL?
    let total: Int64?
    let isResumed: Bool
    let times: ExchangeTimes
}
