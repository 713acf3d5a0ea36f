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

    /// What documents for contributors show as code: a type or a module, alone or before its member, or a Swift file.
    @Test func everyTypeAndFileThatADocumentNamesExists() throws {
        let files = try ["Sources", "Tests"].flatMap { try tree.swiftFiles(in: $0) }
        let paths = files.map(\.path) + ["Package.swift"]
        var known = Self.foreign.union(try ["Sources", "Tests", ""].flatMap { try tree.names(in: $0) })
        var members: Set<Substring> = []
        for line in files.flatMap(\.lines) where Self.declares(line) {
            // By bytes: characters take long.
            let words = line.utf8.split { !Self.isOfName($0) }.map { Substring($0) }
            for (keyword, name) in zip(words, words.dropFirst()) {
                if Self.typeKeywords.contains(keyword) { known.insert(String(name)) }
                if Self.memberKeywords.contains(keyword) { members.insert(name) }
            }
        }
        known.formUnion(paths.map { String($0.split(separator: "/").last?.prefix { $0 != "." } ?? "") })
        let documents = try documents.filter { path in
            path.hasPrefix("docs/design/") || ["ARCHITECTURE.md", "CONTRIBUTING.md"].contains(path)
        }
        var unknown: [String] = []
        for path in documents {
            for code in Self.inlineCode(of: try lines(of: path)) {
                if code.hasSuffix(".swift"), !code.contains(" ") {
                    let isFile = Self.foreign.contains(String(code)) || paths.contains { $0.hasSuffix(code) }
                    if !isFile { unknown.append("\(path): \(code)") }
                } else if let match = code.wholeMatch(of: /([A-Z]\w*[a-z]\w*)(?:\.([a-z]\w*)(?:\([\w:]*\))?)?/) {
                    let isMember = match.output.2.map(members.contains) ?? true
                    if !known.contains(String(match.output.1)) || !isMember { unknown.append("\(path): \(code)") }
                }
            }
        }
        #expect(unknown == [])
    }

    private static let typeKeywords: Set<Substring> = ["struct", "class", "enum", "actor", "protocol", "typealias"]
    private static let memberKeywords: Set<Substring> = ["func", "var", "let", "case"]

    /// Types of Swift, C and Python, an error of S3, and the pattern of a name.
    private static let foreign: Set<String> = [
        "Bench", "Bool", "ContinuousClock", "ExecutorFactory", "ExpiredToken", "Outcome", "PQbackendPID", "Task",
        "TimeZone", "Type+Concept.swift",
    ]

    private static func declares(_ line: Substring) -> Bool {
        line.holds("func ") || line.holds("var ") || line.holds("let ") || line.holds("case ")
            || typeKeywords.contains { line.holds(String($0)) }
    }

    private static func isOfName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: false
        }
    }

    /// The texts between backticks, outside of code blocks.
    private static func inlineCode(of lines: [Substring]) -> [Substring] {
        var isBlock = false
        return lines.flatMap { line -> [Substring] in
            if line.hasPrefix("```") { isBlock.toggle() }
            guard !isBlock else { return [] }
            let parts = line.split(separator: "`", omittingEmptySubsequences: false)
            return parts.indices.filter { $0 % 2 == 1 && $0 < parts.count - 1 }.map { parts[$0] }
        }
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
