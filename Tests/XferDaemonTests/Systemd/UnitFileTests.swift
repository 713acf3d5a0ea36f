import Foundation
import Testing
import XferTestSupport

private let systemdAnalyze = ["/usr/bin/systemd-analyze", "/bin/systemd-analyze"]
    .first { FileManager.default.isExecutableFile(atPath: $0) }

@Suite struct UnitFileTests {
    /// `systemd/` at the top of the repository.
    private let directory = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../systemd")
        .standardizedFileURL

    private func unit(_ name: String) throws -> [String] {
        try String(contentsOf: directory.appending(path: name), encoding: .utf8)
            .split(separator: "\n").map(String.init).filter { !$0.hasPrefix("#") }
    }

    @Test func bothUnitsNotifyAreWatchedAndDoNotRestartOnADamagedDatabase() throws {
        for name in ["xferd.service", "user/xferd.service", "xfer-fleet.service"] {
            let lines = try unit(name)
            for line in [
                "Type=notify", "WatchdogSec=30", "RestartPreventExitStatus=78",
                "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK",
            ] { #expect(lines.contains(line), "\(name) lacks \(line)") }
            // In a user namespace every stranger looks like uid 65534.
            #expect(!lines.contains { $0.hasPrefix("PrivateUsers") }, "\(name)")
            // It answers ENOSYS to openat2, so no directory beneath a root could be opened.
            if name != "xfer-fleet.service" { #expect(!lines.contains { $0.hasPrefix("RestrictSUIDSGID") }, "\(name)") }
        }
    }

    @Test func theSystemUnitUsesTheDirectoriesThatTheProgramExpects() throws {
        let lines = try unit("xferd.service")
        for line in [
            "StateDirectory=xferd/state xferd/downloads", "RuntimeDirectory=xferd", "ConfigurationDirectory=xferd",
            "User=xferd", "UMask=0027",
        ] { #expect(lines.contains(line), "lacks \(line)") }
        #expect(try unit("xferd.socket").contains("ListenStream=/run/xferd/xferd.sock"))
        #expect(try unit("user/xferd.socket").contains("ListenStream=%t/xferd.sock"))
        #expect(try unit("xferd.sysusers").contains { $0.hasPrefix("u xferd ") })
    }

    @Test(.enabled(if: systemdAnalyze != nil))
    func systemdAnalyzeVerifyAcceptsTheUnits() async throws {
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

    @Test(arguments: ["", "user/"])
    func everyManualPageCitedByAUnitIsInstalled(subdirectory: String) throws {
        let installer = try String(contentsOf: directory.appending(path: "../scripts/install"), encoding: .utf8)
        for name in ["xferd.service", "xferd.socket"] {
            let cited = try unit(subdirectory + name).filter { $0.hasPrefix("Documentation=") }
                .flatMap { $0.dropFirst("Documentation=".count).split(separator: " ") }
            #expect(!cited.isEmpty)
            for uri in cited {
                let parts = uri.dropFirst("man:".count).split(whereSeparator: { "()".contains($0) })
                try #require(uri.hasPrefix("man:") && parts.count == 2, "\(uri)")
                #expect(installer.contains("share/man/man\(parts[1])/\(parts[0]).\(parts[1])"), "\(uri)")
            }
        }
    }

    @Test(
        .enabled(if: Command.find("mandoc") != nil),
        arguments: ["xferd.8", "xferd.yaml.5", "xfer-aria2c.1", "xfer-fleet.8"])
    func mandocAcceptsEveryManualPage(name: String) async throws {
        let page = directory.appending(path: "../man/\(name)").standardizedFileURL.path
        let result = try await Command.run(
            try #require(Command.find("mandoc")), ["-Tlint", "-W", "warning", page])
        #expect(result.isSuccess, "\(result)")
    }

    /// With programs that do nothing in the place of those that are built.
    @Test func uninstallingRemovesEveryInstalledFileAndNamesTheRemainingSteps() async throws {
        let copy = try TemporaryDirectory("xfer-install")
        for name in ["scripts", "systemd", "man", "contrib"] {
            try FileManager.default.copyItem(
                atPath: directory.appending(path: "../\(name)").standardizedFileURL.path, toPath: copy.file(name))
        }
        _ = try copy.makeDirectory(".build")
        let programs = try copy.makeDirectory(".build/release")
        for name in ["xferd", "xferctl", "xfer-fleet"] {
            try FileManager.default.copyItem(
                atPath: try #require(Command.find("true")), toPath: "\(programs)/\(name)")
        }
        let target = try copy.makeDirectory("target")
        func files() throws -> [String] {
            try FileManager.default.subpathsOfDirectory(atPath: target).filter { path in
                var isDirectory: ObjCBool = false
                return FileManager.default.fileExists(atPath: "\(target)/\(path)", isDirectory: &isDirectory)
                    && !isDirectory.boolValue
            }
        }
        let installed = try await Command.run(copy.file("scripts/install"), [target, "/usr"])
        #expect(installed.isSuccess && installed.errors.isEmpty, "\(installed)")
        #expect(installed.output.contains("systemd-sysusers") && installed.output.contains("daemon-reload"))
        let found = try files()
        for name in [
            "usr/bin/xferd", "usr/bin/xfer-aria2c", "usr/lib/systemd/system/xferd.service",
            "usr/share/man/man8/xferd.8",
            "usr/share/man/man5/xferd.yaml.5", "usr/share/man/man1/xferctl.1", "usr/lib/sysusers.d/xferd.conf",
        ] { #expect(found.contains(name), "\(found)") }
        let removed = try await Command.run(copy.file("scripts/install"), ["--remove", target, "/usr"])
        #expect(removed.isSuccess && removed.output.contains("daemon-reload"), "\(removed)")
        #expect(try files() == [])
    }

    @Test(.enabled(if: systemdAnalyze != nil))
    func theSystemUnitHasASecurityExposureOfAtMostTwo() async throws {
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
