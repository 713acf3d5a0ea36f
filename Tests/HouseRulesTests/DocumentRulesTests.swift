import Testing

/// The form of the documents: how long they are, how wide, and where their links lead.
@Suite struct DocumentRulesTests {
    private let tree = SourceTree()

    private var documents: [String] {
        get throws {
            let directories = ["", "docs/", "docs/guide/", "docs/design/", "docs/reference/"]
            return try directories.flatMap { directory in
                try tree.names(in: directory).filter { $0.hasSuffix(".md") }.map { directory + $0 }
            }
        }
    }

    private func lines(of path: String) throws -> [Substring] {
        try tree.contents(of: path).split(separator: "\n", omittingEmptySubsequences: false)
    }

    @Test func theReadmeAndTheArchitectureDocumentAreShort() throws {
        #expect(try lines(of: "README.md").count <= 150)
        #expect(try lines(of: "ARCHITECTURE.md").count <= 200)
    }

    /// Tables cannot be broken, and generated documents take their lines from the sources.
    @Test func noLineOfADocumentIsLongerThanAHundredColumns() throws {
        let long = try documents.filter { !$0.hasPrefix("docs/reference/") }.flatMap { path in
            try lines(of: path).enumerated().filter { $0.element.count > 100 && !$0.element.hasPrefix("|") }
                .map { "\(path):\($0.offset + 1)" }
        }
        #expect(long == [])
    }

    @Test func everyRelativeLinkLeadsToAFile() throws {
        var broken: [String] = []
        for path in try documents {
            let directory = path.split(separator: "/").dropLast().map(String.init)
            for link in Self.links(in: try tree.contents(of: path)) where !link.contains("://") {
                let target = link.prefix { $0 != "#" }
                guard !target.isEmpty else { continue }
                let resolved = Self.resolved(directory + target.split(separator: "/").map(String.init))
                if (try? tree.contents(of: resolved)) == nil { broken.append("\(path): \(link)") }
            }
        }
        #expect(broken == [])
    }

    private static func links(in text: String) -> [Substring] {
        text.split(separator: "](").dropFirst().map { $0.prefix { $0 != ")" } }
    }

    private static func resolved(_ parts: [String]) -> String {
        var path: [String] = []
        for part in parts {
            if part == ".." { path = path.dropLast() } else { path.append(part) }
        }
        return path.joined(separator: "/")
    }
}
