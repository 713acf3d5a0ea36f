import StrictJSON
import Testing
import XferTestSupport

@Suite(.serialized, .enabled(if: FleetFixture.isPossible, "needs PostgreSQL"))
struct FleetCrashTests {
    private static let rounds = FleetFixture.isSoak ? 1000 : 8

    /// Each node is a machine of its own to the kernel's network, which reaches the database and the server over a bridge.
    @Test(.enabled(if: NetworkNamespace.isPossible, Comment(rawValue: NetworkNamespace.requirement)))
    func noTaskIsLostOrPublishedTwiceWhenPartsOfThreeNodesAreKilledOrCutOff() async throws {
        let network = try await FleetNetwork()
        let server = try await FaultServer(address: network.address)
        try await withFleet(3, on: network) { fleet in
            var campaign = FleetCampaign(fleet, server, seed: 21, harms: FleetCampaign.Harm.allCases)
            try await campaign.run(rounds: Self.rounds)
        }
    }

    /// Where the system gives no namespaces, all nodes are on its one network, and none is cut off.
    @Test(.enabled(if: !NetworkNamespace.isPossible, "the same is tested with network namespaces"))
    func noTaskIsLostOrPublishedTwiceWhenAgentsDaemonsAndTheDatabaseAreKilled() async throws {
        let server = try await FaultServer()
        try await withFleet(3) { fleet in
            var campaign = FleetCampaign(fleet, server, seed: 20, harms: [.agent, .daemon, .database])
            try await campaign.run(rounds: Self.rounds)
        }
    }
}

/// Parts of a fleet are harmed at random moments while tasks run; each comes back at once, and a network after a while.
struct FleetCampaign {
    enum Harm: CaseIterable {
        /// SIGKILL.
        case agent, daemon, database
        /// The node and the rest are apart.
        case network
    }

    private let fleet: FleetFixture
    private let server: FaultServer
    private let harms: [Harm]
    private var random: SplitMix64
    private var tasks: [Int64: String] = [:]

    init(_ fleet: FleetFixture, _ server: FaultServer, seed: UInt64, harms: [Harm]) {
        (self.fleet, self.server, self.harms) = (fleet, server, harms)
        random = SplitMix64(seed: seed)
    }

    /// Adds tasks and does harm; in the end each task has one end, and its file is there once.
    mutating func run(rounds: Int) async throws {
        server.onAnyOther { _ in Reply(200, text: "some bytes of a file") }
        let begin = ContinuousClock.now
        for round in 0..<rounds {
            try await add(round)
            try await Campaign.elapse(.milliseconds(Int.random(in: 0...150, using: &random)))
            try await harm()
            if FleetFixture.isSoak, round % 50 == 49 {
                print("round \(round + 1) after \(ContinuousClock.now - begin)")
            }
        }
        try await eventually("all tasks end", within: Patience.long) {
            guard let counts = try? await fleet.first.call("queue.stats")["counts"] else { return false }
            return counts["completed"]?.integerValue == Int64(tasks.count)
        }
        // A node that was away for too long is taken over. What it had published and not reported is on two machines.
        #expect(try await fleet.faults(of: tasks, mayRepeat: true) == [])
        if FleetFixture.isSoak { print("\(rounds) rounds, \(tasks.count) tasks") }
    }

    private mutating func add(_ round: Int) async throws {
        let names = (0..<4).map { "r\(round)-\($0)" }
        let specifications = names.map { name -> JSONValue in
            ["url": .string(server.url("/\(name)")), "output": .string(name), "client_key": .string(name)]
        }
        // An answer may be lost with the agent or the database: the key makes it safe to call again.
        var random = random
        let ids = try await eventually("the tasks are added") {
            let node = fleet.nodes[Int.random(in: 0..<fleet.nodes.count, using: &random)]
            let added = try? await node.call("task.add", ["tasks": .array(specifications)])
            return added?["ids"]?.arrayValue?.compactMap(\.integerValue)
        }
        self.random = random
        for (id, name) in zip(ids, names) { tasks[id] = name }
    }

    private mutating func harm() async throws {
        let index = Int.random(in: 0..<fleet.nodes.count, using: &random)
        let node = fleet.nodes[index]
        switch harms[Int.random(in: 0..<harms.count, using: &random)] {
        case .agent:
            await node.killAgent()
            try await node.startAgent()
        case .daemon:
            await node.daemon.kill9()
            try await node.daemon.start()
        case .database:
            await fleet.database.kill9()
            try await fleet.database.start()
        case .network:
            guard let network = fleet.network else { return }
            try await network.cut(index + 1, FleetNetwork.Cut.allCases[Int.random(in: 0..<2, using: &random)])
            // Every fourth is long enough for a takeover.
            let isLong = Int.random(in: 0..<4, using: &random) == 0
            let time = Int.random(in: isLong ? 2500...4000 : 0...1000, using: &random)
            try await Campaign.elapse(.milliseconds(time))
            try await network.mend(index + 1)
        }
    }
}
