import Glibc
import Testing
import XferCore
import XferModel
import XferTestSupport

/// The rules alone: nodes that die and come back as zombies, a database that loses its last commits, and one run at a
/// time for what must not be repeated.
@Suite struct PureModelTests {
    static let soakFactor = getenv("XFER_SOAK_FACTOR").flatMap { Int(String(cString: $0)) } ?? 1

    @Test func noTaskIsLostOrRunTwiceInAHundredThousandSteps() {
        for seed in 0..<UInt64(10 * Self.soakFactor) {
            var run = PureRun(seed: seed)
            for step in 0..<10_000 {
                run.step()
                guard run.wrong.isEmpty else {
                    Issue.record("seed \(seed), step \(step): \(run.wrong)")
                    return
                }
            }
        }
    }
}

private struct PureRun {
    var rules: RandomRules
    var model = FleetModel()
    var nodes: [ModelNode] = RandomRules.names.map { ModelNode(name: $0) }
    var wrong: [String] = []
    private var nextID: Int64 = 0
    private var nextClaim = 0
    /// What a standby had received.
    private var standby: FleetModel?

    init(seed: UInt64) {
        rules = RandomRules(generator: SplitMix64(seed: seed))
        for node in nodes { model.nodes[node.name] = FleetModel.Node(labels: RandomRules.labels[node.name] ?? []) }
    }

    mutating func step() {
        let index = Int.random(in: 0..<nodes.count, using: &rules.generator)
        switch Int.random(in: 0..<100, using: &rules.generator) {
        case 0..<25: add()
        case 25..<45: claim(index)
        case 45..<70: end(index)
        case 70..<84: wish()
        case 84..<90: release(index)
        case 90..<93: die(index)
        case 93..<96: comeBack(index)
        case 96: model.hostLimits["a.example"] = rules.limit()
        case 97: model.ownerLimits["bob"] = rules.limit()
        case 98: failOver()
        default: standby = model
        }
    }

    private mutating func add() {
        guard model.tasks.count < 40 else {
            // Room for new ones.
            for task in model.sorted where task.state.isEnd { _ = model.wish(.remove, by: .operators, for: task.id) }
            return
        }
        nextID += 1
        model.add(
            FleetModel.Task(
                id: nextID, lane: rules.lane(), isRepeatable: rules.generator.chance(60), state: .queued),
            toHead: rules.generator.chance(20))
    }

    private mutating func claim(_ index: Int) {
        let name = nodes[index].name
        let want = ClaimRules.want(
            slots: 6, held: nodes[index].held.count, recentEnds: Int.random(in: 0...2, using: &rules.generator),
            isDraining: model.nodes[name]?.isDraining ?? true)
        if want < 0 || want > ClaimRules.most { wrong.append("\(want) are wanted") }
        for _ in 0..<want {
            guard let task = model.nextClaimable(name) else { break }
            nextClaim += 1
            model.lease(task.id, to: name, "c\(nextClaim)")
            nodes[index].held.append(ModelNode.Held(task: task.id, claim: "c\(nextClaim)"))
            if rules.generator.chance(80) { begin(task.id) }
        }
        check()
    }

    private mutating func begin(_ id: Int64) {
        model.tasks[id]?.hasBegun = true
        model.tasks[id]?.runs += 1
        guard let task = model.tasks[id], !task.isRepeatable, task.runs > 1 else { return }
        wrong.append("task \(id) ran \(task.runs) times")
    }

    private mutating func end(_ index: Int) {
        guard let held = rules.generator.pick(nodes[index].held + nodes[index].past.suffix(3)) else { return }
        let isValid = model.holds(held.task, held.claim)
        nodes[index].held.removeAll { $0 == held }
        nodes[index].past.append(held)
        guard isValid, model.nodes[nodes[index].name]?.isDown == false else { return }
        let before = model.tasks[held.task]?.state.isEnd ?? false
        if before { wrong.append("task \(held.task) ends twice") }
        model.end(held.task, rules.ending())
    }

    private mutating func wish() {
        guard let task = rules.generator.pick(model.sorted) else { return }
        _ = model.wish(rules.wish(), by: rules.caller(), for: task.id)
        check()
    }

    private mutating func release(_ index: Int) {
        guard let held = rules.generator.pick(nodes[index].held), let task = model.tasks[held.task],
            model.holds(held.task, held.claim), model.nodes[nodes[index].name]?.isDown == false
        else { return }
        nodes[index].held.removeAll { $0 == held }
        // What may have made its request is not given back to be made again.
        if task.hasBegun, !task.isRepeatable {
            model.pause(held.task)
            model.tasks[held.task]?.runs = 0
        } else {
            model.release(held.task, declines: rules.generator.chance(30))
        }
        check()
    }

    private mutating func die(_ index: Int) {
        let name = nodes[index].name
        model.nodes[name]?.isDown = true
        model.takeOver(name, .dead)
        // It does not know: what it holds is reported later.
        check()
    }

    private mutating func comeBack(_ index: Int) {
        let name = nodes[index].name
        model.nodes[name]?.isDown = false
        reconcile(index)
    }

    /// Claims that the node does not know are decided on; what it holds without a claim it stops.
    private mutating func reconcile(_ index: Int) {
        let known = Set(nodes[index].held)
        let unknown = model.tasks(of: nodes[index].name).filter { task in
            task.claim.map { !known.contains(ModelNode.Held(task: task.id, claim: $0)) } ?? false
        }
        model.takeOver(nodes[index].name, .unknownToNode, only: Set(unknown.map(\.id)))
        let valid = nodes[index].held.filter { model.holds($0.task, $0.claim) }
        nodes[index].past += nodes[index].held.filter { !valid.contains($0) }
        nodes[index].held = valid
        check()
    }

    /// The database is as the standby had it. What it never received may be lost or repeated.
    private mutating func failOver() {
        guard let standby else { return }
        model = standby
        for id in model.tasks.keys { model.tasks[id]?.runs = 0 }
        for index in nodes.indices { reconcile(index) }
        self.standby = nil
    }

    private mutating func check() {
        for task in model.tasks.values {
            if (task.state == .leased) != (task.claim != nil) {
                wrong.append("task \(task.id) is \(task.state) with a claim")
            }
            if task.state == .leased, task.node == nil { wrong.append("task \(task.id) is leased to no node") }
        }
    }
}
