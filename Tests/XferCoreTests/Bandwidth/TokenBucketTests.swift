import Testing
import XferCore
import XferModel
import XferTestSupport

@Suite struct TokenBucketTests {
    private let start = MonotonicInstant(nanoseconds: 1_000_000_000)

    /// Reads chunks as fast as the bucket lets it; the bytes taken within each second.
    private func run(rate: Int64, chunk: Int, seconds: Int, lateness: Duration = .zero) -> [Int64] {
        var bucket = TokenBucket(rate: rate, now: start)
        var now = start
        var taken = Array(repeating: Int64(0), count: seconds)
        while true {
            let second = Int(start.duration(to: now).inSeconds)
            guard second < seconds else { return taken }
            taken[second] += Int64(chunk)
            if let until = bucket.spend(chunk, now: now) {
                now = until.advanced(by: lateness)
            } else {
                // The network is faster than any limit here.
                now = now.advanced(by: .nanoseconds(chunk))
            }
        }
    }

    @Test(arguments: [1000, 65_536, 1_000_000, 50_000_000] as [Int64], [100, 16_384])
    func theRateHoldsOverFiveSecondsAndFromTheStart(rate: Int64, chunk: Int) {
        let taken = run(rate: rate, chunk: chunk, seconds: 5, lateness: .milliseconds(1))
        let total = taken.reduce(0, +)
        #expect(Double(total) <= Double(rate) * 5 * 1.1 + Double(chunk))
        #expect(Double(total) >= Double(rate) * 5 * 0.9 - Double(chunk))
        #expect(Double(taken[0]) <= Double(rate) * 1.1 + Double(chunk))
    }

    @Test func timeWithoutTrafficIsNotSaved() {
        var bucket = TokenBucket(rate: 1000, now: start)
        let later = start.advanced(by: .seconds(3600))
        #expect(bucket.spend(2000, now: later) != nil)
    }

    @Test func aDebtKeepsItsTimeWhenTheRateChanges() {
        var bucket = TokenBucket(rate: 1000, now: start)
        let before = bucket.spend(10_000, now: start)
        #expect(before.map { start.duration(to: $0) } == .seconds(10))
        bucket.setRate(1_000_000, now: start)
        let after = bucket.spend(0, now: start)
        #expect(after.map { start.duration(to: $0) } == .seconds(10))
        bucket.setRate(0, now: start)
        #expect(bucket.rate == 1)
    }
}
