import Testing

@testable import XferManager

/// When the rest of the state's disk is kept for operators.
struct StateRoomTests {
    @Test(
        arguments: [
            // A large file system keeps 32 MiB, a small one a fiftieth.
            (free: 32 << 20, size: 100 << 30, isLow: false), ((32 << 20) - 1, 100 << 30, true),
            (2_000_000, 100_000_000, false), (1_999_999, 100_000_000, true), (0, 0, false), (0, 50, true),
        ] as [(free: Int64, size: Int64, isLow: Bool)])
    func theRestOfADiskIsKept(free: Int64, size: Int64, isLow: Bool) {
        #expect(StateRoom.isLow(free: free, size: size) == isLow)
    }
}
