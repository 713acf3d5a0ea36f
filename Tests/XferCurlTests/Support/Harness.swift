import Glibc
import XferCore
import XferModel
import XferTestSupport

@testable import XferCurl

/// An engine and the smallest manager there can be: it commits every checkpoint, gives up bytes when told to, and keeps
/// what was committed from attempt to attempt.
final class Harness: Sendable {
    let engine: TransferEngine

    /// Loops where a test does not say how many: `XFER_ENGINE_LOOPS`, for a run of all of them over several, else one.
    static let usualLoops = getenv("XFER_ENGINE_LOOPS").flatMap { Int(String(cString: $0)) } ?? 1

    private static func configuration(_ loops: Int, keptConnections: Int = 32) -> EngineConfiguration {
        EngineConfiguration(userAgent: "xferd/test", loops: loops, keptConnections: keptConnections)
    }

    init(loops: Int = usualLoops) throws { engine = try TransferEngine(configuration: Self.configuration(loops)) }

    /// Every connection has these losses. One loop, so that connections are used again.
    init(losses: ConnectionLosses) throws {
        var configuration = Self.configuration(1)
        configuration.losses = { _ in losses }
        engine = try TransferEngine(configuration: configuration)
    }

    /// The engine's deadlines only come when the test moves the clock and lets the loops turn.
    init(clock: ManualClock, loops: Int = usualLoops, keptConnections: Int = 32) throws {
        engine = try TransferEngine(
            configuration: Self.configuration(loops, keptConnections: keptConnections), clock: { clock.now })
    }

    /// Returns when what the clock has made due is done.
    func turn() async { _ = await engine.turns }

    deinit {
        let engine = engine
        Task { await engine.shutdown() }
    }

    /// What one attempt said, in order, and how it ended.
    struct Record: Sendable {
        var events: [AttemptEvent] = []
        var outcome: AttemptOutcome

        var verdicts: [HeadVerdict] {
            events.compactMap { event in
                guard case .head(_, let verdict, _) = event else { return nil }
                return verdict
            }
        }

        var error: TransferError? {
            guard case .failed(let error) = outcome.result else { return nil }
            return error
        }
    }

    /// Runs one attempt to its end.
    func run(_ attempt: Attempt, part: PartFile? = nil) async throws -> Record {
        let handle = await engine.start(attempt)
        return try await follow(handle, part: part)
    }

    /// Answers an attempt's events until it has ended.
    func follow(_ handle: AttemptHandle, part: PartFile? = nil) async throws -> Record {
        var events: [AttemptEvent] = []
        var outcome: AttemptOutcome?
        for await event in handle.events {
            events.append(event)
            switch event {
            case .checkpointDue(let offset): await engine.committed(handle.id, offset: offset)
            case .head(_, .restart, _):
                part?.truncate()
                await engine.proceed(handle.id)
            case .finished(let ended): outcome = ended
            case .redirected, .head, .judged, .informational, .response: break
            }
        }
        guard let outcome else { throw TimedOut("the events ended without an outcome") }
        return Record(events: events, outcome: outcome)
    }

    /// Tries again, keeping bytes, until it is complete or has failed for good; nil after `limit` attempts.
    func download(_ template: Attempt, to part: PartFile, limit: Int = 60) async throws -> Record? {
        var kept = template.resumeData
        for _ in 0..<limit {
            var attempt = template
            attempt.resumeData = kept
            let record = try await run(attempt, part: part)
            kept = record.outcome.resumeData
            kept.segments = [Segment(start: 0, committed: record.outcome.offset)]
            switch record.outcome.result {
            case .complete, .notModified, .stopped: return record
            case .restartWithHTTP1: break
            case .startOver:
                kept = ResumeData()
                part.truncate()
            case .failed(let error):
                if !error.isRetriable { return record }
            }
        }
        return nil
    }
}

extension Attempt {
    /// A GET of the whole over the ordinary session.
    static func get(
        _ url: String, into part: PartFile, _ change: (inout Attempt) -> Void = { _ in }
    ) throws -> Attempt {
        try get(url, sink: .file(descriptor: part.descriptor), change)
    }

    static func get(
        _ url: String, sink: BodySink = .memory(limit: 1 << 20), _ change: (inout Attempt) -> Void = { _ in }
    ) throws -> Attempt {
        var request = TransferRequest(url: try CurlURL.parse(url).url)
        request.timeouts.connect *= Double(Patience.factor)
        request.timeouts.idle *= Double(Patience.factor)
        var attempt = Attempt(request: request, sink: sink) { _ in SessionSpec() }
        change(&attempt)
        return attempt
    }

    /// As if an earlier attempt had left the first bytes of this version.
    func keeping(_ version: SourceVersion, _ count: Int64) -> Attempt {
        var attempt = self
        attempt.resumeData = ResumeData(
            validators: Validators(
                etag: version.etag, lastModified: version.lastModified,
                date: version.date ?? "Sat, 01 Jan 2050 00:00:00 GMT"),
            totalLength: version.length, segments: [Segment(start: 0, committed: count)])
        return attempt
    }
}

extension Attempt {
    /// A request whose answer is taken whatever it is, over the ordinary session.
    static func exchange(
        _ method: HTTPMethod, _ url: String, _ content: AttemptContent? = nil,
        sink: BodySink = .memory(limit: 1 << 20), _ change: (inout Attempt) -> Void = { _ in }
    ) throws -> Attempt {
        let request = TransferRequest(url: try CurlURL.parse(url).url, method: method)
        var attempt = Attempt(request: request, sink: sink, mode: .exchange, content: content) { _ in SessionSpec() }
        change(&attempt)
        return attempt
    }
}

extension ResolvedCredential {
    static func basic(_ user: String, _ password: String, for url: HTTPURL) -> ResolvedCredential {
        ResolvedCredential(scheme: .basic, user: user, secret: password, origins: [url.origin])
    }
}
