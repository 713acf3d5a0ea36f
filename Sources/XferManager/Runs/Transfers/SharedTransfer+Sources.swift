import Logging
import XferCore
import XferCurl
import XferFiles
import XferModel
import XferStore

/// The source that was asked cannot go on with bytes that others sent.
struct SourceRefusal: Error {
    let reason: RestartReason
}

/// Which of several sources is asked, and for what: `MirrorSelector` decides, this carries it out.
extension SharedTransfer {
    /// A run has begun: everybody may be asked.
    func beginWithSources() {
        book = MirrorSelector(count: specification.sources.count, use: transfer.sourceUse)
        choices = [:]
        hasGained = false
    }

    /// Chooses who is asked next; answers what the run fails with when nobody is left.
    func chooseSource() -> TransferError? {
        switch book.next(hasBytes: committed > 0, proof: proof, isPatient: isPatient) {
        case .ask(let choice):
            choices[0] = choice
            return nil
        case .fail(let error):
            return error
        }
    }

    func choice(of lane: Int) -> MirrorSelector.Choice { choices[lane] ?? MirrorSelector.Choice(source: 0, way: .own) }

    /// Whether everybody who waits gave a digest that the finished bytes must have. Of tasks with mirrors all who share
    /// demand the same one, see `SharingRules`.
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

    /// Whether everybody who waits is going to try again soon.
    private var isPatient: Bool {
        members.values.allSatisfy { member in
            let (run, limits) = (member.run, member.run.specification.retry)
            let tries = hasGained ? min(run.context.tries, 1) : run.context.tries
            return limits.retryFor > 0 && MirrorSelector.isPatient(tries: tries, maxRetries: limits.maxRetries)
        }
    }

    /// Those who may have sent what is kept.
    var senders: [HTTPURL] {
        let senders = transfer.sourceUse.senders
        return specification.sources.enumerated().filter { senders.contains($0.offset) }.map(\.element)
    }

    // MARK: What is kept

    /// What `data` describes as the chosen source is to see it: what describes another server's version means nothing to it.
    /// Who is to send the whole in the place of what is kept is told that there is something, and not what.
    func kept(for choice: MirrorSelector.Choice, _ data: ResumeData) -> ResumeData {
        if choice.way == .anew { return ResumeData() }
        var kept = data
        if choice.way == .underDigest { kept.validators = Validators() }
        return kept
    }

    /// The reverse: what goes on under a digest is described as it was.
    func describing(_ answered: ResumeData, by choice: MirrorSelector.Choice) -> ResumeData {
        guard choice.way == .underDigest else { return answered }
        var described = answered
        described.validators = transfer.resumeData.validators
        return described
    }

    /// Commits whose bytes those in the partial file are, before any of a further source is among them.
    func commitSourceUse() async throws {
        let (use, id) = (book.use, transfer.id)
        guard use != transfer.sourceUse else { return }
        try await services.store.write { try $0.setSourceUse(use, of: id) }
        transfer.sourceUse = use
    }

    /// Why what is kept is given up once another source sends the whole.
    static var makingWay: String { "its source cannot go on, and another one sends the whole" }

    /// A digest that shows whether the finished bytes are right, whatever their source says of itself: the one somebody who
    /// waits demands. Of tasks with mirrors all demand the same.
    var demandedDigest: Checksum? {
        guard specification.mirrors.isEmpty else { return specification.checksum }
        let waiting = members.sorted { $0.key < $1.key }.map(\.value.run.specification.checksum)
        return (waiting + [specification.checksum]).lazy.compactMap(\.self).first(where: \.algorithm.isStrong)
    }

    /// Whether kept bytes may be continued from their source though it shows no validator. Once what was put together so
    /// was wrong, it may not: the whole is fetched in one go.
    var mayJoinUnproven: Bool { !book.isWary && demandedDigest.map(\.algorithm.isStrong) == true }

    /// Bytes that only a digest holds together are of no use once nobody demands one any more.
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

    /// Chooses whom a lane asks that is not the first; see `MirrorSelector.another`.
    func chooseSource(for lane: Int) {
        guard book.hasMirrors else { return choices[lane] = nil }
        let busy = (lanes?.live.keys.filter { $0 != lane } ?? []).sorted()
        for other in busy { noteSpeed(of: other) }
        choices[lane] =
            book.another(besides: busy.map { choice(of: $0).source }, proof: proof(of: described))
            ?? MirrorSelector.Choice(source: book.use.described, way: .own)
    }

    /// Notes how fast a lane's source is as far as its attempt has come.
    func noteSpeed(of lane: Int) {
        guard book.hasMirrors, let began = lanes?.began[lane], let handle = lanes?.handle(of: lane) else { return }
        book.onSpeed(
            of: choice(of: lane).source, bytes: handle.progress.snapshot.received,
            in: began.duration(to: Clocks.monotonic()))
    }

    /// A lane beside others got an answer that goes on with their bytes. These are its source's, too, from here on.
    func takePart(_ lane: Int, at offset: Int64) async throws {
        book.onBody(of: choice(of: lane), at: offset)
        if book.use.unprovenFrom != nil { holdingDigest = holdingDigest ?? demandedDigest }
        try await commitSourceUse()
    }

    /// A lane beside others has failed. Whether that is its source's failure alone, so that the others go on as they are.
    func isOfSourceAlone(_ lane: Int, _ error: TransferError) -> Bool {
        guard book.hasMirrors, MirrorSelector.concernsSource(error) else { return false }
        let source = choice(of: lane).source
        guard lanes?.live.keys.allSatisfy({ choice(of: $0).source != source }) == true else { return false }
        setAside(source, error)
        return true
    }

    // MARK: What went wrong

    /// An attempt has failed: whether another source may do better.
    func goesOn(after error: TransferError) -> Bool {
        guard book.hasMirrors, MirrorSelector.concernsSource(error) else { return false }
        setAside(choice(of: 0).source, error)
        return true
    }

    private func setAside(_ source: Int, _ error: TransferError) {
        let isAside = book.onFailure(of: source, error)
        log(isAside ? "a source is set aside" : "a source fails for now", source, error.message)
    }

    /// A lane's source cannot go on with what others sent.
    func refuse(of lane: Int, because reason: RestartReason) {
        if lane == 0, !isBodyTaken { head = nil }
        book.onRefusal(of: choice(of: lane).source)
        log("a source cannot go on with what is kept", choice(of: lane).source, reason.description)
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
