import Glibc
import StrictJSON
import Testing
import XferTestSupport

/// A configuration that appears or changes while xferd runs, and `--check-config`.
@Suite struct ConfigurationReloadTests {
    @Test func aConfigurationThatAppearsLaterIsTakenOver() async throws {
        let home = try TemporaryDirectory("home")
        var options = DaemonFixture.Options()
        // The fixture names its own file; this daemon looks where a user's looks.
        options.environment = ["HOME": home.path, "XDG_CONFIG_HOME": home.file("config")]
        options.launcher = ["/bin/sh", "-c", "program=$1; shift 3; exec \"$program\" \"$@\"", "sh"]
        try await withDaemon(options) { daemon in
            let unset = try await daemon.call("queue.stats")["limits"]?["max_active"]
            #expect(unset != 3)
            #expect(mkdir(home.file("config"), 0o755) == 0)
            #expect(mkdir(home.file("config/xferd"), 0o755) == 0)
            try FileTree.write("queue: { max_active: 3 }\n", to: home.file("config/xferd/config.yaml"))
            try await eventually("the file is found") {
                try await daemon.call("queue.stats")["limits"]?["max_active"] == 3
            }
            // The directory goes, and comes back.
            FileTree.remove(home.file("config"))
            try await eventually("the file is gone") {
                try await daemon.call("queue.stats")["limits"]?["max_active"] == unset
            }
            #expect(mkdir(home.file("config"), 0o755) == 0)
            #expect(mkdir(home.file("config/xferd"), 0o755) == 0)
            try FileTree.write("queue: { max_active: 4 }\n", to: home.file("config/xferd/config.yaml"))
            try await eventually("the file is found again") {
                try await daemon.call("queue.stats")["limits"]?["max_active"] == 4
            }
        }
    }

    @Test func statusAndDoctorNameTheKeysThatWaitForARestart() async throws {
        try await withDaemon { daemon in
            #expect(try await daemon.call("daemon.status")["restart_keys"] == nil)
            try daemon.configure(["rpc": ["max_line": "64Ki"], "engine": ["loops": "2"]])
            daemon.reload()
            let keys = try await eventually("the keys are known") {
                try await daemon.call("daemon.status")["restart_keys"]
            }
            #expect(keys == ["engine.loops", "rpc.max_line"])
            let status = try await daemon.ctl("status")
            #expect(status.output.contains("needed by engine.loops, rpc.max_line"), "\(status)")
            let doctor = try await daemon.ctl("doctor")
            #expect(doctor.output.contains("engine.loops, rpc.max_line of the configuration file"), "\(doctor)")
            try await daemon.stop()
            try await daemon.start()
            #expect(try await daemon.call("daemon.status")["restart_keys"] == nil)
        }
    }

    @Test func aTimetableThatAClientsLimitBeatsIsReported() async throws {
        try await withDaemon { daemon in
            _ = try await daemon.call("queue.set_limits", ["max_recv_rate": 500_000])
            try daemon.configure(["bandwidth": ["timetable": "[\"00:00 1M\"]"]])
            daemon.reload()
            try await eventually("the log says so") {
                daemon.log.split(separator: "\n").contains {
                    $0.contains("not in force") && $0.contains("bandwidth.timetable")
                        && $0.contains("xferctl limit --recv default")
                }
            }
            let doctor = try await daemon.ctl("doctor")
            #expect(doctor.output.contains("bandwidth.timetable is not in force for max_recv_rate"), "\(doctor)")
            _ = try await daemon.ctl("limit", "--recv", "default")
            #expect(try await daemon.call("queue.stats")["limits"]?["max_recv_rate"] == 1_000_000)
        }
    }

    @Test func aReloadThatFailedForAMissingFileIsRepeatedWhenTheFileIsThere() async throws {
        let directory = try TemporaryDirectory("pins")
        // Neither the file nor its directory exists yet.
        let pins = directory.file("later/pin.pem")
        let certificate = try TestCA.selfSigned().certificate
        try await withDaemon { daemon in
            let policy = "[{name: bank, mode: certificate, hosts: [bank.test], pins: [\"\(pins)\"]}]"
            try daemon.configure(["trust": ["policies": policy]])
            try await eventually("it is refused") {
                try await daemon.call("daemon.status")["config_problem"]?.stringValue?.contains(pins) == true
            }
            #expect(mkdir(directory.file("later"), 0o755) == 0)
            try FileTree.write(certificate, to: pins)
            try await eventually("it is read without a change of config.yaml") {
                try await daemon.policyNames == ["bank", "default"]
            }
            try await eventually("nothing is wrong") {
                try await daemon.call("daemon.status")["config_problem"] == nil
            }
        }
    }

