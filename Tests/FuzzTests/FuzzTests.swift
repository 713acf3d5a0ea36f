import FuzzTargets
import Glibc
import Testing
import XferTestSupport

/// Parsers of outside input survive every input that once broke one, and random mutations of their seeds.
///
/// The fuzzer does the search itself (`make fuzz`).
@Suite struct FuzzTests {
    @Test(arguments: FuzzTarget.all.map(\.name))
    func aParserSurvivesItsSeedsAndEveryInputFoundBefore(name: String) throws {
        let target = try #require(FuzzTarget.named(name))
        #expect(!target.seeds.isEmpty)
        for seed in target.seeds { target.run(seed) }
        for input in try found(for: name) { target.run(input) }
    }

    @Test(arguments: FuzzTarget.all.map(\.name))
    func aParserSurvivesMutationsOfItsSeeds(name: String) async throws {
        let target = try #require(FuzzTarget.named(name))
        var random = SplitMix64(seed: 0x5eed)
        for round in 0..<2000 {
            if round.isMultiple(of: 50) { await Task.yield() }
            var input = try #require(target.seeds.randomElement(using: &random))
            for _ in 0..<Int.random(in: 1...4, using: &random) { mutate(&input, using: &random) }
            target.run(input)
        }
    }

    /// Numbers at which arithmetic ends, and what parsers look for.
    private static let words: [[UInt8]] =
        [
            "9223372036854775807", "9223372036854775808", "18446744073709551615", "-1", "0", "\r\n", "\"", "\\", "%",
            ";", "*",
        ].map { Array($0.utf8) } + [[0xff, 0xff, 0xff, 0xff], [0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], [0]]

    private func mutate(_ input: inout [UInt8], using random: inout SplitMix64) {
        let place = Int.random(in: 0...input.count, using: &random)
        switch Int.random(in: 0..<5, using: &random) {
        case 0: input.insert(contentsOf: Self.words.randomElement(using: &random) ?? [], at: place)
        case 1 where place < input.count: input[place] = UInt8.random(in: 0...255, using: &random)
        case 2: input.removeSubrange(place..<min(input.count, place + Int.random(in: 0...8, using: &random)))
        case 3 where place < input.count:
            let word = Self.words.randomElement(using: &random) ?? []
            input.replaceSubrange(place..<min(input.count, place + word.count), with: word)
        default: input += input[..<place]
        }
        if input.count > 65_536 { input.removeLast(input.count - 65_536) }
    }

    /// The inputs `Corpus/<target>/<any name>` beside this file; a fix of a parser adds the input that broke it.
    private func found(for name: String) throws -> [[UInt8]] {
        let directory = "\(#filePath)".replacing("FuzzTests.swift", with: "Corpus/\(name)")
        guard access(directory, F_OK) == 0 else { return [] }
        return try FileTree.entries(below: directory).map { try FileTree.read("\(directory)/\($0)") }
    }
}
