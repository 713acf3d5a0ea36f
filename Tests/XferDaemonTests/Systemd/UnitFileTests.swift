import Foundation
import Testing
import XferTestSupport

private let systemdAnalyze = ["/usr/bin/systemd-analyze", "/bin/systemd-analyze"]
    .first { FileManager.default.isExecutableFile(atPath: $0) }

@Suite("The units")
struct UnitFileTests {
    /// `systemd/` at the top of the repository.
    private let directory = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../systemd")
        .standardizedFileURL

    private func unit(_ name: String) throws -> [String] {
        try String(contentsOf: directory.appending(path: name), encoding: .utf8)
            .split(separator: "\n").map(String.init).filter { !$0.hasPrefix("#") }
    }

    @Test("Both services notify, are watched, and are not started again on a damaged database")
    func services() throws {
        for name in ["xferd.service", "user/xferd.service"] {
            let lines = try unit(name)
            for line in [
                "Type=notify", "WatchdogSec=30", "RestartPreventExitStatus=78",
                "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK",
            ] { #expect(lines.contains(line), "\(name) lacks \(line)") }
            // In a user namespace every stranger looks like uid 65534.
            #expect(!lines.contains { $0.hasPrefix("PrivateUsers") }, "\(name)")
        }
    }

    @Test("The system's service keeps its things where the program looks for them")
    func systemService() throws {
        let lines = try unit("xferd.service")
        for line in [
            "StateDirectory=xferd/state xferd/downloads", "RuntimeDirectory=xferd", "ConfigurationDirectory=xferd",
            "User=xferd", "UMask=0027",
        ] { #expect(lines.contains(line), "lacks \(line)") }
        #expect(try unit("xferd.socket").contains("ListenStream=/run/xferd/xferd.sock"))
        #expect(try unit("user/xferd.socket").contains("ListenStream=%t/xferd.sock"))
        #expect(try unit("xferd.sysusers").contains { $0.hasPrefix("u xferd ") })
    }

    @Test("systemd finds nothing wrong with them", .enabled(if: systemdAnalyze != nil))
    func verify() async throws {
        for (subdirectory, options) in [("", [String]()), ("user/", ["--user"])] {
            let copies = try TemporaryDirectory()
            for name in ["xferd.service", "xferd.socket"] {
                // The program need not be installed where the tests run.
                let text = try String(contentsOf: directory.appending(path: subdirectory + name), encoding: .utf8)
                    .replacing("ExecStart=/usr/bin/xferd", with: "ExecStart=/bin/true")
                try text.write(toFile: copies.file(name), atomically: false, encoding: .utf8)
            }
            let result = try await analyze(
                options + ["verify", "--man=no", copies.file("xferd.service"), copies.file("xferd.socket")],
                runtimeDirectory: copies.path)
            #expect(result.isSuccess && result.output.isEmpty && result.errors.isEmpty, "\(subdirectory) \(result)")
        }
    }

    @Test("The system's service exposes at most 2.0", .enabled(if: systemdAnalyze != nil))
    func security() async throws {
        let result = try await analyze(
            ["security", "--offline=true", "--threshold=20", "--no-pager", directory.path + "/xferd.service"],
            runtimeDirectory: "/tmp")
        #expect(result.isSuccess, "\(result.description.suffix(400))")
    }

    /// On no thread of Swift's: it takes seconds, and nothing else would run meanwhile.
    private func analyze(_ arguments: [String], runtimeDirectory: String) async throws -> Command.Result {
        try await Command.run(
            try #require(systemdAnalyze), arguments,
            environment: ["PATH": "/usr/bin:/bin", "HOME": "/", "XDG_RUNTIME_DIR": runtimeDirectory])
    }
}
