import Foundation
import Testing

/// `Sources/XferModel/XferVersion.swift` is the one place of the version; what other tools read follows it.
@Suite struct VersionTests {
    private func text(_ path: String) throws -> String {
        try String(contentsOfFile: "\(SourceTree().root)/\(path)", encoding: .utf8)
    }

    private func version() throws -> String {
        let source = try text("Sources/XferModel/XferVersion.swift")
        return String(try #require(source.firstMatch(of: /current = "([^"]+)"/)).1)
    }

    @Test func theVersionIsSemantic() throws {
        #expect(try version().wholeMatch(of: /\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?/) != nil)
    }

    @Test func thePythonClientHasTheVersionOfThePrograms() throws {
        // 1.0.0-rc.2 is 1.0.0rc2 there (PEP 440).
        let expected = try version().replacing("-rc.", with: "rc")
        #expect(try text("clients/python/pyproject.toml").contains("\nversion = \"\(expected)\"\n"))
        #expect(try text("clients/python/src/xfer/__init__.py").contains("\n__version__ = \"\(expected)\"\n"))
    }

    @Test func theNewestEntryOfTheChangeLogIsThisVersion() throws {
        let heading = try text("CHANGELOG.md").split(separator: "\n").first { $0.hasPrefix("## ") }
        #expect(heading?.hasPrefix("## \(try version()) (") == true)
    }
}
