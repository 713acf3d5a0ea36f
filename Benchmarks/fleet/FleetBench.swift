import Glibc
import XferCore
import XferFleet
import XferModel

/// Agents without engines: they claim and end at once. Prints one figure a line, `name value`.
///
/// `fleet-bench CONNECTION AGENTS SECONDS FILL HOLD`: each rate is measured for SECONDS, with FILL tasks queued at the
/// end, while another session holds a snapshot for HOLD seconds.
@main struct FleetBench {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 6, let agents = Int(arguments[2]), let seconds = Int(arguments[3]),
            let fill = Int(arguments[4]), let hold = Int(arguments[5])
        else {
            print("fleet-bench CONNECTION AGENTS SECONDS FILL HOLD")
            exit(2)
        }
        let settings = PostgresSettings(connection: arguments[1], statementTimeout: .seconds(3600))
        try await FleetDatabase.migrate(settings)
        let bench = try await Self(settings: settings, agents: agents, duration: .seconds(seconds))
        try await bench.run(fill: fill, hold: .seconds(hold))
    }

    private let settings: PostgresSettings
    private let fleets: [FleetDatabase]
    private let nodes: [FleetRegistration]
    private let duration: Duration

    private init(settings: PostgresSettings, agents: Int, duration: Duration) async throws {
        self.settings = settings
        self.duration = duration
        var fleets: [FleetDatabase] = []
        var nodes: [FleetRegistration] = []
        for number in 0..<max(1, agents) {
            let fleet = try await FleetDatabase.open(settings).0
            nodes.append(
                try await fleet.nodes.register(
                    FleetNodeDescription(name: "bench\(number)", slots: 64, storeID: "\(number)", version: "bench")))
            fleets.append(fleet)
        }
        (self.fleets, self.nodes) = (fleets, nodes)
    }

    private func run(fill: Int, hold: Duration) async throws {
        show("adds singly", try await rate { fleet, _ in try await fleet.tasks.add([Self.task(0)]).count })
        show(
            "adds by 1,000",
            try await rate { fleet, _ in
                try await fleet.tasks.add((0..<1000).map { Self.task($0) }).count
            })
        try await drain()

        try await top(to: 200_000)
        show("claims and ends by 64", try await rate { try await Self.cycle($0, $1, 64) })
        try await drain()

        for _ in 0..<100 { _ = try await fleets[0].tasks.add((0..<1000).map { _ in Self.task(0) }) }
        try await fleets[0].limits.setHost("h0.example", maxActive: 1000)
        show("claims and ends by 32, one limited host", try await rate { try await Self.cycle($0, $1, 32) })
        try await fleets[0].limits.setHost("h0.example", maxActive: nil)
        try await drain()

        let begin = ContinuousClock.now
        try await top(to: fill)
        show("adds while filling", Double(fill) / begin.duration(to: .now).seconds)
        show("claims and ends by 64, all queued", try await rate { try await Self.cycle($0, $1, 64) })

        let holder = try PostgresConnection(settings, name: "snapshot")
        async let sleeping: Void = Self.hold(holder, seconds: Int(hold.components.seconds))
        let end = ContinuousClock.now + hold
        // Each part leaves dead rows that nobody may remove, so the last one is the slowest.
        while ContinuousClock.now + duration < end {
            show("with a snapshot held", try await rate { try await Self.cycle($0, $1, 64) })
        }
        try await sleeping
        show("wrong", Double(try await fleets[0].invariants().count))
    }

    private static func hold(_ connection: PostgresConnection, seconds: Int) async throws {
        try await connection.transaction { (transaction) throws(PostgresError) in
            _ = try transaction.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            _ = try transaction.execute("SELECT count(*) FROM fleet_meta")
            _ = try transaction.execute("SELECT pg_sleep($1::integer)", [String(seconds)])
        }
    }

    /// Claims `want` tasks and ends them; gives how many.
    private static func cycle(_ fleet: FleetDatabase, _ node: FleetRegistration, _ want: Int) async throws -> Int {
        var cursor = FleetClaimCursor(after: Int64.random(in: 0..<64))
        let claims = try await fleet.leases.claim(node, want: want, cursor: &cursor)
        var report = FleetReport()
        report.ends = claims.map { FleetEnd(claimKey: $0.claimKey, ending: .completed, detail: #"{"bytes":4096}"#) }
        _ = try await fleet.leases.report(node, report)
        return claims.count
    }

    private static func task(_ number: Int) -> FleetNewTask {
        let host = "h\(number % 32).example"
        return FleetNewTask(
            owner: "bench", fingerprint: "f", host: host,
            spec: #"{"url":"https://\#(host)/some/path/of/a/file/\#(number).bin","output":"file-\#(number).bin"}"#)
    }

    private func top(to count: Int) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, fleet) in fleets.enumerated() {
                group.addTask {
                    for first in stride(from: number * 1000, to: count, by: fleets.count * 1000) {
                        _ = try await fleet.tasks.add((first..<min(first + 1000, count)).map { Self.task($0) })
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    /// Ends all there is, so that the next figure begins with an empty queue.
    private func drain() async throws {
        while try await Self.cycle(fleets[0], nodes[0], 200) > 0 {}
        while try await fleets[0].events.trim(keepEvents: 1, history: .zero) {}
    }

    /// What all agents do together in a second.
    private func rate(_ body: @escaping @Sendable (FleetDatabase, FleetRegistration) async throws -> Int) async throws
        -> Double
    {
        let begin = ContinuousClock.now
        let end = begin + duration
        let count = try await withThrowingTaskGroup(of: Int.self) { group in
            for (fleet, node) in zip(fleets, nodes) {
                group.addTask {
                    var count = 0
                    while ContinuousClock.now < end { count += try await body(fleet, node) }
                    return count
                }
            }
            return try await group.reduce(0, +)
        }
        return Double(count) / begin.duration(to: .now).seconds
    }

    private func show(_ name: String, _ value: Double) {
        print("\(name)\t\(Int(value))")
        fflush(nil)
    }
}

extension Duration {
    fileprivate var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
