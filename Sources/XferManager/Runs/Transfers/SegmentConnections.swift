import XferCore
import XferCurl
import XferModel

/// The connections of a segmented download, for one round: which are live, and the consequence of one's end for the
/// rest. Each connection is an attempt that fetches a segment.
///
/// A value without effects; `SegmentedDownload` acts on its decisions. Invariants: a connection has a piece of `plan`
/// only while it is live. After `verdict` is set no connection is started.
struct SegmentConnections {
    /// If a connection received fewer bytes before it broke, the number of connections is reduced.
    private static let worthwhile: Int64 = 256 << 10

    /// The segments and the connection that fetches each; nil until a response has shown that the body can be split.
    var plan: SegmentPlan?
    /// False after the source made the transfer start over.
    let maySplit: Bool
    /// The attempt of each live connection; its value is nil until its response is accepted. So no byte counts as
    /// written before it is committed which source sent it, and whether only a digest proves it.
    private(set) var live: [Int: AttemptHandle?] = [:]
    /// The start of each connection's attempt.
    private(set) var began: [Int: MonotonicInstant] = [:]
    /// True if a response head was accepted, so that further connections may start.
    private(set) var isOpen = false
    /// True if the server ignores ranges. An attempt then requests everything after the first gap.
    private(set) var isOneStream = false
    /// True if a connection has given a part of its segment to another.
    private var hasSplit = false
    /// True if a single connection was tried after the last of several had failed.
    private var hasTriedAlone = false
    /// The result of the round once no connection is live.
    private(set) var verdict: Result<AttemptOutcome.Result, any Error>?
    /// Connections that were requested to stop because there are too many, or because they are slow.
    private var retiring: Set<Int> = []
    /// The rate of the fastest connection that has ended, in bytes per second.
    private var fastest: Double?

    init(plan: SegmentPlan?, maySplit: Bool) {
        self.plan = plan
        self.maySplit = maySplit
    }

    /// The attempt of a connection; nil until its response is accepted.
    func handle(of connection: Int) -> AttemptHandle? { live[connection] ?? nil }

    /// The other live connections, ascending.
    func live(besides connection: Int) -> [Int] { live.keys.filter { $0 != connection }.sorted() }

    // MARK: Starting

    /// The next step if there is work and no verdict. The step's connection has its piece from now on.
    mutating func nextStep() -> (connection: Int, step: SegmentPlan.Step)? {
        guard verdict == nil, let wanted = plan?.wantedConnections, live.isEmpty || isOpen && live.count < wanted else {
            return nil
        }
        let connection = freeNumber
        return plan?.next(for: connection, idle: max(1, wanted - live.count)).map { (connection, $0) }
    }

    /// The lowest number that no live connection has.
    private var freeNumber: Int { (0...live.count).first { live[$0] == nil } ?? live.count }

    mutating func onStart(_ connection: Int, at now: MonotonicInstant) {
        live[connection] = .some(nil)
        began[connection] = now
    }

    /// Records that the response of a connection was accepted: its attempt's bytes count from now on.
    mutating func onAccept(_ connection: Int, of handle: AttemptHandle) { live[connection] = handle }

    /// Records the answer to a split: `isAgreed` if the other connection stops there.
    mutating func onSplit(_ connection: Int, at offset: Int64, parts: Int, isAgreed: Bool) {
        plan?.onSplit(connection, at: offset, parts: parts, isAgreed: isAgreed)
        if isAgreed { hasSplit = true }
    }

    /// Handles the first accepted head: further connections may start if the body can be split.
    ///
    /// - Parameters:
    ///   - isSplittable: true if ranges of this version can be requested.
    ///   - isPart: true if the response is a range as requested.
    /// - Returns: true if a plan was made.
    mutating func open(
        _ connection: Int, _ body: BodyPlan, count: SegmentCount, smallest: Int64, isSplittable: Bool, isPart: Bool
    ) -> Bool {
        let needsPlan = plan == nil
        if needsPlan {
            guard maySplit, count != .one, isSplittable, let total = body.total, body.skip == 0 else { return false }
            let kept = body.offset > 0 ? [Segment(start: 0, committed: body.offset)] : []
            plan = SegmentPlan(total: total, kept: kept, count: count, smallest: smallest)
            plan?.begin(connection)
        }
        if isPart { plan?.onAnswer(connection) }
        isOpen = true
        return needsPlan
    }

    // MARK: Progress

