import XferModel
import XferTestSupport

@testable import XferCore

/// A simulated origin with a line to it, on a clock of its own: requests take a round trip and a share of the origin's
/// capacity, and may be refused or lost.
struct OriginWorld {
    /// Seconds.
    var roundTrip = 0.1
    /// Most answers per second.
    var capacity = Double.infinity
    /// Requests that it serves at once; more are refused at once.
    var limit = Int.max
    var http = OriginWindow.HTTP.http1
    /// The share of requests that take five round trips, as after a lost packet.
    var loss = 0.0
    /// Streams of a connection; a further request opens another one.
    var streams = Int.max
    /// If it serves more at once, its answers take five times as long.
    var comfort = Int.max
    /// Whether the origin says how long to wait.
    var requestsWait = false
    /// The bytes of each answer; none is an error's.
    var bytes: Int64 = 20_000

    private var random: SplitMix64
    private(set) var window: OriginWindow
    private(set) var time = 0.0
    private(set) var answered = 0
    private(set) var refused = 0
    /// How often the window shrank because the origin refused a request.
    private(set) var overshoots = 0
    /// The most requests that were under way at any instant.
    private(set) var most = 0
    /// When the origin's next answer may leave.
    private var free = 0.0
    private var underWay: [Request] = []

    private struct Request {
        let ticket: OriginWindow.Ticket
        let beganAt: Double
        let endsAt: Double
        let isRefused: Bool
        let connection: UInt16
    }

    init(seed: UInt64, bounds: OriginWindow.Bounds = .polite) {
        random = SplitMix64(seed: seed)
        window = OriginWindow(bounds: bounds, at: Self.instant(0))
    }

    static func instant(_ seconds: Double) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: 1_000_000_000 + Int64(saturating: seconds * 1e9))
    }

    /// The best that any number of requests at once reaches, in answers per second.
    var optimum: Double { min(capacity, Double(min(window.most, limit)) / (roundTrip + 1 / capacity)) }

    /// Requests as many as the window allows, for so long.
    mutating func run(for seconds: Double) {
        let end = time + seconds
        while time < end {
            while !window.isFull { begin() }
            guard let next = underWay.indices.min(by: { underWay[$0].endsAt < underWay[$1].endsAt }) else { return }
            let request = underWay.remove(at: next)
            time = max(time, request.endsAt)
            finish(request)
        }
    }

    private mutating func begin() {
        let served = underWay.count { !$0.isRefused }
        let isRefused = served >= limit
        var endsAt = time + roundTrip * Double.random(in: 0.95...1.05, using: &random)
        if !isRefused {
            if served >= comfort { endsAt += 4 * roundTrip }
            if capacity.isFinite {
                free = max(free, time + roundTrip / 2) + 1 / capacity
                endsAt = max(endsAt, free + roundTrip / 2)
            }
            if Double.random(in: 0..<1, using: &random) < loss { endsAt += 4 * roundTrip }
        }
        // The first connection with a free stream.
        var connection: UInt16 = 1
        while underWay.count(where: { $0.connection == connection }) >= streams { connection += 1 }
        let ticket = window.begin(at: Self.instant(time))
        underWay.append(
            Request(
                ticket: ticket, beganAt: time, endsAt: endsAt, isRefused: isRefused, connection: connection))
        most = max(most, underWay.count)
    }

    private mutating func finish(_ request: Request) {
        let now = Self.instant(time)
        if request.isRefused {
            refused += 1
            let before = window.size
            window.end(request.ticket, .refused(requestsWait: requestsWait), at: now)
            if window.size < before { overshoots += 1 }
        } else {
            answered += 1
            let answer = OriginWindow.Answer(
                http: http, connection: request.connection, isReused: true,
                latency: .nanoseconds(Int64(saturating: (request.endsAt - request.beganAt) * 1e9)), bytes: bytes)
            window.end(request.ticket, .answered(answer), at: now)
        }
    }
}
