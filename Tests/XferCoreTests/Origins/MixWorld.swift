import XferModel
import XferTestSupport

@testable import XferCore

/// A queue of small and large files on a simulated clock.
struct MixWorld: CustomStringConvertible {
    private struct File {
        var isLarge: Bool
        /// False if the answer does not tell the length.
        var tellsLength: Bool
        var returns = 0
        var beganAt = 0
        var answersAt = 0
        var endsAt = 0
        var isStopping = false
        var wasKnown = false
    }

    private var random: SplitMix64
    private var files: [File] = []
    private var queue: [Int]
    private var known: Set<Int> = []
    private var running: Set<Int> = []
    private var scheduler = SchedulerStateMachine(limits: SchedulerLimits())
    /// In quarters of a second: the ticks.
    private var time = 0
    /// How many were large in the last ticks, those that were stopped not included.
    private var largeBefore = 0
    private(set) var mostLargeForLong = 0
    private(set) var mostUnderWay = 0
    private(set) var returns = 0
    /// How often a large file follows a small one in the queue.
    private(set) var changes = 1

    var isDone: Bool { queue.isEmpty && running.isEmpty }
    var mostReturnsOfOne: Int { files.map(\.returns).max() ?? 0 }
    var description: String {
        "\(files.count) files: large \(mostLargeForLong), under way \(mostUnderWay), returned \(returns) in \(changes)"
    }

    init(seed: UInt64) {
        random = SplitMix64(seed: seed)
        queue = []
        let unknown: Double = [0.0, 0, 0.3].randomElement(using: &random) ?? 0
        while files.count < 600 {
            let isLarge = Bool.random(using: &random)
            let length = isLarge ? Int.random(in: 1...120, using: &random) : Int.random(in: 1...400, using: &random)
            if isLarge, !files.isEmpty { changes += 1 }
            for _ in 0..<length {
                let tellsLength = Double.random(in: 0..<1, using: &random) >= unknown
                files.append(File(isLarge: isLarge, tellsLength: tellsLength || !isLarge))
            }
        }
        queue = Array(files.indices)
    }

    mutating func run() {
        while !isDone, time < 1_000_000 {
            time += 1
            for id in running.sorted() where time >= files[id].endsAt || files[id].isStopping { end(id) }
            start()
            mostUnderWay = max(mostUnderWay, running.count)
            classify()
        }
    }

    private mutating func start() {
        while let id = queue.first, scheduler.mayStart(lane(id), groupLimit: nil) {
            queue.removeFirst()
            running.insert(id)
            files[id].beganAt = time
            files[id].wasKnown = known.contains(id)
            files[id].answersAt = time + Int.random(in: 0...2, using: &random)
            files[id].endsAt =
                files[id].answersAt
                + (files[id].isLarge ? Int.random(in: 4...40, using: &random) : Int.random(in: 0...2, using: &random))
            scheduler.onStart(
                task(id), of: transfer(id), from: lane(id), kind: known.contains(id) ? .large : .small)
        }
    }

    private mutating func end(_ id: Int) {
        running.remove(id)
        if files[id].isStopping {
            files[id].isStopping = false
            files[id].returns += 1
            returns += 1
            queue.insert(id, at: queue.firstIndex { $0 > id } ?? queue.endIndex)
        } else {
            scheduler.onBodyEnd(transfer(id))
        }
        scheduler.onEnd(task(id))
    }

    private mutating func classify() {
        for id in running.sorted() where time >= files[id].answersAt {
            let length: Int64? = files[id].isLarge ? (files[id].tellsLength ? 1 << 30 : nil) : 1000
            let age = Duration.milliseconds(250 * (time - files[id].beganAt))
            let kind = TransferMix.kind(isConnecting: false, length: length, age: age)
            _ = scheduler.classify(transfer(id), as: kind)
            if kind == .large, length != nil { known.insert(id) }
        }
        let large = running.filter { scheduler.kind(of: transfer($0)) == .large }
        let staying = large.count { !files[$0].isStopping && files[$0].tellsLength }
        mostLargeForLong = max(mostLargeForLong, min(staying, largeBefore))
        let facts = large.sorted().map { id in
            TransferMix.Large(
                transfer: transfer(id), begunAt: OriginWorld.instant(Double(files[id].beganAt) / 4),
                mayReturn: files[id].tellsLength && !files[id].wasKnown, isStopping: files[id].isStopping)
        }
        for id in TransferMix.surplus(of: facts) { files[Int(id.rawValue)].isStopping = true }
        largeBefore = large.count { !files[$0].isStopping && files[$0].tellsLength }
    }

    private func task(_ id: Int) -> TaskID { TaskID(Int64(id)) }
    private func transfer(_ id: Int) -> TransferID { TransferID(Int64(id)) }
    private func lane(_ id: Int) -> QueueLane { QueueLane(priority: .normal, host: "h\(id)") }
}
