import StrictJSON
import Testing
import XferTestSupport

/// A configuration that says nothing is a configuration.
@Suite struct DefaultsTests {
    @Test func anEmptyConfigurationStartsAndEveryDefaultIsShown() async throws {
        var options = DaemonFixture.Options()
        options.configuration = ""
        try await withDaemon(options) { daemon in
            let shown = try await daemon.call("daemon.config")["settings"]?.arrayValue ?? []
            #expect(shown.allSatisfy { $0["origin"] == "default" }, "\(shown.filter { $0["origin"] != "default" })")
            let values = Dictionary(
                shown.map { ($0["key"]?.stringValue ?? "", $0["value"] ?? .null) },
                uniquingKeysWith: { first, _ in first })
            #expect(values.count == shown.count)
            for (key, value) in Self.defaults { #expect(values[key] == value, "\(key)") }
            #expect(values["download.dir"] == .string("\"\(daemon.directory.path)/Downloads\""))

            // The same settings as the program prints, and a task runs with them.
            let printed = try await Command.run(
                "\(try Command.productsDirectory)/xferd", daemon.arguments + ["--print-config"],
                environment: daemon.environment)
            for key in values.keys {
                let last = key.split(separator: ".").last.map(String.init) ?? key
                #expect(printed.output.contains("\(last):"), "\(key) is not printed")
            }
            let server = try await FaultServer()
            let source = SourceVersion.tagged(190, length: 1000)
            server.serve("/f", source)
            try expectFile(try await daemon.complete(try await daemon.add(server.url("/f"))), is: source)
        }
    }

    /// As the configuration file may hold them.
    private static let defaults: [String: JSONValue] = [
        "queue.max_active": "auto", "queue.max_active_per_host": "auto", "queue.order": "fifo",
        "queue.retry_for": "86400", "queue.polite": "true",
        "download.reserve": "256Mi", "profiles": "{}", "trust.policies": "[]", "rpc.max_clients": "256",
        "log.level": "info",
    ]
}
