import Testing

@testable import XferCurl

@Suite struct LoopLoadTests {
    @Test func aTransferGoesToTheLoopWithTheFewest() {
        var load = LoopLoad(loops: 3)
        for _ in 0..<30 { _ = load.begin(hash: 7) }
        #expect(load.counts == [10, 10, 10])
        for _ in 0..<4 { load.end(2) }
        for _ in 0..<4 { #expect(load.begin(hash: 7) == 2) }
        #expect(load.total == 30)
    }

    @Test(arguments: [0, 1, 5, -1, Int.min, Int.max]) func consecutiveTransfersOfAnOriginUseOneLoop(hash: Int) {
        var load = LoopLoad(loops: 4)
        let home = load.begin(hash: hash)
        #expect((0..<4).contains(home))
        for _ in 0..<10 {
            load.end(home)
            #expect(load.begin(hash: hash) == home)
        }
    }

    @Test func originsAreSpreadOverTheLoops() {
        var homes: Set<Int> = []
        for hash in 0..<4 {
            var load = LoopLoad(loops: 4)
            homes.insert(load.begin(hash: hash))
        }
        #expect(homes.count == 4)
    }
}
