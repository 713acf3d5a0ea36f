public import XferModel

/// Selects the source of a transfer's next request, and the mode of that request. It contains the state of the sources
/// during one run. A value without I/O. A transfer with one source uses it, too.
///
/// Sources are tried in order of preference. A source that fails permanently (404, an untrusted certificate) is
/// excluded for the run. A source that fails temporarily (503, a lost connection) is followed by the next one, and the
/// next run tries it again. Trying all of them is one attempt of the task.
///
/// **Bytes of two sources are combined only under proof**, since entity tags and dates of different servers say nothing
/// about each other (RFC 9110 §8.8.3 compares tags of one resource). There are two proofs: lengths agree and the client
/// gave a digest, which is verified at the end; or lengths agree and the strong entity tags are the same octets.
/// Without proof kept bytes belong to their source. If that source has failed permanently in this run, or `patience`
/// times in a row without progress, the whole is requested from another source. The kept bytes are discarded only when
/// that source begins to send, because it may fail as well.
///
/// If a demanded digest is wrong, the sources that sent the bytes are suspects. From then on nothing is combined,
/// caches on the way are avoided, sources that are not suspect come first, and each sends the whole alone until one
/// digest is right. A suspect that sent all of the bytes of a wrong digest is excluded, so this ends, and one correct
/// source is enough. If only an announced digest is wrong, a source that sent all bytes is excluded at once.
public struct MirrorSelector: Hashable, Sendable {
    /// The bytes that are requested from a source.
    public enum FetchMode: Hashable, Sendable {
        /// The source's own bytes: all of them, or the rest after the kept ones according to `ResumeRules`.
        case own
        /// The rest of others' bytes, if it shows the same strong entity tag: `If-Range`.
        case sameTag
        /// The rest of other sources' bytes, regardless of its validators: the digest decides at the end.
        case underDigest
        /// The whole, in place of the kept bytes.
        case fromStart

        /// True if the request continues bytes that other sources sent.
        public var isForeign: Bool { self == .sameTag || self == .underDigest }
    }

    public struct Choice: Hashable, Sendable {
        /// Position among the task's sources.
        public var source: Int
        public var mode: FetchMode

        public init(source: Int, mode: FetchMode) {
            self.source = source
            self.mode = mode
        }
    }

    public enum Decision: Hashable, Sendable {
        case request(Choice)
        /// No source is left for this run.
        case fail(TransferError)
    }

    /// The proof that bytes of several sources belong together.
    public enum Proof: Hashable, Sendable {
        case none
        /// The kept bytes have a strong entity tag, and their length is known.
        case tag
        /// Every task that waits gave a digest, and the length is known.
        case digest

        /// - Parameters:
        ///   - kept: the description of the kept bytes.
        ///   - isDigestKnown: true if every task that waits gave a digest.
        public init(of kept: ResumeData, isDigestKnown: Bool) {
            guard kept.totalLength != nil, kept.contentEncoding == nil else {
                self = .none
                return
            }
            if isDigestKnown {
                self = .digest
            } else {
                self = kept.validators.etag.map(EntityTag.isStrong) == true ? .tag : .none
            }
        }
    }

    private enum SourceState: Hashable {
        case ready
        /// Failed temporarily.
        case failed(TransferError)
        /// Excluded for the rest of the run.
        case aside(TransferError)
    }

    /// The number of attempts in a row without progress after which the kept bytes no longer wait for their own source.
    public static let patience = 4

    /// The sources of the bytes in the partial file, including bytes that are not committed yet.
    public private(set) var use: SourceUse
    private var states: [SourceState]
    /// Sources that could not show that their version is the one of other sources' kept bytes; cleared when those bytes
    /// are discarded.
    private var incompatible = SourceSet()
    private var speeds: [SourceSpeed]

    /// - Parameters:
    ///   - count: the number of sources, 1 … 16.
    ///   - use: the stored use of the sources.
    public init(count: Int, use: SourceUse = SourceUse()) {
        self.use = use
        if !(0..<count).contains(use.described) {
            // A damaged row: what is kept is of some source, so only a digest can make use of it.
            self.use.described = 0
            self.use.unprovenFrom = 0
        }
        // The task was started again although all sources are ruled out: else there would be none to request it from.
        if (0..<count).allSatisfy(use.excluded.contains) { self.use.excluded = [] }
        states = Array(repeating: .ready, count: count)
        speeds = Array(repeating: SourceSpeed(), count: count)
    }

    /// True if there is a choice at all.
    public var hasMirrors: Bool { states.count > 1 }

    // MARK: Next source

