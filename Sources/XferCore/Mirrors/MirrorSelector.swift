public import XferModel

/// Which of a transfer's sources is asked next, and what for: the sources' standing during one run. A value without I/O; a
/// transfer with one source has the same book with one page.
///
/// Sources are tried in order of preference. One that fails for good (404, a certificate nobody believes) is set aside for
/// the run; one that fails for now (503, a lost connection) makes room for the next and is asked again by the next run. Having
/// asked all of them is one try of the task's.
///
/// **Bytes of two sources are combined only under proof**, since entity tags and dates of different servers say nothing about
/// each other (RFC 9110 §8.8.3 compares tags of one resource): lengths agree and the client gave a digest, which is verified
/// at the end, or lengths agree and the strong entity tags are the same octets. Without proof kept bytes belong to the source
/// they are from. When that is gone for this run, or has failed `patience` times in a row without progress, another one is
/// asked for the whole, and the kept bytes are given up only once it begins to send: it may be no better.
///
/// When the digest is wrong of bytes that one source sent in one go, that one is condemned and not asked again. When several
/// had a part in them, or one went on without a validator, all of these are suspects: from then on nothing is combined, those
/// who are no suspects come first, and each sends the whole alone until one is right. Each wrong digest after the first
/// condemns one, so that comes to an end, and one source that is right is enough.
public struct MirrorSelector: Hashable, Sendable {
    /// What a source is asked for.
    public enum FetchMode: Hashable, Sendable {
        /// What it is about itself: the whole, or the rest of its own bytes as `ResumeRules` say.
        case own
        /// The rest of others' bytes, if it shows the same strong entity tag: `If-Range`.
        case sameTag
        /// The rest of others' bytes, whatever its validators are: a digest will tell.
        case underDigest
        /// The whole, in place of what is kept.
        case anew

        /// Whether it is to go on with bytes that others sent.
        public var isForeign: Bool { self == .sameTag || self == .underDigest }
    }

    public struct Choice: Hashable, Sendable {
        /// Position among the task's sources.
        public var source: Int
        public var way: FetchMode

        public init(source: Int, way: FetchMode) {
            self.source = source
            self.way = way
        }
    }

    public enum Decision: Hashable, Sendable {
        case ask(Choice)
        /// Nobody is left for this run.
        case fail(TransferError)
    }

    /// What would hold bytes of several sources together.
    public enum Proof: Hashable, Sendable {
        case none
        /// The kept bytes have a strong entity tag, and their length is known.
        case tag
        /// Every task that waits gave a digest, and the length is known.
        case digest
    }

    private enum Standing: Hashable {
        case ready
        /// For now.
        case failed(TransferError)
        /// For the rest of the run.
        case aside(TransferError)
    }

    /// Fruitless tries in a row after which kept bytes are not worth waiting for their source any more.
    public static let patience = 4

    /// What the bytes in the partial file are, those not committed yet included.
    public private(set) var use: SourceUse
    private var standings: [Standing]
    /// Those who could not show that others' bytes are theirs too, for as long as those are kept.
    private var strangers = SourceSet()
    private var speeds: [SourceSpeed]

    /// - Parameters:
    ///   - count: of the sources, 1 … 16.
    ///   - use: as it is kept with the bytes.
    public init(count: Int, use: SourceUse = SourceUse()) {
        self.use = use
        if !(0..<count).contains(use.described) {
            // A damaged row: what is kept is of some source, so only a digest can make use of it.
            self.use.described = 0
            self.use.unprovenFrom = 0
        }
        // Somebody insists: there would be nobody to ask.
        if (0..<count).allSatisfy(use.condemned.contains) { self.use.condemned = [] }
        standings = Array(repeating: .ready, count: count)
        speeds = Array(repeating: SourceSpeed(), count: count)
    }

    /// Whether there is a choice at all.
    public var hasMirrors: Bool { standings.count > 1 }

    // MARK: Who is asked

