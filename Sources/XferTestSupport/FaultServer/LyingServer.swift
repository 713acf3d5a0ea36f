import NIOConcurrencyHelpers
import XferModel

/// A server that gives wrong answers at random, from a seed, for the most important property: regardless of the server,
/// a published file equals one version of the source from first to last byte, or the task is not completed.
///
/// It changes its version, ignores ranges and conditions, breaks off, and mixes up heads. After `truthfulAfter`
/// requests it is honest, so that a patient client finishes. It makes only errors that a client can detect without a
/// digest. It never sends bytes of another version under the right head, one strong tag for two versions, a wrong
/// length of a version with its tag, or a cut-off body without an announced length. It either honours `If-Range` or
/// ignores it until it is honest, and then it always supports ranges.
public final class LyingServer: Sendable, CustomStringConvertible {
    private struct State {
        var random: SplitMix64
        var current = 0
        var log: [String] = []
    }

    public let seed: UInt64
    /// Every version it may offer, in the order it does.
    public let versions: [SourceVersion]
    private let truthfulAfter: Int
    private let honoursIfRange: Bool
    private let state: NIOLockedValueBox<State>

    /// Sources of up to `maxLength` bytes.
    public init(seed: UInt64, maxLength: Int64 = 300_000, truthfulAfter: Int = 25) {
        self.seed = seed
        self.truthfulAfter = truthfulAfter
        var random = SplitMix64(seed: seed)
        let length = Int64.random(in: 1...maxLength, using: &random)
        let validators = ValidatorStyle.allCases.randomElement(using: &random) ?? .none
        let keepsLength = random.chance(0.5)
        honoursIfRange = random.chance(0.7)
        versions = (0..<3).map { number in
            let other = keepsLength || number == 0 ? length : Int64.random(in: 1...maxLength, using: &random)
            return validators.version(seed: seed &* 3 &+ UInt64(number), length: other, number: number)
        }
        state = NIOLockedValueBox(State(random: random))
    }

    /// The seed and, line by line, the faults of each request.
    public var description: String {
        (["seed \(seed)"] + state.withLockedValue(\.log)).joined(separator: "\n  ")
    }

    /// True if these bytes may be published: one version, or a version under a content coding.
    public func isOneVersion(_ bytes: [UInt8]) -> Bool {
        versions.contains { $0.bytes == bytes || Gzip.stored($0.bytes) == bytes }
    }

    public func reply(to request: RecordedRequest) -> Reply {
        state.withLockedValue { state in
            let isTruthful = state.log.count >= truthfulAfter
            if !isTruthful && state.random.chance(0.15) { state.current = min(state.current + 1, versions.count - 1) }
            let version = versions[state.current]
            let faults = isTruthful ? [] : self.faults(for: version, request, &state.random)
            let ignoresIfRange = !isTruthful && !honoursIfRange
            var reply = version.honestReply(to: ignoresIfRange ? request.ignoring("If-Range") : request)
            for fault in faults { fault.apply(to: &reply, Fault.Context(request: request, source: version)) }
            state.log.append(
                "\(request.header("Range") ?? "whole") of version \(state.current): \(faults) → \(reply.status)")
            return reply
        }
    }

    private func faults(
        for version: SourceVersion, _ request: RecordedRequest, _ random: inout SplitMix64
    ) -> [Fault] {
        let asked = request.range?.resolved(in: version.length) ?? 0..<version.length
        if random.chance(0.1) { return [Self.alone(asked, &random)] }
        var faults: [Fault] = []
        if random.chance(0.5) { faults.append(aboutRanges(asked, version, &random)) }
        if random.chance(0.3) { faults.append(Self.aboutVersions(&random)) }
        if random.chance(0.7) { faults.append(Self.breakingOff(asked, &random)) }
        return faults
    }

    /// Lies that would hide each other, or be undetectable together with a cut.
    private static func alone(_ asked: Range<Int64>, _ random: inout SplitMix64) -> Fault {
        let choices: [Fault] = [
            .untilClose, .garbageHead, .gzip, .status(503), .status(500), .status(404), .noAnswer(.close),
            .noAnswer(.reset), .digests(truthful: true), .digests(truthful: false),
        ]
        return choices[Int.random(in: choices.indices, using: &random)]
    }

    private func aboutRanges(
        _ asked: Range<Int64>, _ version: SourceVersion, _ random: inout SplitMix64
    ) -> Fault {
        let shift = Int64.random(in: 1...5000, using: &random)
        let choices: [Fault] = [
            honoursIfRange ? .ignoreRange : .shortRange(shift), honoursIfRange ? .refuseIfRange : .multipart,
            .contentRange(nil), .contentRange("bytes"),
            .contentRange("octets \(asked.lowerBound)-\(asked.upperBound - 1)/\(version.length)"),
            .contentRange("bytes \(asked.upperBound)-\(asked.lowerBound)/\(version.length)"),
            .contentRangeTotal(nil), .contentRangeTotal(version.length + shift), .startShifted(by: shift),
            .startShifted(by: -shift), .shortRange(shift), .multipart, .unaskedRange, .unsatisfiable(nil),
            Self.end(at: asked.lowerBound), .unsatisfiable("bytes */\(version.length)"),
        ]
        return choices[Int.random(in: choices.indices, using: &random)]
    }

    /// A 416 that claims that the resource, of no version, ends before the requested range.
    private static func end(at offset: Int64) -> Fault {
        Fault("416 bytes */\(offset) without a tag") { reply, context in
            Fault.unsatisfiable("bytes */\(offset)").apply(to: &reply, context)
            reply.setHeader("ETag", nil)
        }
    }

    private static func aboutVersions(_ random: inout SplitMix64) -> Fault {
        let choices: [Fault] = [.weakETag, .header("ETag", nil), .chunked, .contentLength(off: 1000)]
        return choices[Int.random(in: choices.indices, using: &random)]
    }

    private static func breakingOff(_ asked: Range<Int64>, _ random: inout SplitMix64) -> Fault {
        let count = Int64.random(in: 0...max(1, Int64(asked.count)), using: &random)
        return .drop(after: count, by: random.chance(0.5) ? .reset : .close)
    }
}

/// The kind of validators of a lying server's versions.
private enum ValidatorStyle: CaseIterable {
    case strongTag, strongTagAndDate, strongDate, weakDate, weakTag, none

    func version(seed: UInt64, length: Int64, number: Int) -> SourceVersion {
        let modified = 1_700_000_000 + number * 3600
        let strong = "\"s\(seed)\""
        return switch self {
        case .strongTag: SourceVersion(seed: seed, length: length, etag: strong)
        case .strongTagAndDate:
            SourceVersion(seed: seed, length: length, etag: strong, lastModified: HTTPDate.text(modified))
        case .strongDate: SourceVersion(seed: seed, length: length, lastModified: HTTPDate.text(modified))
        case .weakDate:
            SourceVersion(
                seed: seed, length: length, lastModified: HTTPDate.text(modified), date: HTTPDate.text(modified))
        case .weakTag: SourceVersion(seed: seed, length: length, etag: "W/\(strong)")
        case .none: SourceVersion(seed: seed, length: length)
        }
    }
}

extension FaultServer {
    /// Offers the lying server under a path.
    public func serve(_ path: String, _ liar: LyingServer) { on(path) { liar.reply(to: $0) } }
}
