import Testing

/// What no file of the project may hold, and what some have to say.
@Suite struct SourceRulesTests {
    private let tree = SourceTree()

    /// Lines of code that break a rule, as `path:line`.
    private func lines(in directories: [String], where isBroken: (Substring) -> Bool) throws -> [String] {
        try directories.flatMap { try tree.swiftFiles(in: $0) }.flatMap { file in
            file.lines.enumerated().filter { isBroken($0.element) }
                .map { "\(file.path):\($0.offset + 1): \($0.element.drop { $0 == " " })" }
        }
    }

    @Test func noSourceForcesATryOrACast() throws {
        let forced = ["try" + "!", "as" + "! "]
        #expect(try lines(in: ["Sources"]) { line in forced.contains { line.holds($0) } } == [])
    }

    @Test func noFileHasAMarkForLaterWork() throws {
        let marks = ["TO" + "DO", "FIX" + "ME", "// XX" + "X"]
        #expect(try lines(in: ["Sources", "Tests"]) { line in marks.contains { line.holds($0) } } == [])
    }

    /// A test waits for a fact. One whose subject is time itself says so in a comment that begins with `Sleeps:`; a
    /// limit of `Patience` ends only failing tests.
    @Test func aTestSleepsOnlyWhereItSaysWhy() throws {
        let sleeps = ["Task" + ".sleep(", "Thread" + ".sleep(", "usleep" + "("]
        let silent = try tree.swiftFiles(in: "Tests").flatMap { file in
            file.lines.indices.filter { index in
                sleeps.contains { file.lines[index].holds($0) } && !file.lines[index].holds("Patience.")
                    && !file.lines[max(0, index - 3)..<index].contains { $0.holds("// Sleeps: ") }
            }.map { "\(file.path):\($0 + 1)" }
        }
        #expect(silent == [])
    }

    @Test func noSourceUsesAMutexThatThreadSanitizerMisreads() throws {
        #expect(try lines(in: ["Sources"]) { $0.holds("import Synchronization") } == [])
    }

    @Test func uncheckedSendabilityStatesItsArgument() throws {
        let claims = ["@unchecked" + " Sendable", "nonisolated" + "(unsafe)"]
        let silent = try tree.swiftFiles(in: "Sources").flatMap { file in
            file.lines.indices.filter { index in
                claims.contains { file.lines[index].contains($0) } && !file.lines[index].contains("//")
                    && !file.lines[max(0, index - 3)..<index].contains { $0.drop { $0 == " " }.hasPrefix("//") }
            }.map { "\(file.path):\($0 + 1)" }
        }
        #expect(silent == [])
    }

    /// What is given to `write` may be executed several times, or rolled back after its last line: an effect outside of the
    /// transaction would come again, or for nothing.
    @Test func noTransactionHasAnEffectOutsideOfIt() throws {
        let writes = [".write {", ".write(.", ".write(each"]
        let effects = [
            "withLockedValue", "withLock ", "withLock(", " Task {", "logger.", "metrics.", "delegate?", ".resume(",
            ".yield(", "schedule()", "await ",
        ]
        func indentation(_ line: Substring) -> Int { line.prefix { $0 == " " }.count }
        func hasEffect(_ line: Substring) -> Bool {
            !line.drop { $0 == " " }.hasPrefix("//") && effects.contains { line.holds($0) }
        }
        var found: [String] = []
        for file in try tree.swiftFiles(in: "Sources") where file.target != "XferTestSupport" {
            for (index, line) in file.lines.enumerated() {
                let isExtension =
                    line.hasPrefix("extension StoreTransaction") || line.hasSuffix(" where Store == StoreTransaction {")
                guard isExtension || writes.contains(where: { line.holds($0) }) else { continue }
                let depth = indentation(line)
                var block = isExtension ? [] : line.split(separator: ".write").suffix(1)
                block += file.lines[(index + 1)...].prefix { $0.isEmpty || indentation($0) > depth }
                let first = index + (isExtension ? 2 : 1)
                found += block.enumerated().filter { hasEffect($0.element) }.map { "\(file.path):\(first + $0.offset)" }
            }
        }
        #expect(found == [])
    }

    /// Errors are logged and shown: without a description of its own one would be shown as Swift's text of its fields.
    @Test func everyErrorDescribesItself() throws {
        let files = try tree.swiftFiles(in: "Sources").filter { $0.target != "XferTestSupport" }
        var undescribed: Set<Substring> = []
        var described: Set<Substring> = []
        for line in files.flatMap(\.lines) {
            if line.holds("CustomStringConvertible") {
                if let name = line.firstMatch(of: /\bextension (?:\w+\.)*(\w+):/)?.output.1 { described.insert(name) }
            } else if line.holds("Error"),
                let name = line.firstMatch(of: /\b(?:struct|enum|class) (\w+): (?:.* )?Error\b[^.]/)?.output.1
            {
                undescribed.insert(name)
            }
        }
        #expect(undescribed.subtracting(described) == [])
    }

    @Test func theTopLevelHoldsOnlyKnownFiles() throws {
        let belongs: Set<String> = [
            "Package.swift", "Sources", "Tests", "Benchmarks", "rpc-schema", "systemd", "man", "docs", "scripts", ".ci",
            "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "CODE_OF_CONDUCT.md",
            "LICENSE", "Makefile",
            ".swift-format", ".gitignore", "debian", "clients", "Examples", "contrib",
        ]
        // Not part of the project: the repository itself and what .gitignore names.
        let ignored: Set<String> = [".git", ".build", ".swiftpm", "Package.resolved"]
        #expect(Set(try tree.names(in: "")).subtracting(ignored).subtracting(belongs) == [])
    }

    @Test func theMedianSourceFileIsShort() throws {
        let sizes = try tree.swiftFiles(in: "Sources").map(\.lines.count).sorted()
        #expect(sizes[sizes.count / 2] <= 120)
    }

    @Test func theExecutableTargetsAreShort() throws {
        for target in ["xferd", "xferctl"] {
            #expect(try tree.swiftFiles(in: "Sources/\(target)").map(\.lines.count).reduce(0, +) < 80)
        }
    }

    /// The function's name is the only name of a test: it appears in every report and finds the test with `--filter`.
    @Test func testsAndSuitesHaveNeitherDisplayNamesNorBackticks() throws {
        let attributes = ["@Test" + "(", "@Suite" + "("]
        let named = try tree.swiftFiles(in: "Tests").flatMap { file in
            file.lines.indices.filter { index in
                let line = file.lines[index]
                let next = file.lines[min(index + 1, file.lines.count - 1)].drop { $0 == " " }
                return line.holds("func " + "`")
                    || attributes.contains { line.holds($0 + "\"") || line.hasSuffix($0) && next.hasPrefix("\"") }
            }.map { "\(file.path):\($0 + 1)" }
        }
        #expect(named == [])
    }
}
