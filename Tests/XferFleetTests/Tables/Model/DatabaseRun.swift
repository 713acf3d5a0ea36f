import Testing
import XferCore
import XferModel
import XferTestSupport

@testable import XferFleet

/// A random run of a fleet's database beside the model of it.
struct DatabaseRun {
    private let postgres: PostgresDatabase
    private var fleet: FleetDatabase
    private var rules: RandomRules
    private var model = FleetModel()
    private var nodes = RandomRules.names.map { ModelNode(name: $0) }
    private var registrations: [String: FleetRegistration] = [:]
    private var cursors: [String: FleetClaimCursor] = [:]
    private var keys = 0
    private var wrong: [String] = []
    private(set) var failovers = 0
    /// A copy of the database and what the model was then.
    private var standby: (database: String, model: FleetModel, registrations: [String: FleetRegistration])?
    private var database: String
    private var copies: [String] = []

    init(seed: UInt64) async throws {
        postgres = try await PostgresDatabase()
        database = postgres.name
        rules = RandomRules(generator: SplitMix64(seed: seed))
        try await FleetDatabase.migrate(PostgresSettings(connection: postgres.connection))
        fleet = try await FleetDatabase.open(PostgresSettings(connection: postgres.connection)).0
        for node in nodes {
            model.nodes[node.name] = FleetModel.Node(
                labels: RandomRules.labels[node.name] ?? [], storages: RandomRules.storages[node.name] ?? [])
            try await register(node.name)
        }
    }

    /// Makes one step and gives its name.
    mutating func step() async throws -> String {
        let index = Int.random(in: 0..<nodes.count, using: &rules.generator)
        switch Int.random(in: 0..<1000, using: &rules.generator) {
        case 0..<220: try await add(); return "add"
        case 220..<420: try await claim(index); return "claim"
        case 420..<620: try await report(index); return "report"
        case 620..<790: try await wish(); return "wish"
        case 790..<820: try await permit(index); return "permit"
        case 820..<880: try await carryOut(index); return "carry out"
        case 880..<905: try await die(index); return "die"
        case 905..<935: try await comeBack(index); return "come back"
        case 935..<955: try await limit(); return "limit"
        case 955..<970: try await pauseGroup(); return "pause group"
        case 970..<980: try await drain(index); return "drain"
        case 980..<986: try await wake(); return "wake"
        case 986..<994: try await copy(); return "copy"
        default: try await failOver(); return "fail over"
        }
    }

    /// What is otherwise in the database than in the model.
    mutating func differences() async throws -> [String] {
        defer { wrong = [] }
        wrong += try await fleet.invariants()
        var found: [Int64: FleetTask] = [:]
        for task in try await fleet.tasks.list(FleetTaskFilter(), after: nil, newestFirst: false, limit: 1000).tasks {
            found[task.id.rawValue] = task
        }
        if Set(found.keys) != Set(model.tasks.keys) {
            wrong.append("tasks \(Set(found.keys).symmetricDifference(model.tasks.keys).sorted())")
        }
        for task in model.sorted {
            guard let row = found[task.id] else { continue }
            let isSame =
                row.state == task.state && row.place == task.lane.place && row.priority == task.lane.priority
                && row.hasBegun == (task.state == .leased && task.hasBegun)
                && (task.state != .leased || row.node == task.node)
            if !isSame { wrong.append("task \(task.id) is \(row), expected \(task)") }
        }
        return wrong
    }

    private mutating func register(_ name: String) async throws {
        registrations[name] = try await fleet.nodes.register(
            FleetWorld.node(name, labels: RandomRules.labels[name] ?? [], storages: RandomRules.storages[name] ?? []))
        model.nodes[name]?.isDown = false
    }

    private func registration(_ index: Int) throws -> FleetRegistration {
        try #require(registrations[nodes[index].name])
    }

