import Testing
import XferCore
import XferModel
import XferTestSupport

/// The rules alone: nodes that die and come back as zombies, a database that loses its last commits, and one run at a
/// time for what must not be repeated.
@Suite struct PureModelTests {
    /// `make soak` makes ten million steps of the rules and a hundred thousand against PostgreSQL.
    static let isSoak = Campaign.isSoak

    @Test func noTaskIsLostOrRunTwiceInThousandsOfSteps() async {
        for seed in 0..<UInt64(Self.isSoak ? 1000 : 3) {
            var run = PureRun(seed: seed)
            for step in 0..<10_000 {
                if step.isMultiple(of: 100) { await Task.yield() }
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
    /// Claims whose part is on the shared storage, permitted, and not published.
    private var parts: Set<String> = []
    /// By whom files on the shared storage were published, by task.
    private var published: [Int64: String] = [:]

    init(seed: UInt64) {
        rules = RandomRules(generator: SplitMix64(seed: seed))
        for node in nodes {
            model.nodes[node.name] = FleetModel.Node(
                labels: RandomRules.labels[node.name] ?? [], storages: RandomRules.storages[node.name] ?? [])
        }
    }

    mutating func step() {
        let index = Int.random(in: 0..<nodes.count, using: &rules.generator)
        switch Int.random(in: 0..<100, using: &rules.generator) {
        case 0..<25: add()
        case 25..<45: claim(index)
        case 45..<70: end(index)
        case 70..<76: permit(index)
        case 76..<80: publish(index)
        case 80..<84: wish()
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
            slots: 6, claimed: nodes[index].held.count, recentEnds: Int.random(in: 0...2, using: &rules.generator),
            isDraining: model.nodes[name]?.isDraining ?? true)
        if want < 0 || want > ClaimRules.most { wrong.append("\(want) are wanted") }
        for _ in 0..<want {
            guard let task = model.nextClaimable(name) else { break }
            nextClaim += 1
            model.lease(task.id, to: name, "c\(nextClaim)")
            nodes[index].held.append(ModelNode.Held(task: task.id, claim: "c\(nextClaim)"))
            guard settle(task.id, index) else { continue }
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

    /// What a node does with permits of former claims: it removes their parts, then looks (`PermitRules`).
    ///
    /// - Returns: whether the task is to be transferred.
    private mutating func settle(_ id: Int64, _ index: Int) -> Bool {
        guard let task = model.tasks[id], let claim = task.claim, !task.permits.isEmpty else { return true }
        parts.subtract(task.permits)
        let isFound = published[id].map(task.permits.contains) ?? false
        let verdict = PermitRules.judge(
            isFound: isFound, isRepeatable: task.isRepeatable, wasCancelling: model.isCancelled(id))
        let ending: FleetEnding
        switch verdict {
        case .transfer:
            model.tasks[id]?.permits = []
            return true
        case .published: ending = .completed
        case .end(let other): ending = other
        }
        nodes[index].held.removeAll { $0.claim == claim }
        nodes[index].past.append(ModelNode.Held(task: id, claim: claim))
        model.end(id, ending)
        return false
    }

    /// A node asks for a permit to publish on the shared storage.
    private mutating func permit(_ index: Int) {
        guard let held = rules.generator.pick(nodes[index].held), model.holds(held.task, held.claim),
            model.nodes[nodes[index].name]?.isDown == false, let task = model.tasks[held.task],
            task.lane.place.storage != nil, task.hasBegun, task.permits.isEmpty
        else { return }
        model.tasks[held.task]?.permits.insert(held.claim)
        parts.insert(held.claim)
    }

    /// A node publishes what it got a permit for, maybe long after others have called it down: a rename by name.
    private mutating func publish(_ index: Int) {
        let permitted = (nodes[index].held + nodes[index].past).filter { parts.contains($0.claim) }
        guard let held = rules.generator.pick(permitted) else { return }
        parts.remove(held.claim)
        if let other = published[held.task] {
            wrong.append("task \(held.task) was published by \(other) and \(held.claim)")
        }
        published[held.task] = held.claim
        if model.tasks[held.task]?.state == .completed { wrong.append("task \(held.task) was published after its end") }
    }

    private mutating func end(_ index: Int) {
        guard let held = rules.generator.pick(nodes[index].held + nodes[index].past.suffix(3)) else { return }
        let isValid = model.holds(held.task, held.claim)
        nodes[index].held.removeAll { $0 == held }
        nodes[index].past.append(held)
        guard isValid, model.nodes[nodes[index].name]?.isDown == false else { return }
        // xferd has ended the task: its part is published or removed.
        parts.remove(held.claim)
        let before = model.tasks[held.task]?.state.isEnd ?? false
        if before { wrong.append("task \(held.task) ends twice") }
        // On shared storage a task is completed when it is published.
        var ending = rules.ending()
        if model.tasks[held.task]?.lane.place.storage != nil {
            ending = published[held.task] == held.claim ? .completed : .failed
        }
        model.end(held.task, ending)
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
        // Published and not reported yet: it is not given back.
        guard published[held.task] != held.claim else { return }
        parts.remove(held.claim)
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
        published = [:]
        parts = []
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
