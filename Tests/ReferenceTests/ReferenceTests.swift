import Foundation
import Testing

@testable import XferDaemon

/// The generated documents in `docs/reference` are those that the sources make.
struct ReferenceTests {
    private static let directory = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "docs/reference")
    private static let documents: [(name: String, text: @Sendable () throws -> String)] = [
        ("configuration.md", { try ConfigurationReference.text() }), ("rpc.md", { RPCReference.text }),
        ("events.md", { EventReference.text }), ("errors.md", { ErrorReference.text }),
        ("metrics.md", { MetricsReference.text }), ("conformance.md", { try ConformanceReference.text() }),
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

    /// Those that `scripts/install` installs.
    private static let installed: [(name: String, text: @Sendable () throws -> String)] = [
        ("man/xferd.yaml.5", { try ConfigurationManual.text() }), ("man/xfer-aria2c.1", { Aria2Manual.text }),
        ("systemd/config.yaml", { try SampleConfiguration.text() }),
    ]

    @Test(arguments: installed.map(\.name)) func theCommittedFileIsTheGeneratedOne(name: String) throws {
        let document = try #require(Self.installed.first { $0.name == name })
        let file = Self.directory.appending(path: "../../\(name)").standardizedFileURL
        let text = try document.text()
        if ProcessInfo.processInfo.environment["XFER_UPDATE_SCHEMA"] == "1" {
            try Data(text.utf8).write(to: file)
        }
        let isCurrent = try String(contentsOf: file, encoding: .utf8) == text
        #expect(isCurrent, "\(name) is stale: XFER_UPDATE_SCHEMA=1 swift test --filter ReferenceTests")
    }

    @Test func theSampleConfigurationWithEveryKeySetIsThatOfTheDefaults() throws {
        let instance = try ConfigurationReference.systemPaths()
        let file = ConfigurationText(path: "config.yaml", text: try SampleConfiguration.uncommented())
        let loaded = try LoadedSettings(file: file, instance: instance)
        #expect(loaded.settings == Settings(defaultsFor: instance))
        for key in SettingKey.all {
            #expect(loaded.origin(of: key).description.hasPrefix("config.yaml"), "\(key.path)")
        }
    }

    @Test func theDirectoryHoldsOnlyDocumentsThatAreChecked() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.directory.path)
        // Its table is compared with what aria2p's tests come to.
        #expect(Set(names) == Set(Self.documents.map(\.name)).union(["aria2.md"]))
    }
}