    private mutating func add() async throws {
        guard model.tasks.count < 60 else {
            for task in model.sorted where task.state.isEnd {
                _ = try await fleet.tasks.wish(.remove, by: .operators, for: .tasks([FleetTaskID(task.id)]))
                _ = model.wish(.remove, by: .operators, for: task.id)
            }
            return
        }
        var news: [FleetNewTask] = []
        for _ in 0..<Int.random(in: 1...4, using: &rules.generator) {
            let lane = rules.lane()
            keys += 1
            var task = FleetWorld.task(lane.host)
            (task.owner, task.group, task.place, task.priority) = (lane.owner, lane.group, lane.place, lane.priority)
            task.clientKey = "k\(keys)"
            task.order = rules.generator.chance(20) ? .lifo : .fifo
            task.isRepeatable = rules.generator.chance(60)
            task.startsPaused = rules.generator.chance(10)
            if rules.generator.chance(10) { task.notBefore = Timestamp(seconds: 4_000_000_000) }
            news.append(task)
        }
        let outcomes = try await fleet.tasks.add(news)
        // Those for the tails come first.
        for order in QueueOrder.allCases {
            for (task, outcome) in zip(news, outcomes) where task.order == order {
                if case .added = outcome {} else { wrong.append("\(outcome)") }
                let state: FleetTaskState =
                    task.startsPaused ? .paused : task.notBefore == nil ? .queued : .delayed
                model.add(
                    FleetModel.Task(
                        id: outcome.task.rawValue,
                        lane: FleetModel.Lane(
                            priority: task.priority, owner: task.owner, group: task.group, host: task.host,
                            place: task.place), isRepeatable: task.isRepeatable, isDelayed: task.notBefore != nil,
                        state: state), toHead: order == .lifo)
            }
        }
        // The same again changes nothing.
        if try await fleet.tasks.add(news) != outcomes.map({ .existing($0.task) }) {
            wrong.append("a key was added twice")
        }
    }

    private mutating func claim(_ index: Int) async throws {
        let name = nodes[index].name
        let want = Int.random(in: 1...6, using: &rules.generator)
        let claims: [FleetClaim]
        do {
            claims = try await fleet.leases.claim(
                try registration(index), want: want, cursor: &cursors[name, default: .init()])
        } catch FleetError.superseded {
            if model.nodes[name]?.isDown == false { wrong.append("\(name) is superseded") }
            return
        }
        wrong += model.accept(
            claims.map { ($0.claimKey.task.rawValue, $0.claimKey.claim.text) }, by: name, want: want,
            lanes: ClaimRules.lanes)
        nodes[index].held += claims.map {
            ModelNode.Held(task: $0.claimKey.task.rawValue, claim: $0.claimKey.claim.text)
        }
        let begun = claims.filter { _ in rules.generator.chance(60) }.map(\.claimKey)
        let lost = try await fleet.leases.begin(try registration(index), begun)
        if !lost.isEmpty { wrong.append("lost at begin: \(lost)") }
        for claimKey in begun { model.tasks[claimKey.task.rawValue]?.hasBegun = true }
        try await settle(claims.filter { $0.place.storage != nil }, index)
    }

    /// The permits of former claims are those of the model; sometimes the node dies before it has looked after them.
    private mutating func settle(_ claims: [FleetClaim], _ index: Int) async throws {
        let open = try await fleet.permits.open(claims.map(\.claimKey))
        let expected = claims.flatMap { claim in
            (model.tasks[claim.claimKey.task.rawValue]?.permits ?? []).filter { $0 != claim.claimKey.claim.text }
        }
        if Set(open.map(\.permit.claimKey.claim.text)) != Set(expected) { wrong.append("open permits are \(open)") }
        for (id, permits) in Dictionary(grouping: open, by: \.permit.claimKey.task.rawValue)
        where permits.contains(where: \.wasCancelling) != model.isCancelled(id) {
            wrong.append("cancelled after a look: \(permits)")
        }
        guard !claims.isEmpty, rules.generator.chance(70) else { return }
        let lost = try await fleet.permits.close(try registration(index), claims.map(\.claimKey))
        if !lost.isEmpty { wrong.append("lost at closing: \(lost)") }
        for claim in claims {
            model.tasks[claim.claimKey.task.rawValue]?.permits.formIntersection([claim.claimKey.claim.text])
        }
    }

    /// Asks for a permit, also for a claim that may be void.
    private mutating func permit(_ index: Int) async throws {
        let stored = nodes[index].held.filter { model.tasks[$0.task]?.lane.place.storage != nil }
        guard let held = rules.generator.pick(stored) else { return }
        let permit = FleetPermit(
            claimKey: try Self.claimKey(held), storage: "nas", directory: "", part: ".xfer-t-\(held.task).part",
            name: "f",
            inode: .max, size: 1, modifiedAt: 2)
        let isValid = model.holds(held.task, held.claim)
        do {
            let lost = try await fleet.permits.give(try registration(index), [permit])
            if lost.isEmpty != isValid { wrong.append("the permit was \(lost.isEmpty ? "given" : "refused")") }
            if isValid { model.tasks[held.task]?.permits.insert(held.claim) }
        } catch FleetError.superseded {
            if model.nodes[nodes[index].name]?.isDown == false { wrong.append("\(nodes[index].name) is superseded") }
        }
    }

