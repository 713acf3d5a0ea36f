import Logging
import NIOConcurrencyHelpers
import XferModel
import XferSystem

/// The reason why a request was refused before it was carried out.
public enum GatewayRefusal: String, Sendable, CaseIterable {
    case missingToken = "missing_token"
    case wrongToken = "wrong_token"
    /// The configuration no longer admits the token's user.
    case user
    case scope
    case host
    case origin
    case tooManyClients = "too_many_clients"

    init(_ refusal: BrowserRules.Refusal) {
        switch refusal {
        case .host: self = .host
        case .origin: self = .origin
        }
    }
}

/// Counts refusals, and logs them at a limited rate: clients must not be able to fill the journal.
final class RefusalRecorder: Sendable {
    private let logger: Logger
    private let count: @Sendable (GatewayRefusal) -> Void
    private let pending: NIOLockedValueBox<RefusalSummary>

    init(logger: Logger, count: @escaping @Sendable (GatewayRefusal) -> Void) {
        self.logger = logger
        self.count = count
        pending = NIOLockedValueBox(RefusalSummary())
    }

    func record(_ refusal: GatewayRefusal) {
        count(refusal)
        let now = Clocks.monotonic()
        guard let counts = pending.withLockedValue({ $0.add(refusal, at: now) }) else { return }
        let text = counts.sorted { $0.key.rawValue < $1.key.rawValue }.map { "\($0.key.rawValue)=\($0.value)" }
        logger.warning("requests over the network were refused", metadata: ["why": "\(text.joined(separator: " "))"])
    }
}

/// Collects refusals for the next line of the log. A pure decision.
struct RefusalSummary: Sendable {
    /// The shortest time between two lines.
    static let interval = Duration.seconds(60)

    private var counts: [GatewayRefusal: Int] = [:]
    private var lastLine: MonotonicInstant?

    /// Adds a refusal; returns the counts since the last line if a line is due.
    mutating func add(_ refusal: GatewayRefusal, at now: MonotonicInstant) -> [GatewayRefusal: Int]? {
        counts[refusal, default: 0] += 1
        if let lastLine, lastLine.duration(to: now) < Self.interval { return nil }
        lastLine = now
        defer { counts = [:] }
        return counts
    }
}
