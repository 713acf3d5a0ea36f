import Testing

@testable import XferTestSupport

@Suite struct CampaignTests {
    /// The seeds that were tried, and how many at the same time.
    private actor Record {
        var seeds: [UInt64] = []
        var running = 0
        var most = 0

        func begin(_ seed: UInt64) {
            seeds.append(seed)
            running += 1
            most = max(most, running)
        }

        func end() { running -= 1 }
    }

    @Test func portionsCoverEachSeedOnce() {
        #expect(Campaign.portions(from: 7, count: 3, size: 1) == [7..<8, 8..<9, 9..<10])
        #expect(Campaign.portions(from: 1, count: 250, size: 100) == [1..<101, 101..<201, 201..<251])
        #expect(Campaign.portions(from: 1, count: 0, size: 100) == [])
    }

    @Test(arguments: [1, 3, 100]) func eachSeedIsTriedOnceByAtMostSoManyJobs(jobs: Int) async throws {
        let record = Record()
        try await Campaign.forEach(5..<25, jobs: jobs) { seed in
            await record.begin(seed)
            await Task.yield()
            await record.end()
        }
        #expect(await record.seeds.sorted() == Array(5..<25))
        #expect(await record.most <= jobs)
    }

    @Test func aFailedSeedIsNamedAndStopsNoOther() async throws {
        let record = Record()
        let error = await #expect(throws: Campaign.FailedSeeds.self) {
            try await Campaign.forEach(1..<11, jobs: 2) { seed in
                await record.begin(seed)
                if seed == 3 { throw TimedOut("the file") }
            }
        }
        #expect(error?.description == "seed 3: the file")
        #expect(await record.seeds.count == 10)
    }
}