    /// Ends and releases, and sometimes claims that ended long ago.
    private mutating func report(_ index: Int) async throws {
        let name = nodes[index].name
        var report = FleetReport(applied: Int64(keys))
        var lost: Set<Int64> = []
        var seen: Set<Int64> = []
        let isDown = model.nodes[name]?.isDown ?? true
        var apply: [(inout FleetModel) -> Void] = []
        for held in (nodes[index].held + nodes[index].past.suffix(2)).shuffled(using: &rules.generator).prefix(4) {
            guard seen.insert(held.task).inserted else { continue }
            let claimKey = try Self.claimKey(held)
            if !model.holds(held.task, held.claim) { lost.insert(held.task) }
            let isValid = model.holds(held.task, held.claim)
            if rules.generator.chance(70) {
                let ending = rules.ending()
                report.ends.append(FleetEnd(claimKey: claimKey, ending: ending, detail: #"{"n":1}"#))
                if isValid { apply.append { $0.end(held.task, ending) } }
            } else {
                let declines = rules.generator.chance(40)
                report.releases.append(
                    FleetRelease(claimKey: claimKey, next: declines ? .decline : .queue, reason: "r"))
            }
        }
        // The head of a lane is given in the order of the report: the first one goes first.
        let released = report.releases.reversed().filter {
            model.holds($0.claimKey.task.rawValue, $0.claimKey.claim.text)
        }
        for release in released {
            apply.append { $0.release(release.claimKey.task.rawValue, declines: release.next == .decline) }
        }
        do {
            let outcome = try await fleet.leases.report(try registration(index), report)
            if isDown { wrong.append("\(name) is down and reported") }
            if Set(outcome.lost.map(\.rawValue)) != lost {
                wrong.append("lost \(outcome.lost), expected \(lost.sorted())")
            }
            for change in apply { change(&model) }
            nodes[index].past += nodes[index].held.filter { seen.contains($0.task) }
            nodes[index].held.removeAll { seen.contains($0.task) }
        } catch FleetError.superseded {
            if !isDown { wrong.append("\(name) is superseded") }
        }
    }

    private static func claimKey(_ held: ModelNode.Held) throws -> FleetClaimKey {
        FleetClaimKey(task: FleetTaskID(held.task), claim: try #require(FleetClaimID(held.claim)))
    }

    private mutating func wish() async throws {
        guard let task = rules.generator.pick(model.sorted) else { return }
        let (wish, caller) = (rules.wish(), rules.caller())
        let outcomes = try await fleet.tasks.wish(wish, by: caller, for: .tasks([FleetTaskID(task.id)]))
        let verdict = model.wish(wish, by: caller, for: task.id)
        if outcomes.map(\.verdict) != [verdict] { wrong.append("\(wish) gave \(outcomes), expected \(verdict)") }
    }

    /// The wishes of a node's tasks, carried out.
    private mutating func carryOut(_ index: Int) async throws {
        let name = nodes[index].name
        guard model.nodes[name]?.isDown == false else { return }
        let wishes = try await fleet.leases.wishes(try registration(index))
        let expected = model.tasks(of: name).map(\.wishes.count).reduce(0, +)
        if wishes.count != expected { wrong.append("\(wishes.count) wishes, expected \(expected)") }
        guard let chosen = rules.generator.pick(wishes) else { return }
        let id = chosen.claimKey.task.rawValue
        var report = FleetReport()
        switch chosen.wish {
        case .pause:
            report.releases = [FleetRelease(claimKey: chosen.claimKey, next: .paused)]
            model.release(id, toPause: true, declines: false)
        case .move(let place):
            report.releases = [FleetRelease(claimKey: chosen.claimKey, next: .move(place))]
            model.release(id, movedTo: place, declines: false)
        case .cancel:
            report.ends = [FleetEnd(claimKey: chosen.claimKey, ending: .cancelled)]
            model.end(id, .cancelled)
        default:
            report.wishes = [chosen.id]
            if let at = model.tasks[id]?.wishes.firstIndex(of: chosen.wish) { model.tasks[id]?.wishes.remove(at: at) }
        }
        _ = try await fleet.leases.report(try registration(index), report)
    }

    private mutating func die(_ index: Int) async throws {
        let name = nodes[index].name
        let row = try #require(try await fleet.nodes.list().first { $0.description.name == name })
        if try await !fleet.takeovers.takeOver(row) { wrong.append("\(name) was not taken over") }
        guard model.nodes[name]?.isDown == false else { return }
        model.nodes[name]?.isDown = true
        model.takeOver(name, .dead)
        if try await fleet.nodes.beat(try registration(index), figures: nil) != nil {
            wrong.append("\(name) beats although it is down")
        }
    }

    private mutating func comeBack(_ index: Int) async throws {
        try await register(nodes[index].name)
        try await reconcile(index)
    }

    private mutating func reconcile(_ index: Int) async throws {
        let name = nodes[index].name
        let known = Set(nodes[index].held)
        let unknown = try await fleet.leases.list(try registration(index)).map(\.claimKey).filter {
            !known.contains(ModelNode.Held(task: $0.task.rawValue, claim: $0.claim.text))
        }
        try await fleet.takeovers.abandon(try registration(index), unknown)
        model.takeOver(name, .unknownToNode, only: Set(unknown.map(\.task.rawValue)))
        let valid = nodes[index].held.filter { model.holds($0.task, $0.claim) }
        nodes[index].past += nodes[index].held.filter { !valid.contains($0) }
        nodes[index].held = valid
    }

    private mutating func limit() async throws {
        let limit = rules.limit()
        switch Int.random(in: 0..<3, using: &rules.generator) {
        case 0:
            try await fleet.limits.setHost("a.example", maxActive: limit)
            model.hostLimits["a.example"] = limit
        case 1:
            try await fleet.limits.setOwner("bob", maxActive: limit)
            model.ownerLimits["bob"] = limit
        default:
            try await fleet.limits.setGroup(owner: "ada", name: "g", maxActive: limit)
            model.groupLimits[FleetModel.Group(owner: "ada", name: "g")] = limit
        }
    }

    private mutating func pauseGroup() async throws {
        let group = FleetModel.Group(owner: "ada", name: "g")
        let isPaused = rules.generator.chance(30)
        try await fleet.limits.setGroup(owner: "ada", name: "g", isPaused: isPaused)
        if isPaused { model.pausedGroups.insert(group) } else { model.pausedGroups.remove(group) }
    }

    private mutating func drain(_ index: Int) async throws {
        let isDraining = rules.generator.chance(30)
        try await fleet.nodes.setDraining(nodes[index].name, isDraining)
        model.nodes[nodes[index].name]?.isDraining = isDraining
    }

    private mutating func wake() async throws {
        // Their time has come: the clock is the database's.
        try await postgres.cluster.sql(
            "UPDATE fleet_delayed SET due = now(); UPDATE fleet_task SET not_before = now() WHERE not_before > now()",
            in: database)
        try await fleet.tasks.wakeDelayed()
        for task in model.sorted {
            model.tasks[task.id]?.isDelayed = false
            if task.state == .delayed { model.enqueue(task.id, toHead: false) }
        }
    }

    /// A standby receives what there is. Needs a database without connections.
    private mutating func copy() async throws {
        let copied = "\(postgres.name)_\(keys)_\(failovers)"
        guard standby?.database != copied else { return }
        fleet.close()
        try await eventually("connections end") {
            try await postgres.cluster.sql("SELECT count(*) FROM pg_stat_activity WHERE datname = '\(database)'")
                .hasPrefix("0")
        }
        try await postgres.cluster.sql("CREATE DATABASE \(copied) TEMPLATE \(database)")
        standby = (copied, model, registrations)
        copies.append(copied)
        try await open()
    }

    /// Removes what would fill the disk in a long run.
    func end() async throws {
        fleet.close()
        for name in copies { try await postgres.cluster.sql("DROP DATABASE \(name) WITH (FORCE)") }
        try await postgres.cluster.sql("DROP DATABASE \(postgres.name) WITH (FORCE)")
    }

    private mutating func open() async throws {
        fleet = try await FleetDatabase.open(PostgresSettings(connection: postgres.cluster.connection(database))).0
    }

    /// The standby is promoted without the last commits.
    private mutating func failOver() async throws {
        if standby == nil { try await copy() }
        guard let standby else { return }
        self.standby = nil
        failovers += 1
        fleet.close()
        (database, model) = (standby.database, standby.model)
        try await open()
        for index in nodes.indices {
            try await register(nodes[index].name)
            try await reconcile(index)
        }
    }
}