    /// Who is asked next, in order of preference.
    ///
    /// - Parameters:
    ///   - hasBytes: whether any are kept.
    ///   - isPatient: whether kept bytes are worth another try of the task's; see `isPatient(tries:maxRetries:)`.
    public func next(hasBytes: Bool, proof: Proof, isPatient: Bool) -> Decision {
        guard hasBytes else { return usable.first.map { .ask(Choice(source: $0, way: .own)) } ?? .fail(failure) }
        if let choice = continuations(proof).first { return .ask(choice) }
        // Without proof the others were not asked: the wait is for the one.
        if case .failed(let error) = standings[use.described], isPatient {
            return .fail(proof == .none || isWary ? error : failure)
        }
        return usable.first.map { .ask(Choice(source: $0, way: .anew)) } ?? .fail(failure)
    }

    /// Who could go on with the kept bytes, in the order they are asked. The source they are from comes first where a tag
    /// would have to prove anything: asking it is no guess.
    private func continuations(_ proof: Proof) -> [Choice] {
        let own = usable.filter { $0 == use.described }.map { Choice(source: $0, way: .own) }
        let others = usable.filter { $0 != use.described && !strangers.contains($0) }
        if isWary { return own }
        switch proof {
        case .none: return own
        case .tag: return own + others.map { Choice(source: $0, way: .sameTag) }
        case .digest:
            return (own + others.map { Choice(source: $0, way: .underDigest) }).sorted { $0.source < $1.source }
        }
    }

    /// Bytes that were put together were wrong.
    public var isWary: Bool { !use.suspects.isEmpty }

    private var usable: [Int] {
        let ready = standings.indices.filter { standings[$0] == .ready && !use.condemned.contains($0) }
        guard isWary else { return ready }
        return ready.filter { !use.suspects.contains($0) } + ready.filter(use.suspects.contains)
    }

    /// Whether a task that fails now is tried again soon, so that its kept bytes are worth the wait for their source.
    ///
    /// - Parameters:
    ///   - tries: the task's tries since its last progress, this one included, 1 upward.
    ///   - maxRetries: the task's; nil is unlimited.
    public static func isPatient(tries: Int, maxRetries: Int?) -> Bool {
        if let maxRetries, tries > maxRetries { return false }
        return tries % patience != 0
    }

    // MARK: What they answer

    /// The source sends what it was asked for: from now on the bytes in the partial file are these, too.
    ///
    /// - Parameters:
    ///   - offset: where they begin.
    ///   - isUnproven: whether nothing but a digest shows that they follow what is kept of the source's own.
    public mutating func onBody(of choice: Choice, at offset: Int64 = 0, isUnproven: Bool = false) {
        switch choice.way {
        case .own where choice.source == use.described:
            use.senders.insert(choice.source)
            if isUnproven { use.noteJoin(at: offset) }
        case .own, .anew:
            begin(with: choice.source)
        case .sameTag, .underDigest:
            use.senders.insert(choice.source)
            if choice.way == .underDigest { use.noteJoin(at: offset) }
        }
    }

    /// The source sends another version from its first byte, and what was kept of all of them is given up.
    public mutating func begin(with source: Int) {
        use = use.withoutBytes
        use.described = source
        use.senders = [source]
        strangers = []
    }

    /// What was kept is given up, and nothing takes its place yet.
    public mutating func onBytesLost() {
        use = use.withoutBytes
        strangers = []
    }

    /// The source cannot go on with others' bytes: it has another length or tag, or sends only the whole.
    public mutating func onRefusal(of source: Int) { strangers.insert(source) }

    /// An attempt at a source has failed. Answers whether that sets it aside for the run.
    @discardableResult
    public mutating func onFailure(of source: Int, _ error: TransferError) -> Bool {
        standings[source] = error.isRetriable ? .failed(error) : .aside(error)
        return !error.isRetriable
    }

