/// How many attempts each of the engine's loops has, and so where the next one runs.
///
/// The cost is in the bytes, and TLS above all, not in the attempts; but the number of bytes is unknown at the
/// beginning. So the loop with the fewest attempts is taken, and, among several, the one that connections to the origin
/// are probably on: one request after the other uses one connection.
struct LoopLoad {
    private(set) var counts: [Int]

    init(loops: Int) { counts = Array(repeating: 0, count: max(1, loops)) }

    var total: Int { counts.reduce(0, +) }

    /// The loop of an attempt that begins.
    ///
    /// - Parameter hash: of its origin.
    mutating func begin(hash: Int) -> Int {
        let home = Int(clamping: UInt(bitPattern: hash) % UInt(counts.count))
        var best = home
        for step in 1..<max(2, counts.count) {
            let loop = (home + step) % counts.count
            if counts[loop] < counts[best] { best = loop }
        }
        counts[best] += 1
        return best
    }

    mutating func end(_ loop: Int) { counts[loop] -= 1 }
}
