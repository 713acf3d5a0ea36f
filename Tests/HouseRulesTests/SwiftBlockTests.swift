import Testing

/// The Swift blocks of the documents are parts of files that are compiled and run by tests.
@Suite struct SwiftBlockTests {
    private let tree = SourceTree()

    @Test func everySwiftBlockIsInAFileThatIsCompiled() throws {
        let examples = try tree.swiftFiles(in: "Examples") + tree.swiftFiles(in: "Tests/EndToEndTests/Client")
        let directory = "docs/guide"
        var count = 0
        for document in try ["README.md"] + tree.names(in: directory).map({ "\(directory)/\($0)" }) {
            for block in Self.blocks(in: try tree.contents(of: document)) {
                count += 1
                let isCompiled = examples.contains { Self.contains($0.lines, block) }
                #expect(isCompiled, "\(document): no example has \(block.first ?? "")")
            }
        }
        #expect(count > 5)
    }

    @Test func everyExampleInADocumentationCommentIsInAFileThatIsCompiled() throws {
        let examples = try tree.swiftFiles(in: "Examples") + tree.swiftFiles(in: "Tests/EndToEndTests/Client")
        let compiled = Set(examples.flatMap(\.lines).map(Self.trimmed))
        let shown = try tree.swiftFiles(in: "Sources/XferClient").flatMap(\.lines).map(Self.trimmed)
            .filter { $0.hasPrefix("///     ") }.map { Self.trimmed($0.dropFirst(3)) }
        #expect(!shown.isEmpty)
        #expect(shown.filter { !compiled.contains($0) } == [])
    }

    private static func trimmed(_ line: Substring) -> Substring { line.drop { $0 == " " } }

    @Test func aBlockIsFoundOnlyAsWholeLinesInTheirOrder() {
        let lines: [Substring] = ["import A", "", "func f() {", "    g()", "}"]
        #expect(Self.contains(lines, ["func f() {", "    g()", "}"]))
        #expect(!Self.contains(lines, ["func f() {", "g()", "}"]))
        #expect(!Self.contains(lines, ["func f() {", "}"]))
        #expect(!Self.contains(lines, []))
        #expect(Self.blocks(in: "a\n```swift\nb\n\nc\n```\nd\n```sh\ne\n```\n") == [["b", "", "c"]])
    }

    private static func blocks(in text: String) -> [[Substring]] {
        var blocks: [[Substring]] = []
        var block: [Substring]?
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line == "```swift" {
                block = []
            } else if line == "```", let ended = block {
                blocks.append(ended)
                block = nil
            } else {
                block?.append(line)
            }
        }
        return blocks
    }

    private static func contains(_ lines: [Substring], _ block: [Substring]) -> Bool {
        guard !block.isEmpty, block.count <= lines.count else { return false }
        return (0...lines.count - block.count).contains { lines[$0..<$0 + block.count].elementsEqual(block) }
    }
}