    /// Whether a failure tells of the source that was asked, and not of this machine or of the task itself.
    public static func concernsSource(_ error: TransferError) -> Bool {
        switch error.reason {
        case .dnsFailure, .connectFailed, .networkUnreachable, .connectTimeout, .connectionLost, .idleTimeout,
            .totalTimeout, .trustRejected, .pinMismatch, .revocationUnknown, .httpStatus, .authFailed, .protocolError,
            .shortBody, .invalidFraming, .expansionLimit, .lengthMismatch, .rangeMismatch, .checksumMismatch,
            .tooManyRedirects, .redirectDenied, .insecureRedirect,
            .rejectedByPolicy, .unacceptableType:
            true
        case .policyMissing, .parseFailed, .uploadRejected, .sourceFileChanged, .bodyNotRewindable, .outcomeUnknown,
            .credentialMissing, .destinationExists, .destinationDenied, .destinationUnavailable, .destinationChanged,
            .insufficientSpace, .outOfDescriptors, .diskError, .fileMoveFailed, .postProcessFailed, .deadlineExceeded,
            .dependencyFailed, .blockedURL,
            .onlyIfCachedMiss, .internalError:
            false
        }
    }

    /// What the run fails with: the most preferred source's word among those that may be better later, else the most
    /// preferred one's. The wait is over when the first of them may be asked again.
    private var failure: TransferError {
        var passing: [TransferError] = []
        var final: [TransferError] = []
        for standing in standings {
            switch standing {
            case .ready: break
            case .failed(let error): passing.append(error)
            case .aside(let error): final.append(error)
            }
        }
        guard var error = passing.first else {
            return final.first
                ?? TransferError(.checksumMismatch, "what the sources sent had the wrong digest")
        }
        error.retryAfter = passing.contains { $0.retryAfter == nil } ? nil : passing.compactMap(\.retryAfter).min()
        return error
    }

    // MARK: Wrong digests

    /// What is known of the sources after finished bytes had the wrong digest; nil when nobody is left who could send others.
    public static func suspect(_ use: SourceUse, count: Int) -> SourceUse? {
        var next = use.withoutBytes
        // What was put together may be wrong though the source is right: it sends the whole once more.
        if use.senders.count > 1 || use.unprovenFrom != nil {
            next.suspects.formUnion(use.senders)
        } else {
            next.condemned.formUnion(use.senders)
        }
        return next.condemned.count < count ? next : nil
    }

    // MARK: Several at once

    /// Whose bytes one of several attempts that run at once should ask for: whoever is the fastest as far as was seen, those
    /// not seen yet first, in order of preference. Each of these gets one attempt before one gets two.
    ///
    /// Nil when nobody can go on with what is kept: then nothing but one attempt is in order.
    /// - Parameter busy: the sources of the attempts that run now.
    public func another(besides busy: [Int], proof: Proof) -> Choice? {
        let choices = continuations(proof)
        let load = busy.reduce(into: [Int: Int]()) { $0[$1, default: 0] += 1 }
        if let unseen = choices.first(where: { load[$0.source] == nil && speeds[$0.source].rate == nil }) {
            return unseen
        }
        // What one more attempt would get if they divided among them what one gets.
        func share(_ choice: Choice) -> Double {
            (speeds[choice.source].rate ?? 0) / Double(1 + (load[choice.source] ?? 0))
        }
        return choices.enumerated().max { (share($0.element), -$0.offset) < (share($1.element), -$1.offset) }?.element
    }

    /// A source has sent so many bytes in an attempt that lasted so long.
    public mutating func onSpeed(of source: Int, bytes: Int64, in duration: Duration) {
        speeds[source].note(bytes: bytes, in: duration)
    }
}

/// How fast a source was seen to be: bytes per second of one attempt, newer ones counting half.
struct SourceSpeed: Hashable, Sendable {
    private(set) var rate: Double?

    mutating func note(bytes: Int64, in duration: Duration) {
        let seconds = duration / .seconds(1)
        guard seconds > 0, bytes >= 0 else { return }
        let seen = Double(bytes) / seconds
        rate = rate.map { ($0 + seen) / 2 } ?? seen
    }
}
