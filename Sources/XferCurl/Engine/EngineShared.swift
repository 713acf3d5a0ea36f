import NIOConcurrencyHelpers
import XferCore
import XferModel

/// State that an engine's loops share. Each loop has its own sessions with their connections, handles, deadlines and
/// trust anchors.
final class EngineShared: Sendable {
    let configuration: EngineConfiguration
    let loops: [CurlLoop]
    /// Limits that attempts share.
    let rates = SharedRates()
    /// Remembers the origins that did not answer `Expect: 100-continue`.
    let continues = NIOLockedValueBox(ContinueMemory())
    /// Remembers the addresses that did not answer.
    let addresses = NIOLockedValueBox(AddressMemory())
    private let load: NIOLockedValueBox<LoopLoad>
    private let requests = NIOLockedValueBox((count: Int64(0), connections: Int64(0)))
    /// The cookie jars by name.
    private let jars = NIOLockedValueBox<[String: CookieJar]>([:])

    init(configuration: EngineConfiguration, loops: [CurlLoop]) {
        self.configuration = configuration
        self.loops = loops
        load = NIOLockedValueBox(LoopLoad(loops: loops.count))
    }

    /// The loop for an attempt whose first request goes to this URL.
    func beginAttempt(_ url: HTTPURL) -> Int { load.withLockedValue { $0.begin(hash: url.origin.hashValue) } }

    func endAttempt(on loop: Int) { load.withLockedValue { $0.end(loop) } }

    /// Clears the record of addresses that did not answer.
    func forgetAddresses() { addresses.withLockedValue { $0.removeAll() } }

    /// The number of attempts that run.
    var attemptCount: Int { load.withLockedValue(\.total) }

    /// Counts a request that has ended.
    func onRequestDone(hasNewConnection: Bool) {
        requests.withLockedValue { requests in
            requests.count &+= 1
            if hasNewConnection { requests.connections &+= 1 }
        }
    }

    /// The totals of the engine's work so far.
    var figures: EngineFigures {
        let requests = requests.withLockedValue(\.self)
        let stalls = loops.map(\.stalls)
        return EngineFigures(
            attemptCount: attemptCount, requestCount: requests.count, connectionCount: requests.connections,
            stalls: LoopStalls(
                count: stalls.reduce(0) { $0.addingSaturated($1.count) },
                length: stalls.reduce(.zero) { $0 + $1.length }))
    }

    /// Wakes the loops of the attempts that are first in the queue of a shared limit, so that they check for their
    /// turn.
    func wakeFirsts(except own: Int) {
        if loops.count == 1 { return }
        for loop in rates.loopsOfFirsts where loop != own { loops[loop].wake() }
    }

    /// The jar with this name, created when it is first needed.
    func jar(named name: String) -> CookieJar {
        jars.withLockedValue { jars in
            if let jar = jars[name] { return jar }
            let jar = CookieJar()
            jars[name] = jar
            return jar
        }
    }

    /// Requests under way keep theirs.
    func forgetJar(named name: String) { jars.withLockedValue { $0[name] = nil } }
}

/// The number of attempts of each of the engine's loops, which decides where the next one runs.
///
/// The cost depends on the bytes, mainly because of TLS, and not on the number of attempts; but the number of bytes is
/// unknown at the beginning. So the loop with the fewest attempts is taken. Among several, it is the loop that probably
/// has connections to the origin: successive requests then use one connection.
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
