public import XferCore
public import XferModel

/// One try at a transfer: everything the engine has to know, and nothing of tasks, files' names or the store.
public struct Attempt: Sendable {
    public var request: TransferRequest
    /// What earlier attempts left; empty asks for the whole.
    public var resumeData: ResumeData
    /// The part this attempt fetches; nil is the resume data's first segment, else the whole.
    public var segment: Segment?
    /// Continue without any validator (`resume: unsafe`).
    public var allowsUnsafeResume: Bool
    /// The finished bytes will be verified against a digest the client gave.
    public var digestIsKnown: Bool
    public var sink: BodySink
    /// Bytes per second, 0 is unlimited. A limited transfer uses HTTP/1.1.
    public var maxReceiveRate: Int64
    /// `If-None-Match` or `If-Modified-Since` with the published file's validators, for `on_conflict: update`.
    public var conditions: [HeaderField]
    public var checkpoints: CheckpointWindow.Limits
    /// Asked before every hop, redirects included: which session, and so which trust, the hop goes through.
    public var session: SessionChooser
    /// Told at every final response's head, redirects included, who sends it. Called on the engine's loop.
    public var onServer: (@Sendable (SourceEvidence) -> Void)?

    public init(
        request: TransferRequest, resumeData: ResumeData = ResumeData(), segment: Segment? = nil,
        allowsUnsafeResume: Bool = false, digestIsKnown: Bool = false, sink: BodySink, maxReceiveRate: Int64 = 0,
        conditions: [HeaderField] = [], checkpoints: CheckpointWindow.Limits = CheckpointWindow.Limits(),
        session: @escaping SessionChooser, onServer: (@Sendable (SourceEvidence) -> Void)? = nil
    ) {
        self.request = request
        self.resumeData = resumeData
        self.segment = segment
        self.allowsUnsafeResume = allowsUnsafeResume
        self.digestIsKnown = digestIsKnown
        self.sink = sink
        self.maxReceiveRate = maxReceiveRate
        self.conditions = conditions
        self.checkpoints = checkpoints
        self.session = session
        self.onServer = onServer
    }
}

/// Where the body goes.
public enum BodySink: Sendable, Hashable {
    /// Written with `pwrite` at each byte's offset within the representation. The descriptor is borrowed: it has to stay
    /// open until the attempt's `finished` event or the return of `TransferEngine.stop`.
    case file(descriptor: Int32)
    /// Collected for `AttemptOutcome.body`; a larger body fails with `length_mismatch`.
    case memory(limit: Int)
}

/// Names an attempt within its engine; never reused.
public struct AttemptID: Hashable, Sendable, CustomStringConvertible {
    let rawValue: UInt64

    public var description: String { String(rawValue) }
}