    @Test func aStartWithAPolicyThatWasAlsoSetOverRPCIsPossibleAndSaysTheWayOut() async throws {
        try await withDaemon { daemon in
            let policy: JSONValue = ["name": "nas", "hosts": ["nas.test"]]
            _ = try await daemon.call("policy.set", ["policy": policy])
            _ = try await daemon.call("profile.set", ["profile": ["name": "mirror", "max_active": 2]])
            try await daemon.stop()
            try daemon.configure([
                "trust": ["policies": "[{name: nas, hosts: [other.test]}]"],
                "profiles": ["mirror": "{ max_active: 3 }"],
            ])
            try await daemon.start()
            let conflicts = try await daemon.call("daemon.status")["config_conflicts"]?.arrayValue ?? []
            #expect(conflicts.count == 2, "\(conflicts)")
            #expect(daemon.log.contains("xferctl policy remove nas"))
            let doctor = try await daemon.ctl("doctor")
            #expect(doctor.output.contains("(xferctl policy remove nas)"), "\(doctor)")
            #expect(doctor.output.contains("(xferctl profile remove mirror)"), "\(doctor)")
            #expect(try await daemon.call("policy.get", ["name": "nas"])["policy"]?["hosts"] == ["nas.test"])
            // As long as both are there, a reload is refused, and the profile set over RPC stays.
            daemon.reload()
            try await eventually("it is refused") { daemon.log.contains("was not applied") }
            #expect(try await daemon.call("profile.get", ["name": "mirror"])["profile"]?["max_active"] == 2)
            #expect(try await daemon.ctl("policy", "remove", "nas").isSuccess)
            #expect(try await daemon.ctl("profile", "remove", "mirror").isSuccess)
            daemon.reload()
            try await eventually("the file is in force") {
                try await daemon.call("daemon.status")["config_conflicts"] == nil
            }
            #expect(try await daemon.call("policy.get", ["name": "nas"])["policy"]?["hosts"] == ["other.test"])
            #expect(try await daemon.call("profile.get", ["name": "mirror"])["profile"]?["max_active"] == 3)
        }
    }

    @Test func usersThatAReloadLetsInCanReachTheSocket() async throws {
        try await withDaemon { daemon in
            #expect(FileTree.mode(daemon.socket) == 0o600)
            try daemon.configure(["access": ["users": "{ nobody: { roots: [\"\(daemon.downloads)\"] } }"]])
            daemon.reload()
            try await eventually("the socket is open") { FileTree.mode(daemon.socket) == 0o666 }
            try daemon.configure([:])
            daemon.reload()
            try await eventually("the socket is closed") { FileTree.mode(daemon.socket) == 0o600 }
        }
    }

    @Test func checkConfigSaysThatThereIsNoFileAndRefusesUnknownUsers() async throws {
        let home = try TemporaryDirectory("home")
        func check(_ arguments: String...) async throws -> Command.Result {
            try await Command.run(
                "\(Command.productsDirectory)/xferd", ["--check-config"] + arguments,
                environment: ["HOME": home.path, "PATH": "/usr/bin:/bin"].merging(Command.sanitizerOptions) { $1 })
        }
        let none = try await check()
        #expect(none.isSuccess && none.output.contains("config.yaml: there is no such file"), "\(none)")
        let file = home.file("c.yaml")
        try FileTree.write("access: { users: { nobody-has-this-name: { roots: [/srv] } } }\n", to: file)
        let unknown = try await check("--config", file)
        #expect(unknown.exit == .code(2), "\(unknown)")
        #expect(unknown.errors.contains("access.users.nobody-has-this-name: there is no such user"), "\(unknown)")
        try FileTree.write(
            """
            access:
              users:
                nobody-has-this-name: { roots: [/srv] }
                "65534": { roots: [/srv] }
            hooks: { scan: { argv: [/nonexistent/program] } }
            queue: { max_activ: 3 }
            trust: { ca_file: /nonexistent/ca.pem }
            """, to: file)
        let all = try await check("--config", file)
        #expect(all.exit == .code(2), "\(all)")
        for fault in [
            "c.yaml:3:27: access.users.nobody-has-this-name: there is no such user",
            "access.users.65534: uid 65534 represents every unknown user", "hooks.scan.argv: the program /nonexistent",
            "queue.max_activ: unknown key, did you mean queue.max_active?", "trust.ca_file: /nonexistent/ca.pem does",
        ] { #expect(all.errors.contains(fault), "\(fault) in \(all)") }
        try FileTree.write(
            "listen: [{ address: \"127.0.0.1:6899\", tls: { certificate: /nonexistent/c.pem, key: /nonexistent/k.pem } }]\n",
            to: file)
        let missing = try await check("--config", file)
        #expect(missing.exit == .code(2) && missing.errors.contains("No such file or directory"), "\(missing)")
    }
}