    /// The source of the next request, in order of preference.
    ///
    /// - Parameters:
    ///   - hasBytes: true if bytes are kept.
    ///   - isPatient: true if kept bytes justify another attempt of the task; see `isPatient(tries:maxRetries:)`.
    public func next(hasBytes: Bool, proof: Proof, isPatient: Bool) -> Decision {
        guard hasBytes else { return usable.first.map { .request(Choice(source: $0, mode: .own)) } ?? .fail(failure) }
        if let choice = continuations(proof).first { return .request(choice) }
        // Without proof the others were not asked: the wait is for the one.
        if case .failed(let error) = states[use.described], isPatient {
            return .fail(proof == .none || isWary ? error : failure)
        }
        return usable.first.map { .request(Choice(source: $0, mode: .fromStart)) } ?? .fail(failure)
    }

    /// The sources that could continue the kept bytes, in the order in which they are tried. Where only a tag can be
    /// proof, the source of the kept bytes comes first: with it, resuming needs no proof.
    private func continuations(_ proof: Proof) -> [Choice] {
        let own = usable.filter { $0 == use.described }.map { Choice(source: $0, mode: .own) }
        let others = usable.filter { $0 != use.described && !incompatible.contains($0) }
        if isWary { return own }
        switch proof {
        case .none: return own
        case .tag: return own + others.map { Choice(source: $0, mode: .sameTag) }
        case .digest:
            return (own + others.map { Choice(source: $0, mode: .underDigest) }).sorted { $0.source < $1.source }
        }
    }

    /// True if combined bytes were wrong before.
    public var isWary: Bool { !use.suspects.isEmpty }

    private var usable: [Int] {
        let ready = states.indices.filter { states[$0] == .ready && !use.excluded.contains($0) }
        guard isWary else { return ready }
        return ready.filter { !use.suspects.contains($0) } + ready.filter(use.suspects.contains)
    }

    /// True if a task that fails now is retried soon, so that its kept bytes are worth the wait for their source.
    ///
    /// - Parameters:
    ///   - tries: the task's attempts since its last progress, this one included, 1 upward.
    ///   - maxRetries: the task's; nil is unlimited.
    public static func isPatient(tries: Int, maxRetries: Int?) -> Bool {
        if let maxRetries, tries > maxRetries { return false }
        return tries % patience != 0
    }

    // MARK: What they answer

    /// Records that the source sends the requested bytes. From now on bytes in the partial file are from this source,
    /// too.
    ///
    /// - Parameters:
    ///   - offset: the place where they begin.
    ///   - isUnproven: true if only a digest can show that they follow the kept bytes of the source itself.
    public mutating func onBody(of choice: Choice, at offset: Int64 = 0, isUnproven: Bool = false) {
        switch choice.mode {
        case .own where choice.source == use.described:
            use.senders.insert(choice.source)
            if isUnproven { use.onUnprovenJoin(at: offset) }
        case .own, .fromStart:
            begin(with: choice.source)
        case .sameTag, .underDigest:
            use.senders.insert(choice.source)
            if choice.mode == .underDigest { use.onUnprovenJoin(at: offset) }
        }
    }

    /// Records that only a digest can prove that the body was not truncated.
    public mutating func onUnprovenEnd(at offset: Int64) { use.onUnprovenJoin(at: offset) }

    /// Records that the source sends another version from its first byte. The kept bytes of all sources are discarded.
    public mutating func begin(with source: Int) {
        use = use.withoutBytes
        use.described = source
        use.senders = [source]
        incompatible = []
    }

    /// Records that the kept bytes are discarded, and nothing replaces them yet.
    public mutating func onBytesLost() {
        use = use.withoutBytes
        incompatible = []
    }

    /// Records that the source cannot continue others' bytes: it has another length or tag, or sends only the whole.
    public mutating func onRefusal(of source: Int) { incompatible.insert(source) }

    /// Records that an attempt at a source has failed. Returns true if that excludes it for the run.
    @discardableResult
    public mutating func onFailure(of source: Int, _ error: TransferError) -> Bool {
        states[source] = error.isRetriable ? .failed(error) : .aside(error)
        return !error.isRetriable
    }

