import XferModel
import XferTestSupport

@testable import XferCore

/// A download in segments over a simulated line, on a clock of its own. A new connection needs two round trips until
/// its first byte and begins slowly; one that got all of its response is used again. If connections want more than the
/// line's rate, they share it in proportion.
struct LineWorld: CustomStringConvertible {
    /// Bytes per second.
    var line = 10e6
    /// The most bytes per second of one connection.
    var connection = Double.infinity
    /// Seconds.
    var roundTrip = 0.1
    /// The share of packets that are lost; each loss halves its connection's rate.
    var loss = 0.0
    var total: Int64 = 200_000_000

    private static let tick = 0.05
    private static let packet = 1460.0
    private var random: SplitMix64
    private var time = 0.0
    private var plan = SegmentPlan(total: 0, count: .one)
    private var live: [Int: Request] = [:]
    /// The rates of kept connections without a request.
    private var idle: [Double] = []
    private(set) var mostConnections = 0
    private(set) var requests = 1

    private struct Request {
        var offset: Int64
        var goal: Int64
        /// The end of the response.
        let reach: Int64
        let beginsAt: Double
        /// Bytes per second that the connection would have on an empty line.
        var rate: Double
        var isFirst = false
    }

    init(seed: UInt64) { random = SplitMix64(seed: seed) }

    var description: String {
        "line \(line), connection \(connection), \(roundTrip) s, loss \(loss), \(total): "
            + "\(time) s, \(mostConnections) connections, \(requests) requests"
    }

    /// The seconds that the download takes.
    mutating func run(_ count: SegmentCount) -> Double {
        plan = SegmentPlan(total: total, count: count)
        plan.begin(0)
        live[0] = Request(
            offset: 0, goal: total, reach: total, beginsAt: 2 * roundTrip, rate: slowest, isFirst: true)
        var ticks = 0
        while !plan.isWritten, time < 10_000 {
            time += Self.tick
            receive()
            ticks += 1
            if ticks.isMultiple(of: 5) {
                _ = plan.measure(MonotonicInstant(nanoseconds: Int64(saturating: time * 1e9)))
                for id in plan.surplus { end(id) }
            }
            fill()
            mostConnections = max(mostConnections, live.count)
        }
        return time
    }

    private var slowest: Double { 10 * Self.packet / roundTrip }

    private mutating func receive() {
        let ready = live.keys.sorted().filter { (live[$0]?.beginsAt ?? 0) <= time }
        let wanted = ready.reduce(0) { $0 + (live[$1]?.rate ?? 0) }
        let share = min(1, line / max(1, wanted))
        for id in ready {
            guard var request = live[id] else { continue }
            let rate = request.rate * share
            request.offset = min(request.goal, request.offset + Int64(rate * Self.tick))
            let isLost = Double.random(in: 0..<1, using: &random) < loss * rate * Self.tick / Self.packet
            if isLost {
                request.rate = max(slowest, request.rate / 2)
            } else if share < 1 {
                // The queue is full: the rates that they get approach each other.
                let even = line / Double(ready.count)
                request.rate = max(slowest, rate + (even - rate) * min(1, Self.tick / (20 * roundTrip)))
            } else if loss > 0 {
                // A packet more in each round trip.
                request.rate += Self.packet / roundTrip * Self.tick / roundTrip
            }
            if share == 1, loss == 0 { request.rate *= 1 + Self.tick / roundTrip }
            request.rate = min(request.rate, connection)
            live[id] = request
            if request.isFirst { plan.onAnswer(id) }
            plan.onWritten(id, to: request.offset)
            if request.offset >= request.goal {
                if request.goal == request.reach { idle.append(request.rate) }
                end(id)
            }
        }
    }

    private mutating func end(_ id: Int) {
        guard let request = live.removeValue(forKey: id) else { return }
        plan.onEnd(id, at: request.offset)
    }

    private mutating func fill() {
        while live.count < plan.wantedConnections {
            let id = (0...live.count).first { live[$0] == nil } ?? live.count
            switch plan.next(for: id, idle: max(1, plan.wantedConnections - live.count)) {
            case .fetch(let segment):
                let kept = idle.popLast()
                requests += 1
                let end = segment.end ?? total
                live[id] = Request(
                    offset: segment.committed, goal: end, reach: end,
                    beginsAt: time + roundTrip * (kept == nil ? 2 : 1), rate: kept ?? slowest, isFirst: true)
            case .split(let other, let offset, let parts):
                let isAgreed = live[other].map { offset > $0.offset } ?? false
                if isAgreed { live[other]?.goal = offset }
                plan.onSplit(other, at: offset, parts: parts, isAgreed: isAgreed)
            case nil:
                return
            }
        }
    }
}
