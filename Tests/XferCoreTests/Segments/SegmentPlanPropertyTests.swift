import Testing
import XferModel
import XferTestSupport

@testable import XferCore

/// Whatever servers and crashes do: every byte is fetched, each once, but for those a crash took.
@Suite struct SegmentPlanPropertyTests {
    @Test(arguments: 0..<8) func everyByteIsFetchedOnceAndCommittedOnce(_ block: UInt64) throws {
        for seed in block * 250..<(block + 1) * 250 {
            var world = World(seed: seed, crashes: false)
            try world.run()
            #expect(world.isWhole, "seed \(seed): \(world.summary)")
            #expect(world.maxFetched == 1, "seed \(seed): \(world.summary)")
        }
    }

    @Test(arguments: 0..<8) func noDurableByteIsFetchedAgainAfterACrash(_ block: UInt64) throws {
        for seed in block * 250..<(block + 1) * 250 {
            var world = World(seed: seed, crashes: true)
            try world.run()
            #expect(world.isWhole, "seed \(seed): \(world.summary)")
            #expect(world.refetchedDurable == 0, "seed \(seed): \(world.summary)")
        }
    }
}

/// A download over servers that stall, break off, refuse and answer late, at random.
private struct World {
    private var random: SplitMix64
    private let total: Int64
    private var plan: SegmentPlan
    private var connections: [Int: Request] = [:]
    /// How often each byte was fetched.
    private var fetched: [UInt8]
    /// Whether it was durable once.
    private var durable: [Bool]
    private(set) var refetchedDurable = 0
    private let crashes: Bool
    private let smallest: Int64
    private let alignment: Int64
    private let count: SegmentCount
    private var saved: [Segment] = []
    private var now = MonotonicInstant(nanoseconds: 0)
    private var steps = 0

    private struct Request {
        var offset: Int64
        var end: Int64
        /// Where the response ends.
        let reach: Int64
        let speed: Int64
    }

    init(seed: UInt64, crashes: Bool) {
        random = SplitMix64(seed: seed)
        self.crashes = crashes
        total = Int64.random(in: 1...3000, using: &random)
        alignment = [1, 16, 64].randomElement(using: &random) ?? 1
        smallest = Int64.random(in: 1...300, using: &random)
        count = random.chance(0.2) ? .automatic : .exactly(Int.random(in: 1...16, using: &random))
        fetched = Array(repeating: 0, count: Int(total))
        durable = Array(repeating: false, count: Int(total))
        plan = SegmentPlan(
            total: total, kept: [], count: count, smallest: smallest, alignment: alignment)
        startWhole()
    }

    var isWhole: Bool { plan.isWritten && fetched.allSatisfy { $0 > 0 } && plan.committedByteCount == total }
    var maxFetched: UInt8 { fetched.max() ?? 0 }
    var summary: String { "\(total) bytes, \(steps) steps, \(plan)" }

    private mutating func startWhole() {
        plan.begin(0)
        connections[0] = Request(offset: 0, end: total, reach: total, speed: Int64.random(in: 1...60, using: &random))
    }

    mutating func run() throws {
        while !plan.isWritten {
            steps += 1
            try #require(steps < 60_000, "it ends: \(summary)")
            now = now.advanced(by: .milliseconds(Int64.random(in: 1...400, using: &random)))
            step()
            check()
        }
        for connection in connections.keys.sorted() { end(connection) }
        save()
        check()
    }

    private mutating func step() {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<4: save()
        case 4 where crashes: crash()
        case 5..<8: breakOff()
        case 8 where random.chance(0.2):
            plan.limit(to: max(1, connections.count))
        case 9: widen()
        default: transfer()
        }
        let isChanged = plan.measure(now)
        for connection in plan.surplus { end(connection) }
        if isChanged || random.chance(0.7) || connections.isEmpty { fill() }
    }

    private mutating func transfer() {
        for connection in connections.keys.sorted() where random.chance(0.6) {
            guard var request = connections[connection] else { continue }
            let end = min(request.end, request.offset + request.speed)
            for byte in Int(request.offset)..<Int(max(request.offset, end)) {
                fetched[byte] = min(fetched[byte], 254) + 1
                if durable[byte] { refetchedDurable += 1 }
            }
            request.offset = max(request.offset, end)
            connections[connection] = request
            if request.reach < total { plan.onAnswer(connection) }
            if random.chance(0.5) { plan.onWritten(connection, to: request.offset) }
            if request.offset >= request.end { self.end(connection) }
        }
    }

    private mutating func end(_ connection: Int) {
        guard let request = connections.removeValue(forKey: connection) else { return }
        plan.onEnd(connection, at: request.offset)
    }

    private mutating func breakOff() {
        guard let connection = connections.keys.sorted().randomElement(using: &random) else { return }
        end(connection)
        if random.chance(0.3) { plan.limit(to: max(1, connections.count)) }
    }

    private mutating func fill() {
        while connections.count < plan.wantedConnections {
            let connection = (0..<16).first { connections[$0] == nil } ?? 16
            switch plan.next(for: connection, idle: plan.wantedConnections - connections.count) {
            case .fetch(let segment):
                let end = segment.end ?? total
                connections[connection] = Request(
                    offset: segment.committed, end: end, reach: end, speed: Int64.random(in: 1...60, using: &random))
            case .split(let victim, let offset, let parts):
                // It may have gone past meanwhile.
                let isAgreed = connections[victim].map { $0.offset <= offset } == true && random.chance(0.9)
                if isAgreed { connections[victim]?.end = offset }
                plan.onSplit(victim, at: offset, parts: parts, isAgreed: isAgreed)
            case nil:
                return
            }
        }
    }

    private mutating func widen() {
        guard connections.count >= plan.wantedConnections, let (connection, end) = plan.widening() else { return }
        let isAgreed = connections[connection].map { $0.reach >= end && $0.offset < $0.end } == true
        if isAgreed { connections[connection]?.end = end }
        plan.onExtend(connection, to: end, isAgreed: isAgreed)
    }

    private mutating func save() {
        for (connection, request) in connections { plan.onWritten(connection, to: request.offset) }
        let segments = plan.writtenSegments
        // Bytes may come while it is made durable.
        if random.chance(0.5) { transfer() }
        saved = segments
        for segment in segments {
            for byte in Int(segment.start)..<Int(segment.committed) { durable[byte] = true }
        }
        plan.onDurable(segments)
    }

    private mutating func crash() {
        connections = [:]
        plan = SegmentPlan(
            total: total, kept: saved, count: count, smallest: smallest, alignment: alignment)
        for byte in fetched.indices where !durable[byte] { fetched[byte] = 0 }
    }

    /// What always holds.
    private func check() {
        var covered: Int64 = 0
        var owners: Set<Int> = []
        for piece in plan.pieces {
            #expect(piece.start == covered && piece.end > piece.start)
            #expect(piece.start <= piece.committed && piece.committed <= piece.written && piece.written <= piece.end)
            if let connection = piece.connection {
                #expect(owners.insert(connection).inserted)
                #expect(connections[connection]?.end == piece.end)
            }
            covered = piece.end
        }
        #expect(covered == total)
        #expect(owners == Set(connections.keys))
        for segment in saved {
            #expect(segment.start < segment.committed && segment.committed <= segment.end ?? total)
        }
    }
}