    /// Records the offset of each connection and returns it. A sync that begins now is sure to cover only the bytes
    /// below these offsets.
    @discardableResult
    mutating func recordProgress() -> [(id: AttemptID, offset: Int64)] {
        var marks: [(id: AttemptID, offset: Int64)] = []
        for case (let connection, let handle?) in live {
            let progress = handle.progress.snapshot
            plan?.onWritten(connection, to: progress.offset)
            if let roundTrip = progress.trace?.roundTrip { plan?.onRoundTrip(roundTrip) }
            marks.append((handle.id, progress.offset))
        }
        return marks
    }

    /// True if the wanted number of connections may still change, so that they have to be measured often.
    var isGrowing: Bool { isOpen && verdict == nil && plan?.isMeasuring == true }

    /// Connections beyond the wanted number that were not requested to stop yet. They count as requested from now on.
    mutating func retireSurplus() -> [AttemptHandle] {
        guard verdict == nil, let surplus = plan?.surplus else { return [] }
        return surplus.compactMap { connection in
            guard let handle = handle(of: connection), retiring.insert(connection).inserted else { return nil }
            return handle
        }
    }

    /// True if a connection has no work although there is some, so that a slow one may have to return its segment.
    var hasIdle: Bool {
        guard isOpen, verdict == nil, let plan else { return false }
        return !live.isEmpty && live.count < plan.wantedConnections && !plan.isWritten
    }

    /// A slow connection that returns its segment to one without work; see `SegmentPlan.removeLaggard`. It counts as
    /// requested to stop from now on.
    mutating func retireLaggard() -> AttemptHandle? {
        guard hasIdle, retiring.isEmpty, let connection = plan?.removeLaggard(ended: fastest),
            let handle = handle(of: connection)
        else { return nil }
        retiring.insert(connection)
        return handle
    }

    /// A connection that could continue over segments that will get no connection of their own, and where it would end.
    var widening: (connection: Int, end: Int64)? {
        guard isOpen, verdict == nil, let plan, live.count >= plan.wantedConnections else { return nil }
        return plan.widening()
    }

    // MARK: Ending

    /// The known facts about the source of a connection that has ended.
    struct Source: Hashable {
        /// True if it was to continue bytes that other sources sent.
        var isForeign = false
        /// True if there are other sources, and no other live connection uses this one.
        var isAlone = false
    }

    /// The action of `SegmentedDownload` after a connection has ended.
    struct Consequence: Hashable {
        enum Effect: Hashable {
            case none
            /// Stops every live connection: the round ends.
            case stopAll
            /// Records the failure of the source; another connection continues.
            case setAside(TransferError)
            /// Records that the source cannot continue the bytes of others.
            case refuse(RestartReason)
            /// Counts the received bytes again, because some of them will be requested again.
            case recount
        }

        var effect = Effect.none
        /// True if the next attempt, or the round's end, is about this connection's source.
        var isDecisive = false
    }

    /// Records how fast a connection was that is about to be removed.
    mutating func recordSpeed(of connection: Int, received: Int64, at now: MonotonicInstant) {
        guard received > 0, let began = began[connection] else { return }
        let speed = Double(received) / max(0.001, began.duration(to: now) / .seconds(1))
        fastest = max(fastest ?? speed, speed)
    }

    /// Removes a connection whose attempt has ended. Returns true if it was requested to stop as surplus.
    mutating func remove(_ connection: Int) -> Bool {
        live.removeValue(forKey: connection)
        return retiring.remove(connection) != nil
    }

    /// Decides the consequence of a removed connection's end.
    ///
    /// - Parameter received: bytes of the network that its attempt received.
    mutating func onEnd(
        of connection: Int, _ result: AttemptOutcome.Result, at offset: Int64, received: Int64, wasRetiring: Bool,
        from source: Source
    ) -> Consequence {
        plan?.onEnd(connection, at: offset)
        switch result {
        case .stopped where wasRetiring: return Consequence()
        case .complete: return Consequence()
        // The round ends, and the next one makes its requests over HTTP/1.1.
        case .restartWithHTTP1: return end(.success(result))
        case .stopped, .notModified: return end(.success(.stopped))
        case .startOver(let reason): return onLoss(.otherVersion(reason), from: source)
        case .failed(let error) where error.reason.isLocal: return end(.success(result))
        case .failed(let error): return onFailure(error, received: received, from: source)
        }
    }

