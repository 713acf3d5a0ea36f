import Logging
import XferCore
import XferFiles
import XferModel
import XferStore

/// The source that was asked cannot go on with bytes that others sent.
struct SourceRefusal: Error {
    let reason: RestartReason
}

/// Which of several sources is asked, and for what: `MirrorBook` decides, this carries it out.
extension SharedTransfer {
    /// A run has begun: everybody may be asked.
    func beginWithSources() {
        book = MirrorBook(count: specification.sources.count, use: transfer.sourceUse)
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

    func choice(of lane: Int) -> MirrorBook.Choice { choices[lane] ?? MirrorBook.Choice(source: 0, way: .own) }

    /// Whether everybody who waits gave a digest that the finished bytes must have. Of tasks with mirrors all who share
    /// demand the same one, see `SharingRules`.
    var isDigestKnown: Bool {
        guard specification.mirrors.isEmpty else { return specification.checksum != nil }
        return !members.isEmpty && members.values.allSatisfy { $0.run.specification.checksum != nil }
    }

    private var proof: MirrorBook.Proof {
        let kept = transfer.resumeData
        guard kept.totalLength != nil, kept.contentEncoding == nil else { return .none }
        if isDigestKnown { return .digest }
        return kept.validators.etag.map(EntityTag.isStrong) == true ? .tag : .none
    }

    /// Whether everybody who waits is going to try again soon.
    private var isPatient: Bool {
        members.values.allSatisfy { member in
            let (run, limits) = (member.run, member.run.specification.retry)
            let tries = hasGained ? min(run.context.tries, 1) : run.context.tries
            return limits.retryFor > 0 && MirrorBook.isPatient(tries: tries, maxRetries: limits.maxRetries)
        }
    }

    /// Those who may have sent what is kept.
    var senders: [HTTPURL] {
        let senders = transfer.sourceUse.senders
        return specification.sources.enumerated().filter { senders.contains($0.offset) }.map(\.element)
    }

    // MARK: What is kept

    /// The resume data as the chosen source is to see it: what describes another server's version means nothing to it.
    func kept(for choice: MirrorBook.Choice) -> ResumeData {
        guard choice.way != .anew else { return ResumeData() }
        var kept = transfer.resumeData
        kept.segments = committed > 0 ? [Segment(start: 0, committed: committed)] : []
        if choice.way == .underDigest { kept.validators = Validators() }
        return kept
    }

    /// The reverse: what goes on under a digest is described as it was.
    func describing(_ answered: ResumeData) -> ResumeData {
        guard choice(of: 0).way == .underDigest else { return answered }
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

    /// Gives up what is kept, because its source cannot go on and another one has begun to send the whole.
    func makeWay(in part: PartialFile) async throws {
        guard committed > 0 else { return }
        try await dropKeptBytes(sourceChange: "its source cannot go on, and another one sends the whole")
        try await services.pool.run { try part.truncate(to: 0) }
    }

    /// Bytes that only a digest holds together are of no use once nobody demands one any more.
    func demandDigest(in part: PartialFile) async throws {
        guard transfer.sourceUse.needsDigest, !isDigestKnown, committed > 0 else { return }
        try await dropKeptBytes(
            sourceChange: "it was put together from several sources, and no checksum is demanded now")
        try await services.pool.run { try part.truncate(to: 0) }
        described = ResumeData()
    }

    // MARK: What went wrong

    /// An attempt has failed: whether another source may do better.
    func goesOn(after error: TransferError) -> Bool {
        guard book.hasMirrors, MirrorBook.concernsSource(error) else { return false }
        let source = choice(of: 0).source
        let isAside = book.onFailure(of: source, error)
        log(isAside ? "a mirror is set aside" : "a mirror fails for now", source, error.message)
        return true
    }

    /// The chosen source cannot go on with what others sent.
    func refuse(because reason: RestartReason) {
        head = nil
        book.onRefusal(of: choice(of: 0).source)
        log("a mirror cannot go on with what is kept", choice(of: 0).source, reason.description)
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
