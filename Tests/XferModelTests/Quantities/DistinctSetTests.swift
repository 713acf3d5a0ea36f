import Testing
import XferModel

/// Sets that live long hold no room for repetitions.
@Suite struct DistinctSetTests {
    @Test func repetitionsReserveNoRoom() {
        let set = Array(repeating: TaskID(7), count: 10_000).distinctSet()
        #expect(set == [TaskID(7)])
        #expect(set.capacity < 16, "\(set.capacity)")
    }

    @Test(arguments: [0, 1, 2, 1000])
    func theElementsAreThoseOfTheSequence(count: Int64) {
        let set = ((0..<count).map { TaskID($0) } + (0..<count).map { TaskID($0) }).distinctSet()
        #expect(set == Set((0..<count).map { TaskID($0) }))
        #expect(set.capacity <= max(16, 4 * Int(count)))
    }
}
