import Logging
import XferCore
import XferCurl
import XferModel

/// The chosen source cannot continue bytes that another source sent.
struct SourceRefusal: Error, CustomStringConvertible {
    let reason: RestartReason

    var description: String { reason.description }
}

/// Applies the decisions of `MirrorSelector`: the source of the next request, and the mode of that request.
extension SharedTransfer {
    /// Begins a run: every source may be tried again.
    func beginWithSources() {
        sources = TransferSources(count: specification.sources.count, use: transfer.sourceUse)
    }

    /// Chooses the source of the next request. Returns the run's error when no source is left.
    func chooseSource() -> TransferError? {
        let decision = sources.selector.next(
            hasBytes: kept.committed > 0, proof: proof(of: transfer.resumeData),
            isPatient: members.arePatient(hasGained: sources.hasGained))
        switch decision {
        case .request(let choice):
            sources[0] = choice
            return nil
        case .fail(let error):
            return error
        }
    }

    /// True if every waiting member demands a digest of the finished bytes.
    var isDigestKnown: Bool {
        SharingRules.isDigestKnown(own: specification.checksum, ofMembers: digestsOfMembers)
    }

    /// The digests of the members; nil with mirrors, where all tasks that share have the same.
    private var digestsOfMembers: [Checksum?]? { specification.mirrors.isEmpty ? members.demandedDigests : nil }

    /// The proof that further bytes would belong to these.
    func proof(of kept: ResumeData) -> MirrorSelector.Proof {
        MirrorSelector.Proof(of: kept, isDigestKnown: isDigestKnown)
    }

    /// The sources that may have sent kept bytes.
    var senders: [HTTPURL] {
        let senders = transfer.sourceUse.senders
        return specification.sources.enumerated().filter { senders.contains($0.offset) }.map(\.element)
    }

    /// The reason why kept bytes are discarded when another source sends the whole.
    static var takenOver: Discard {
        Discard("its source cannot continue them, and another source sends the whole", isSourceChange: true)
    }

    /// A strong digest that a waiting member or the task that created the transfer demands; it verifies the finished
    /// bytes, independently of the source's validators.
    var demandedDigest: Checksum? {
        SharingRules.demandedDigest(own: specification.checksum, ofMembers: digestsOfMembers)
    }

    /// The digest under which a body is accepted although nothing else proves that it is complete.
    var endDigest: Checksum? { SharingRules.endDigest(own: specification.checksum, ofMembers: digestsOfMembers) }

    /// True if kept bytes may be continued from their source without a validator. False after such a combination had
    /// the wrong digest: then the whole is fetched from one source.
    var mayJoinUnproven: Bool { !sources.selector.isWary && demandedDigest.map(\.algorithm.isStrong) == true }

    /// Accepts a body from a source: the source counts as a sender from here on, and that is committed before its first
    /// byte is written.
    func acceptBody(from choice: MirrorSelector.Choice, at offset: Int64, isUnproven: Bool = false) {
        sources.selector.onBody(of: choice, at: offset, isUnproven: isUnproven)
        guard sources.selector.use.unprovenFrom != nil else { return }
        // The task that demanded the digest may have left since the request.
        kept.bindingDigest = kept.bindingDigest ?? demandedDigest ?? response.joinDigest
    }

    /// Accepts the end of a body that only this digest proves. Every task that gets the bytes has to verify it, also
    /// one that has joined since the request and demands none. That is committed before the bytes count as whole.
    func acceptEnd(at offset: Int64, provenBy digest: Checksum) async throws {
        sources.selector.onUnprovenEnd(at: offset)
        kept.bindingDigest = kept.bindingDigest ?? digest
        try await commitSourceUse()
    }

    /// Commits which sources sent the bytes, before the file contains any of a further source.
    func commitSourceUse() async throws { try await kept.commit(sources.selector.use) }

    // MARK: What went wrong

    /// Records a failed attempt of its source. Returns true if another source may do better.
    func canContinue(after error: TransferError) -> Bool {
        guard sources.selector.hasMirrors, MirrorSelector.concernsSource(error) else { return false }
        setAside(0, error)
        return true
    }

    /// True if the whole is requested next from a source that has refused a request for the rest of its own bytes.
    func requestsWhole(after error: TransferError) -> Bool {
        guard !response.isRangeRefused, sources[0].mode == .own, kept.committed > 0, transfer.resumeData.hasOnlyPrefix
        else { return false }
        return Refusal.mayConcernRange(error, tries: members.fewestTries(hasGained: sources.hasGained))
    }

    /// Records the failure for the source of a connection.
    func setAside(_ connection: Int, _ error: TransferError) {
        let source = sources[connection].source
        let isAside = sources.selector.onFailure(of: source, error)
        log(isAside ? "a source was excluded" : "a source fails for now", source, error.message)
    }

    /// Records that a connection's source cannot continue the bytes of others.
    func refuse(of connection: Int, because reason: RestartReason) {
        if connection == 0, !response.isAccepted { response.removeHead() }
        let source = sources[connection].source
        sources.selector.onRefusal(of: source)
        log("a source cannot continue the kept bytes", source, reason.description)
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

/// The sources of a transfer during one run, and the source of each segment connection.
///
/// A value without effects. Invariant: `selector.use` contains every source whose bytes may be in the partial file; it
/// is committed before the first byte of a further source is written.
struct TransferSources {
    /// Selects the source of the next attempt and keeps each source's state during this run.
    var selector: MirrorSelector
    /// True if this run has received bytes that are kept.
    var hasGained = false
    private var choices: [Int: MirrorSelector.Choice] = [:]

    init(count: Int, use: SourceUse) { selector = MirrorSelector(count: count, use: use) }

    /// The source and fetch mode of a connection; a single attempt is connection 0.
    subscript(connection: Int) -> MirrorSelector.Choice {
        get { choices[connection] ?? MirrorSelector.Choice(source: 0, mode: .own) }
        set { choices[connection] = newValue }
    }

    /// True if a connection's failure may be its source's alone: there are mirrors, and no other live connection uses
    /// the same source.
    func isAlone(_ connection: Int, among live: some Sequence<Int>) -> Bool {
        selector.hasMirrors && live.allSatisfy { self[$0].source != self[connection].source }
    }
}
