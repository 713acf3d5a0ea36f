import Foundation
import Testing

/// The generated documents in `docs/reference` are those that the sources make.
struct ReferenceTests {
    private static let directory = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "docs/reference")
    private static let documents: [(name: String, text: @Sendable () throws -> String)] = [
        ("configuration.md", { try ConfigurationReference.text() }), ("rpc.md", { RPCReference.text }),
        ("events.md", { EventReference.text }), ("errors.md", { ErrorReference.text }),
        ("metrics.md", { MetricsReference.text }),
    ]

    /// `XFER_UPDATE_SCHEMA=1 swift test --filter ReferenceTests` writes the files.
    @Test(arguments: documents.map(\.name)) func theCommittedDocumentIsTheGeneratedOne(name: String) throws {
        let document = try #require(Self.documents.first { $0.name == name })
        let file = Self.directory.appending(path: name)
        let text = try document.text()
        if ProcessInfo.processInfo.environment["XFER_UPDATE_SCHEMA"] == "1" {
            try Data(text.utf8).write(to: file)
        }
        let isCurrent = try String(contentsOf: file, encoding: .utf8) == text
        #expect(
            isCurrent,
            "docs/reference/\(name) is stale: XFER_UPDATE_SCHEMA=1 swift test --filter ReferenceTests")
    }

    /// As the others; in `man/`, since `scripts/install` installs it.
    @Test func theCommittedManualPageIsTheGeneratedOne() throws {
        let file = Self.directory.appending(path: "../../man/xferd.yaml.5").standardizedFileURL
        let text = try ConfigurationManual.text()
        if ProcessInfo.processInfo.environment["XFER_UPDATE_SCHEMA"] == "1" {
            try Data(text.utf8).write(to: file)
        }
        let isCurrent = try String(contentsOf: file, encoding: .utf8) == text
        #expect(
            isCurrent, "man/xferd.yaml.5 is stale: XFER_UPDATE_SCHEMA=1 swift test --filter ReferenceTests")
    }

    @Test func theDirectoryHoldsOnlyDocumentsThatAreChecked() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.directory.path)
        // Its table is compared with what aria2p's tests come to.
        #expect(Set(names) == Set(Self.documents.map(\.name)).union(["aria2.md"]))
    }
}
