import Logging
import XferCore
import XferCurl
import XferFiles
import XferModel
import XferStore

/// The chosen source cannot continue bytes that another source sent.
struct SourceRefusal: Error {
    let reason: RestartReason
}

/// Applies the decisions of `MirrorSelector`: which source is asked next, and for what.
extension SharedTransfer {
    /// Begins a run: every source may be asked again.
    func beginWithSources() {
        book = MirrorSelector(count: specification.sources.count, use: transfer.sourceUse)
        choices = [:]
        hasGained = false
    }

    /// Chooses the source to ask next. Returns the run's error when no source is left.
    func chooseSource() -> TransferError? {
        switch book.next(hasBytes: committed > 0, proof: proof, isPatient: isPatient) {
        case .ask(let choice):
            choices[0] = choice
            return nil
        case .fail(let error):
            return error
        }
    }

    func choice(of connection: Int) -> MirrorSelector.Choice {
        choices[connection] ?? MirrorSelector.Choice(source: 0, mode: .own)
    }

    /// Whether every waiting member gave a digest that the finished bytes must have. Tasks with mirrors share only if
    /// their digests are equal; see `SharingRules`.
    var isDigestKnown: Bool {
        guard specification.mirrors.isEmpty else { return specification.checksum != nil }
        return !members.isEmpty && members.values.allSatisfy { $0.run.specification.checksum != nil }
    }

    private var proof: MirrorSelector.Proof { proof(of: transfer.resumeData) }

    private func proof(of kept: ResumeData) -> MirrorSelector.Proof {
        guard kept.totalLength != nil, kept.contentEncoding == nil else { return .none }
        if isDigestKnown { return .digest }
        return kept.validators.etag.map(EntityTag.isStrong) == true ? .tag : .none
    }

    /// Whether every waiting member is going to retry soon.
    private var isPatient: Bool {
        members.values.allSatisfy { member in
            let (run, limits) = (member.run, member.run.specification.retry)
            let tries = hasGained ? min(run.context.tries, 1) : run.context.tries
            return limits.retryFor > 0 && MirrorSelector.isPatient(tries: tries, maxRetries: limits.maxRetries)
        }
    }

    /// The sources that may have sent kept bytes.
    var senders: [HTTPURL] {
        let senders = transfer.sourceUse.senders
        return specification.sources.enumerated().filter { senders.contains($0.offset) }.map(\.element)
    }

    // MARK: What is kept

    /// The resume data for the chosen source. `underDigest` removes the validators, which are another server's; for
    /// `anew` it is empty, and the attempt gets only the number of kept bytes.
    func kept(for choice: MirrorSelector.Choice, _ data: ResumeData) -> ResumeData {
        if choice.mode == .anew { return ResumeData() }
        var kept = data
        if choice.mode == .underDigest { kept.validators = Validators() }
        return kept
    }

    /// The reverse of `kept(for:_:)`: bytes that are continued under a digest keep their validators.
    func describing(_ answered: ResumeData, by choice: MirrorSelector.Choice) -> ResumeData {
        guard choice.mode == .underDigest else { return answered }
        var described = answered
        described.validators = transfer.resumeData.validators
        return described
    }

    /// Commits which sources sent the bytes in the partial file, before it holds any of a further source.
    func commitSourceUse() async throws {
        let (use, id) = (book.use, transfer.id)
        guard use != transfer.sourceUse else { return }
        try await services.store.write { try $0.setSourceUse(use, of: id) }
        transfer.sourceUse = use
    }

    /// Why kept bytes are dropped when another source sends the whole.
    static var makingWay: String { "its source cannot go on, and another one sends the whole" }

    /// A strong digest that a waiting member or the task that created the transfer demands; it verifies the finished
    /// bytes whatever validators the source shows. Tasks with mirrors all demand the same.
    var demandedDigest: Checksum? {
        guard specification.mirrors.isEmpty else { return specification.checksum }
        let waiting = members.sorted { $0.key < $1.key }.map(\.value.run.specification.checksum)
        return (waiting + [specification.checksum]).lazy.compactMap(\.self).first(where: \.algorithm.isStrong)
    }