    /// True if the failure's cause is the source, and not this machine or the task itself.
    public static func concernsSource(_ error: TransferError) -> Bool {
        switch error.reason {
        case .dnsFailure, .connectFailed, .networkUnreachable, .connectTimeout, .connectionLost, .idleTimeout,
            .totalTimeout, .tooSlow, .trustRejected, .pinMismatch, .revocationUnknown, .httpStatus, .authFailed,
            .protocolError,
            .shortBody, .invalidFraming, .expansionLimit, .lengthMismatch, .rangeMismatch, .tooLarge, .checksumMismatch,
            .tooManyRedirects, .redirectDenied, .insecureRedirect,
            .rejectedByPolicy, .unacceptableType, .unexpectedAnswer:
            true
        case .policyMissing, .parseFailed, .uploadRejected, .sourceFileChanged, .bodyNotRewindable, .outcomeUnknown,
            .credentialMissing, .destinationExists, .destinationDenied, .destinationUnavailable, .destinationChanged,
            .nameRefused, .fileTooLarge, .insufficientSpace, .outOfDescriptors, .diskError, .fileMoveFailed,
            .postProcessFailed, .deadlineExceeded,
            .dependencyFailed, .blockedURL,
            .onlyIfCachedMiss, .internalError:
            false
        }
    }

    /// The error with which the run fails. It is that of the most preferred source whose failure is temporary, else of
    /// the most preferred one. The wait ends when the first of the sources may be tried again.
    private var failure: TransferError {
        let wrongDigest = TransferError(.checksumMismatch, "the bytes from the sources had the wrong digest")
        var passing: [TransferError] = []
        var final: [TransferError] = []
        for (source, state) in states.enumerated() {
            switch state {
            case .ready: if use.excluded.contains(source) { final.append(wrongDigest) }
            case .failed(let error): passing.append(error)
            case .aside(let error): final.append(error)
            }
        }
        guard var error = passing.first else { return final.first ?? wrongDigest }
        error.retryAfter = passing.contains { $0.retryAfter == nil } ? nil : passing.compactMap(\.retryAfter).min()
        return error
    }

    // MARK: Wrong digests

    /// The state of the sources after finished bytes had the wrong digest; nil when all sources are excluded.
    ///
    /// - Parameter isDemanded: true if a client demands the digest. A stale copy in a cache on the way has another one,
    ///   though the source is right; a digest that was announced with the copy would be the copy's.
    public static func suspect(_ use: SourceUse, count: Int, isDemanded: Bool) -> SourceUse? {
        var next = use.withoutBytes
        let isWhole = use.senders.count == 1 && use.unprovenFrom == nil
        let wasSuspected = use.senders.bits & ~use.suspects.bits == 0
        // What was put together may be wrong though the source is right: it sends the whole again.
        if isWhole, wasSuspected || !isDemanded {
            next.excluded.formUnion(use.senders)
        } else {
            next.suspects.formUnion(use.senders)
        }
        return next.excluded.count < count ? next : nil
    }

    // MARK: Several at once

    /// The source for one more of several concurrent attempts: sources of unknown speed first, in order of preference,
    /// then the one with the highest speed for each of its attempts. Each source of unknown speed gets one attempt
    /// before any gets two.
    ///
    /// The proof, or nil when no source can continue the kept bytes: then only one attempt may run.
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

    /// Records that a source has sent this number of bytes in an attempt of this duration.
    public mutating func onSpeed(of source: Int, bytes: Int64, in duration: Duration) {
        speeds[source].addSample(bytes: bytes, in: duration)
    }
}

/// The measured speed of a source in bytes per second of one attempt. The newest measurement counts half.
struct SourceSpeed: Hashable, Sendable {
    private(set) var rate: Double?

    mutating func addSample(bytes: Int64, in duration: Duration) {
        let seconds = duration / .seconds(1)
        guard seconds > 0, bytes >= 0 else { return }
        let seen = Double(bytes) / seconds
        rate = rate.map { ($0 + seen) / 2 } ?? seen
    }
}

/// Makes the request for one of a task's other sources.
public enum MirrorRequest {
    /// The request for `mirror`, without anything that is bound to the origin of the task's own URL.
    ///
    /// Secret header fields and `Host` are left out, as at a redirect (`HopHeaders`). So are secrets of rules that
    /// apply to every host, or that began with TLS if the mirror has none (`HeaderRules`). Credentials and certificates
    /// are not part of it: the caller resolves them and binds them to the task's own URL.
    public static func request(_ request: TransferRequest, for mirror: HTTPURL) -> TransferRequest {
        guard mirror != request.url else { return request }
        var asked = request
        asked.url = mirror
        guard mirror.origin != request.url.origin else { return asked }
        asked.headers.removeAll { isBound($0.name) }
        let losesTLS = request.url.scheme == .https && mirror.scheme == .http
        for index in asked.headerRules.indices where asked.headerRules[index].hosts.isEmpty || losesTLS {
            asked.headerRules[index].set.removeAll { Redaction.isSecretHeader($0.name) }
        }
        // The task's own certificate is for servers of its URL's origin.
        asked.clientCertificate = nil
        return asked
    }

    private static func isBound(_ name: String) -> Bool {
        Redaction.isSecretHeader(name) || name.lowercased() == "host"
    }
}
