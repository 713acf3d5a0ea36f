import XferModel
import XferTestSupport

@testable import XferCore

/// A download in segments over a simulated line with a queue, on a clock of its own.
///
/// A connection is TCP's: a new one needs two round trips until its first byte, begins slowly, and grows as CUBIC
/// (RFC 9438) does. A lost packet is noticed a round trip later. One that got all of its response is used again. All
/// connections share the line, and its queue, in proportion to what each has under way.
struct LineWorld: CustomStringConvertible {
    /// Bytes per second.
    var line = 10e6
    /// The most bytes per second that the server sends over one connection.
    var connection = Double.infinity
    /// The most bytes that one connection has under way: the smaller one of the receiver's and the sender's buffer.
    var buffer = Double.infinity
    /// Seconds.
    var roundTrip = 0.1
    /// Seconds of traffic that the line's queue holds.
    var queue = 0.1
    /// The share of packets that are lost without a full queue.
    var loss = 0.0
    /// True if the sender ends its slow start when the queue grows (RFC 9406); false if only a loss ends it.
    var isHyStart = true
    var total: Int64 = 200_000_000
    /// Seconds between two measurements.
    var interval = 0.25

    private static let packet = 1460.0
    private var random: SplitMix64
    private var time = 0.0
    private var plan = SegmentPlan(total: 0, count: .one)
    private var live: [Int: Request] = [:]
    /// Kept connections without a request, and the time at which each became idle.
    private var idle: [(sender: Sender, since: Double)] = []
    private(set) var mostConnections = 0
    private(set) var requests = 1
    /// The wanted numbers of connections, one after the other, and the time of each.
    private(set) var numbers: [(connections: Int, time: Double)] = []

    private struct Request {
        var offset: Double
        var goal: Int64
        /// The end of the response.
        let reach: Int64
        let beginsAt: Double
        var sender: Sender
    }

    init(seed: UInt64) { random = SplitMix64(seed: seed) }

    var description: String {
        "line \(line), connection \(connection), buffer \(buffer), \(roundTrip) s, loss \(loss), HyStart \(isHyStart), "
            + "\(total): \(time) s, \(numbers), \(requests) requests"
    }

    /// The seconds that the download takes.
    mutating func run(_ count: SegmentCount) -> Double {
        plan = SegmentPlan(total: total, count: count)
        plan.begin(0)
        plan.onRoundTrip(.nanoseconds(Int64(roundTrip * 1e9)))
        live[0] = Request(offset: 0, goal: total, reach: total, beginsAt: 2 * roundTrip, sender: Sender())
        numbers = [(plan.wantedConnections, 0)]
        var measured = 0.0
        while !plan.isWritten, time < 10_000 {
            time += tick
            receive()
            if time - measured >= interval {
                measured = time
                if plan.measure(MonotonicInstant(nanoseconds: Int64(saturating: time * 1e9))) {
                    numbers.append((plan.wantedConnections, time))
                }
                for id in plan.surplus { end(id) }
            }
            fill()
            mostConnections = max(mostConnections, live.count)
        }
        return time
    }

    /// Seconds that are simulated at once.
    private var tick: Double { min(0.02, max(0.005, roundTrip / 4)) }

    private mutating func receive() {
        let ready = live.keys.sorted().filter { (live[$0]?.beginsAt ?? 0) <= time }
        let underway = ready.map { live[$0]?.sender.underway(buffer, connection * roundTrip) ?? 0 }
        let all = underway.reduce(0, +)
        let waiting = max(0, all - line * roundTrip)
        let now = roundTrip + min(waiting / line, queue)
        let dropped = max(0, waiting - line * queue) / Self.packet
        for (id, own) in zip(ready, underway) {
            guard var request = live[id] else { continue }
            let rate = min(own / now, line * own / max(1, all))
            request.offset = min(Double(request.goal), request.offset + rate * tick)
            let lost = dropped * own / max(1, all) + loss * rate * tick / Self.packet
            let isLost = Double.random(in: 0..<1, using: &random) < lost
            request.sender.advance(
                tick, at: time, roundTrip: now, isLost: isLost, most: min(buffer, connection * roundTrip),
                isHyStart: isHyStart, isQueueing: now - roundTrip > min(0.016, max(0.004, roundTrip / 8)))
            live[id] = request
            if request.offset > 0 { plan.onAnswer(id) }
            plan.onWritten(id, to: Int64(request.offset))
            if request.offset >= Double(request.goal) {
                if request.goal == request.reach { idle.append((request.sender, time)) }
                end(id)
            }
        }
    }