    /// Whether kept bytes may be continued from their source without a validator. After such a combination had the
    /// wrong digest it may not: the whole is fetched from one source.
    var mayJoinUnproven: Bool { !book.isWary && demandedDigest.map(\.algorithm.isStrong) == true }

    /// Drops bytes that only a digest can verify, if no member demands one any more.
    func demandDigest(in part: PartialFile) async throws {
        guard transfer.sourceUse.unprovenFrom != nil, committed > 0 else { return }
        holdingDigest = holdingDigest ?? demandedDigest
        let isHeld = specification.mirrors.isEmpty ? holdingDigest != nil : isDigestKnown
        guard !isHeld else { return }
        try await dropKeptBytes(
            sourceChange: "it was put together without a validator, and no checksum is demanded now")
        try await services.pool.run { try part.truncate(to: 0) }
        described = ResumeData()
    }

    // MARK: Several at once

    /// Chooses the source of a connection that is not the first; see `MirrorSelector.another`.
    func chooseSource(for connection: Int) {
        guard book.hasMirrors else { return choices[connection] = nil }
        let busy = (connections?.live.keys.filter { $0 != connection } ?? []).sorted()
        for other in busy { noteSpeed(of: other) }
        choices[connection] =
            book.another(besides: busy.map { choice(of: $0).source }, proof: proof(of: described))
            ?? MirrorSelector.Choice(source: book.use.described, mode: .own)
    }

    /// Records the speed of a connection's source over its attempt so far.
    func noteSpeed(of connection: Int) {
        guard book.hasMirrors, let began = connections?.began[connection],
            let handle = connections?.handle(of: connection)
        else { return }
        book.onSpeed(
            of: choice(of: connection).source, bytes: handle.progress.snapshot.received,
            in: began.duration(to: Clocks.monotonic()))
    }

    /// Accepts the response of a further connection that continues the bytes of others: its source counts as a sender
    /// from here on.
    func takePart(_ connection: Int, at offset: Int64) async throws {
        book.onBody(of: choice(of: connection), at: offset)
        if book.use.unprovenFrom != nil { holdingDigest = holdingDigest ?? demandedDigest }
        try await commitSourceUse()
    }

    /// Whether the failure of a further connection concerns only its source, so that the other connections continue. If
    /// so, the failure is recorded for the source.
    func isOfSourceAlone(_ connection: Int, _ error: TransferError) -> Bool {
        guard book.hasMirrors, MirrorSelector.concernsSource(error) else { return false }
        let source = choice(of: connection).source
        guard connections?.live.keys.allSatisfy({ choice(of: $0).source != source }) == true else { return false }
        setAside(source, error)
        return true
    }

    // MARK: What went wrong

    /// Records a failed attempt of its source. Returns whether another source may do better.
    func goesOn(after error: TransferError) -> Bool {
        guard book.hasMirrors, MirrorSelector.concernsSource(error) else { return false }
        setAside(choice(of: 0).source, error)
        return true
    }

    private func setAside(_ source: Int, _ error: TransferError) {
        let isAside = book.onFailure(of: source, error)
        log(isAside ? "a source is set aside" : "a source fails for now", source, error.message)
    }

    /// Records that a connection's source cannot continue the bytes of others.
    func refuse(of connection: Int, because reason: RestartReason) {
        if connection == 0, !isBodyTaken { head = nil }
        book.onRefusal(of: choice(of: connection).source)
        log("a source cannot go on with what is kept", choice(of: connection).source, reason.description)
    }

    private func log(_ what: Logger.Message, _ source: Int, _ reason: String) {
        services.logger.notice(
            what,
            metadata: [
                "task": "\(taskID)", "transfer": "\(transfer.id)", "url": "\(specification.sources[source])",
                "reason": "\(reason)",
            ])
    }
}
