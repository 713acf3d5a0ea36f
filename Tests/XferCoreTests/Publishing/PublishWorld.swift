import XferCore
import XferModel
import XferTestSupport

/// Tasks whose files are published on a `PublishDisk`, with a database, by a service that is killed, beside programs that
/// make files of their own. Every call may fail.
struct PublishWorld {
    /// The service was killed, or the power was cut.
    private struct Death: Error {}

    fileprivate struct Intent {
        let name: String
        let file: Int
    }

    struct Task {
        let policy: ConflictPolicy
        let wanted: String
        /// True if the file has no name before its final one.
        let isUnnamed: Bool
        fileprivate(set) var end: TaskEnd?
        fileprivate var intent: Intent?
    }

    /// As the database has it.
    enum TaskEnd: Hashable { case published(String), skipped, refused }

    private var random: SplitMix64
    private(set) var disk: PublishDisk
    private(set) var tasks: [Task]
    /// The files of other programs, by name, as these made them last.
    private(set) var others: [String: Int] = [:]
    /// How often other programs removed a file of this name.
    private(set) var removalCounts: [String: Int] = [:]
    private(set) var log: [String] = []
    private var hasTroubles = true
    /// Commits of an end, by task.
    private(set) var endCounts: [Int]
    /// Decisions that were wrong when they were made, whatever became of them.
    private(set) var complaints: [String] = []

    init(seed: UInt64) {
        random = SplitMix64(seed: seed)
        disk = PublishDisk(hasJournal: Bool.random(using: &random))
        var tasks: [Task] = []
        for _ in 0..<Int.random(in: 1...5, using: &random) {
            let isUnnamed = Bool.random(using: &random)
            let policies: [ConflictPolicy] = isUnnamed ? [.rename, .fail] : [.rename, .fail, .skip, .overwrite]
            let wanted = ["a", "b"].randomElement(using: &random) ?? "a"
            tasks.append(
                Task(
                    policy: policies.randomElement(using: &random) ?? .rename, wanted: wanted, isUnnamed: isUnnamed))
        }
        self.tasks = tasks
        endCounts = Array(repeating: 0, count: tasks.count)
    }

    /// Lives and dies several times, and ends without troubles.
    mutating func run() {
        for life in 0..<10 {
            hasTroubles = life < 7
            do {
                try live()
                if !hasTroubles { break }
            } catch {
                if Bool.random(using: &random) {
                    log.append("the power is cut")
                    disk.cutPower(&random)
                } else {
                    log.append("killed")
                }
            }
        }
        // What is reported as completed has to survive.
        disk.cutPower(&random)
        sweep()
    }

    // MARK: Misfortune

    private mutating func trouble(_ probability: Double = 0.08) -> Bool { hasTroubles && random.chance(probability) }

    private mutating func mayDie() throws {
        if trouble(0.03) { throw Death() }
    }

    /// Another program makes a file. Its own files it syncs.
    private mutating func meddle() {
        guard trouble(0.15), let name = ["a", "b", "a (1)", "b (1)"].randomElement(using: &random),
            disk.names[name] == nil
        else { return }
        let file = disk.makeFile(of: -1, named: name)
        disk.sync(file)
        disk.syncDirectory()
        others[name] = file
        log.append("another program makes \(name)")
    }

    /// Another program removes a file as soon as it has its name.
    private mutating func removeAsAnother(_ file: Int, named name: String) {
        guard disk.names[name] == file, trouble(0.05) else { return }
        disk.remove(name)
        disk.syncDirectory()
        removalCounts[name, default: 0] += 1
        log.append("another program removes \(name)")
    }

    // MARK: The service

    /// Removes parts that no row names.
    private mutating func sweep() {
        for task in tasks.indices where tasks[task].end != nil && disk.names[part(of: task)] != nil {
            disk.remove(part(of: task))
        }
    }

    private mutating func live() throws {
        sweep()
        for _ in 0..<(hasTroubles ? 3 : 60) {
            try recover()
            let due = tasks.indices.filter { tasks[$0].end == nil && tasks[$0].intent == nil }
            let chosen = hasTroubles ? due.filter { _ in Bool.random(using: &random) } : due
            if !chosen.isEmpty { try publish(chosen) }
        }
    }

    private func part(of task: Int) -> String { ".part \(task)" }

    private mutating func recover() throws {
        for task in tasks.indices where tasks[task].end == nil {
            // The disk does not answer now.
            guard let intent = tasks[task].intent, !trouble() else { continue }
            try mayDie()
            let part = part(of: task)
            let isNamed = disk.names[intent.name] == intent.file && disk.owners[intent.file] == task + 1
            let hasPart = disk.names[part] == intent.file
            let way = PublishRecovery(isNamed: isNamed, hasPart: hasPart, hadPart: !tasks[task].isUnnamed)
            log.append("\(task): \(way) from \(intent.name)")
            if way == .repeat, !hasPart, !tasks[task].isUnnamed { complaints.append("\(task) has no bytes to publish") }
            if way == .lost, hasPart { complaints.append("the bytes of \(task) are discarded") }
            if way == .done, hasPart { disk.remove(part) }
            // The crash may have come between the name and the sync that counts it.
            if way == .done { disk.sync(intent.file) }
            try mayDie()
            // Names that were taken away must not come back without an intent.
            guard syncDirectory() else { continue }
            try mayDie()
            if way == .done { end(task, .published(intent.name)) } else { tasks[task].intent = nil }
            try mayDie()
        }
    }

    private mutating func syncDirectory() -> Bool {
        if trouble() {
            disk.syncPartly(&random)
            return false
        }
        disk.syncDirectory()
        return true
    }

