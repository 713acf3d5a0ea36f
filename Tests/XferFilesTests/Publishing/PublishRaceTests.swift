import Testing
import XferModel

@testable import XferFiles

@Suite struct PublishRaceTests {
    /// A rename that replaces nothing, a link, or a placeholder.
    @Test(arguments: [[], [.exclusiveRename], [.exclusiveRename, .hardLinks]] as [Set<FileSystemTraits.Feature>])
    func concurrentPublishersOfOneNameGetDistinctNames(lacking: Set<FileSystemTraits.Feature>) async throws {
        let base = try TestDirectory()
        let directory = try base.handle(lacking: lacking)
        let publisher = Publisher(directory: directory)
        let pool = BlockingPool(threadCount: 16)
        let names = try await withThrowingTaskGroup(of: String.self) { group in
            for number in 0..<100 {
                group.addTask {
                    try await pool.run {
                        try publish(number, of: publisher, policy: .rename)
                    }
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        let expected = (0..<100).map { $0 == 0 ? "file.txt" : "file (\($0)).txt" }
        #expect(names.sorted() == expected.sorted())
        #expect(try base.names() == expected.sorted())
        #expect(Set(expected.compactMap(base.read)) == Set((0..<100).map { "content \($0)" }))
    }

    @Test func concurrentOverwritingLeavesOneWholeFile() async throws {
        let base = try TestDirectory()
        let publisher = Publisher(directory: try base.handle())
        let pool = BlockingPool(threadCount: 16)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<100 {
                group.addTask {
                    _ = try await pool.run {
                        try publish(number, of: publisher, policy: .overwrite)
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try base.names() == ["file.txt"])
        #expect(base.read("file.txt")?.hasPrefix("content ") == true)
    }
}

/// One publish from making the part to syncing the directory; the name it got.
private func publish(_ number: Int, of publisher: Publisher, policy: ConflictPolicy) throws -> String {
    let text = "content \(number)"
    let partName = ".xfer-\(number).part"
    let (part, _) = try makePart(partName, text, in: publisher.directory, as: "")
    try publisher.prepare(part, Publisher.Attributes(length: Int64(text.utf8.count), mode: 0o644))
    while true {
        guard case .publish(let name, let isReplacing) = try publisher.chooseName(for: "file.txt", policy: policy)
        else { throw FileError.cancelled }
        let intent = PublishIntent(finalName: name, part: try part.facts())
        let outcome = try publisher.rename(partName, as: intent, isReplacing: isReplacing)
        if outcome == .published { return name }
    }
}