    /// Decides the consequence of an attempt that ended with an error of this service, or abandoned its response.
    mutating func onEnd(of connection: Int, _ error: any Error, from source: Source) -> Consequence {
        plan?.onEnd(connection, at: 0)
        guard let loss = error as? SegmentConnectionLoss else { return end(.failure(error)) }
        return onLoss(loss, from: source)
    }

    /// Ends the round with this verdict unless it has one already.
    mutating func end(_ verdict: Result<AttemptOutcome.Result, any Error>) -> Consequence {
        if self.verdict == nil { self.verdict = verdict }
        return Consequence(effect: .stopAll)
    }

    private mutating func onFailure(_ error: TransferError, received: Int64, from source: Source) -> Consequence {
        let concernsSourceAlone = source.isAlone && MirrorSelector.concernsSource(error)
        // A mirror's failure concerns only that mirror while other sources may take over.
        if isOpen, source.isForeign, concernsSourceAlone { return Consequence(effect: .setAside(error)) }
        if live.isEmpty { return onLastFailure(error, received: received) }
        if concernsSourceAlone { return Consequence(effect: .setAside(error)) }
        if received < Self.worthwhile { limitToLive() }
        return Consequence()
    }

    /// Ends the round with the failure of the last connection, unless it may be due to the number of connections.
    private mutating func onLastFailure(_ error: TransferError, received: Int64) -> Consequence {
        if hasSplit, received == 0 {
            // The server may still have counted connections that had just been closed, so one more attempt is made
            // alone.
            if !hasTriedAlone {
                hasTriedAlone = true
                plan?.limit(to: 1)
                return Consequence()
            }
            // The server serves the whole body and refuses every range.
            if plan?.isProven == false, error.httpStatus != nil {
                verdict = .success(.startOver(.rangeIgnored))
                return Consequence(isDecisive: true)
            }
        }
        var consequence = end(.success(.failed(error)))
        consequence.isDecisive = true
        return consequence
    }

    private mutating func onLoss(_ loss: SegmentConnectionLoss, from source: Source) -> Consequence {
        // This loss does not affect the other connections, nor those of the source that the bytes are from.
        if isOpen, source.isForeign {
            return Consequence(effect: loss.reason.map { .refuse($0) } ?? .none)
        }
        guard live.isEmpty else {
            limitToLive()
            return Consequence()
        }
        var consequence = Consequence(isDecisive: true)
        switch loss {
        case .rangeIgnored:
            plan?.collapse()
            isOneStream = true
            // No bytes are written at the start of the body, so a response from the start could not be compared with
            // the known version.
            if plan?.writtenPrefix == 0 { verdict = .success(.startOver(.rangeIgnored)) }
            consequence.effect = .recount
        case .otherVersion(let reason):
            verdict = .success(.startOver(reason))
        case .unwanted:
            break
        }
        return consequence
    }

    private mutating func limitToLive() { plan?.limit(to: live.count) }

    /// The end of the round, or nil while a connection is live.
    func roundEnd(isStopRequested: Bool) throws -> SharedTransfer.Round? {
        let written = plan?.writtenSegments ?? []
        if let verdict { return SharedTransfer.Round(try verdict.get(), written: written) }
        if plan?.isWritten == true { return SharedTransfer.Round(.complete, written: written) }
        return isStopRequested ? SharedTransfer.Round(.stopped, written: written) : nil
    }
}

/// The reason for which a connection abandons its attempt. Nothing of the response was written.
enum SegmentConnectionLoss: Error, CustomStringConvertible {
    /// The server sent the whole body, or started too far before the segment.
    case rangeIgnored
    /// The response is not, or may not be, of the version that the other connections fetch.
    case otherVersion(RestartReason)
    /// The round is ending.
    case unwanted

    /// The reason for a restart; nil if the source did not cause the loss.
    fileprivate var reason: RestartReason? {
        switch self {
        case .rangeIgnored: .rangeIgnored
        case .otherVersion(let reason): reason
        case .unwanted: nil
        }
    }

    var description: String { reason?.description ?? "the connection is no longer needed" }
}

extension FailureReason {
    /// True if the cause is on this machine, so that no other request would succeed.
    fileprivate var isLocal: Bool {
        switch self {
        case .insufficientSpace, .destinationUnavailable, .fileTooLarge, .diskError, .outOfDescriptors, .internalError:
            true
        default: false
        }
    }
}