    private mutating func end(_ task: Int, _ end: TaskEnd) {
        log.append("\(task): \(end)")
        tasks[task].end = end
        tasks[task].intent = nil
        endCounts[task] += 1
    }

    /// Fetches the bytes, unless an earlier life has left them.
    private mutating func fetch(_ task: Int) throws -> Int {
        let part = part(of: task)
        let file: Int
        if let kept = disk.names[part], disk.owners[kept] == task + 1 {
            file = kept
        } else {
            disk.remove(part)
            file = disk.makeFile(of: task + 1, named: tasks[task].isUnnamed ? nil : part)
        }
        try mayDie()
        disk.sync(file)
        if !tasks[task].isUnnamed { disk.syncDirectory() }
        return file
    }

    private mutating func publish(_ chosen: [Int]) throws {
        let files = try chosen.map { try fetch($0) }
        var round = PublishRound(chosen.map { (tasks[$0].wanted, tasks[$0].policy) }, mostLostNames: 6)
        // Names that tasks outside of the round have.
        var taken: Set<String> = []
        var stepCount = 0
        while let step = round.next {
            try mayDie()
            let before = round
            stepCount += 1
            switch step {
            case .choose(let numbers):
                for number in numbers {
                    meddle()
                    round.onChoice(choice(for: number, of: chosen[number], round), of: number)
                }
            case .commit(let numbers):
                var committed: [Int] = []
                for number in numbers {
                    // A database that refuses, another task that has the name.
                    let result: PublishRound.Naming = trouble() ? .failed : trouble() ? .taken : .done
                    if result == .done { committed.append(number) }
                    if result == .taken { taken.insert(round.name(of: number)) }
                    round.onCommit(result, of: number)
                }
                for number in committed {
                    tasks[chosen[number]].intent = Intent(name: round.name(of: number), file: files[number])
                }
            case .name(let numbers):
                for number in numbers {
                    meddle()
                    try mayDie()
                    round.onNaming(give(number, files[number], of: chosen[number], round), of: number)
                }
            case .sync(let numbers):
                for number in numbers where tasks[chosen[number]].isUnnamed { disk.sync(files[number]) }
                round.onSync(hasSucceeded: syncDirectory())
            case .check(let numbers):
                for number in numbers {
                    removeAsAnother(files[number], named: round.name(of: number))
                    let isInPlace = disk.names[round.name(of: number)] == files[number] && !trouble()
                    round.onCheck(isInPlace: isInPlace, of: number)
                }
            case .withdraw(let numbers):
                let gone = numbers.filter { withdraw($0, files[$0], of: chosen[$0], round) }
                try mayDie()
                let isDurable = syncDirectory()
                for number in numbers { round.onWithdrawal(isGone: isDurable && gone.contains(number), of: number) }
            }
            guard round != before, stepCount < 500 else {
                complaints.append("a round does not end")
                throw Death()
            }
        }
        try mayDie()
        commitEnds(round, chosen, taken)
        try mayDie()
    }

    private func choice(for number: Int, of task: Int, _ round: PublishRound) -> PublishRound.Choice {
        let wanted = tasks[task].wanted
        guard !round.mustWait(number) else { return .wait }
        let isTaken = { (name: String) in round.isReserved(name, for: number) || disk.names[name] != nil }
        switch tasks[task].policy {
        case .rename:
            let names = [wanted] + (1...40).map { "\(wanted) (\($0))" }
            return names.first { !isTaken($0) }.map { .name($0, isReplacing: false) } ?? .failed
        case .skip: return isTaken(wanted) ? .skip : .name(wanted, isReplacing: false)
        case .fail: return isTaken(wanted) ? .failed : .name(wanted, isReplacing: false)
        case .overwrite, .update, .verify, .continue: return .name(wanted, isReplacing: true)
        }
    }

    private mutating func give(_ number: Int, _ file: Int, of task: Int, _ round: PublishRound) -> PublishRound.Naming {
        let name = round.name(of: number)
        guard !tasks[task].isUnnamed else {
            if trouble() { return .failed }
            return disk.link(file, as: name) ? .done : .taken
        }
        // An error says nothing about what has happened.
        let isUnknown = trouble()
        if isUnknown, Bool.random(using: &random) { return .unknown }
        let isDone = disk.rename(part(of: task), to: name, isReplacing: round.isReplacing(number))
        return isUnknown ? .unknown : isDone ? .done : .taken
    }

    private mutating func withdraw(_ number: Int, _ file: Int, of task: Int, _ round: PublishRound) -> Bool {
        let name = round.name(of: number)
        guard disk.names[name] == file else { return true }
        if trouble() { return false }
        if tasks[task].isUnnamed {
            disk.remove(name)
            return true
        }
        return disk.rename(name, to: part(of: task), isReplacing: false)
    }

    private mutating func commitEnds(_ round: PublishRound, _ chosen: [Int], _ taken: Set<String>) {
        for (number, task) in chosen.enumerated() {
            switch round.end(of: number) {
            case .published: end(task, .published(round.name(of: number)))
            case .skipped:
                let wanted = tasks[task].wanted
                if disk.names[wanted] == nil, !taken.contains(wanted), removalCounts[wanted] == nil {
                    complaints.append("\(task) is skipped for no file")
                }
                end(task, .skipped)
            case .failed where tasks[task].policy == .fail && disk.names[tasks[task].wanted] != nil && !hasTroubles:
                end(task, .refused)
            case .failed where tasks[task].isUnnamed, .outraced where tasks[task].isUnnamed: tasks[task].intent = nil
            case .failed, .stopped, .outraced, .uncertain, nil: break
            }
        }
    }
}
