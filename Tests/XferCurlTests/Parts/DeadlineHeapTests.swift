import Testing
import XferModel
import XferTestSupport

@testable import XferCurl

@Suite struct DeadlineHeapTests {
    private func at(_ value: Int64) -> MonotonicInstant { MonotonicInstant(nanoseconds: value) }

    @Test func theHeapAgreesWithADictionaryOverRandomChanges() {
        var random = SplitMix64(seed: 3)
        var heap = DeadlineHeap<Int>()
        var plain: [Int: Int64] = [:]
        for _ in 0..<20_000 {
            let key = Int.random(in: 0..<40, using: &random)
            let instant = Int64.random(in: 0..<1000, using: &random)
            switch Int.random(in: 0..<5, using: &random) {
            case 0:
                heap.set(key, to: nil)
                plain[key] = nil
            case 1:
                heap.setIfEarlier(key, to: at(instant))
                plain[key] = min(plain[key] ?? .max, instant)
            case 2:
                let due = heap.popDue(at(instant / 4))
                let earliest = plain.values.min()
                #expect((due != nil) == (earliest.map { $0 <= instant / 4 } ?? false))
                if let due {
                    #expect(plain[due] == earliest)
                    plain[due] = nil
                }
            default:
                heap.set(key, to: at(instant))
                plain[key] = instant
            }
            #expect(heap.earliest == plain.values.min().map(at))
            #expect(heap.count == plain.count)
        }
    }
}