    private mutating func end(_ id: Int) {
        guard let request = live.removeValue(forKey: id) else { return }
        plan.onEnd(id, at: Int64(request.offset))
    }

    private mutating func fill() {
        while live.count < plan.wantedConnections {
            let id = (0...live.count).first { live[$0] == nil } ?? live.count
            switch plan.next(for: id, idle: max(1, plan.wantedConnections - live.count)) {
            case .fetch(let segment):
                requests += 1
                let kept = idle.popLast()
                var sender = kept?.sender ?? Sender()
                if let kept, time - kept.since > roundTrip + 0.2 { sender.restart() }
                let end = segment.end ?? total
                live[id] = Request(
                    offset: Double(segment.committed), goal: end, reach: end,
                    beginsAt: time + roundTrip * (kept == nil ? 2 : 1), sender: sender)
            case .split(let other, let offset, let parts):
                let isAgreed = live[other].map { Double(offset) > $0.offset } ?? false
                if isAgreed { live[other]?.goal = offset }
                plan.onSplit(other, at: offset, parts: parts, isAgreed: isAgreed)
            case nil:
                return
            }
        }
    }

    /// The congestion control of a connection's sender; numbers are packets and seconds.
    private struct Sender {
        private var window = 10.0
        private var isSlowStart = true
        /// The window at the latest loss, and the time at which it was reduced.
        private var before = 0.0
        private var since = 0.0
        /// The time at which a loss is noticed; nil if none is under way.
        private var noticesAt: Double?

        /// Bytes under way with these limits.
        func underway(_ limits: Double...) -> Double { min(window * LineWorld.packet, limits.min() ?? .infinity) }

        /// The connection was idle for longer than the timeout of a retransmission.
        mutating func restart() {
            before = max(before, window)
            window = 10
            isSlowStart = true
        }

        mutating func advance(
            _ tick: Double, at time: Double, roundTrip: Double, isLost: Bool, most: Double, isHyStart: Bool,
            isQueueing: Bool
        ) {
            if let due = noticesAt, time >= due {
                noticesAt = nil
                (before, since) = (window, time)
                window = max(2, window * 0.7)
                isSlowStart = false
                return
            }
            if isLost, noticesAt == nil { noticesAt = time + roundTrip }
            // The window grows only while it is the obstacle.
            guard window * LineWorld.packet < 2 * most else { return }
            if isSlowStart {
                if isHyStart, isQueueing, window > 16 {
                    isSlowStart = false
                    (before, since) = (window, time)
                } else {
                    window *= 1 + min(1, tick / roundTrip)
                }
                return
            }
            let (elapsed, reno) = (time - since, window + 0.53 * tick / roundTrip)
            let most = before * 1.5 + 1000
            let origin = (max(0, before - before * 0.7) / 0.4).cubeRoot
            let offset = elapsed + tick - origin
            window = max(
                reno, min(most, 0.4 * offset * offset * offset + before, window * (1 + 0.5 * tick / roundTrip)))
        }
    }
}

extension Double {
    /// The cube root of a number that is not negative, by Newton's method.
    fileprivate var cubeRoot: Double {
        guard self > 0 else { return 0 }
        var root = Swift.max(1, self / 3)
        for _ in 0..<60 { root -= (root * root * root - self) / (3 * root * root) }
        return root
    }
}
