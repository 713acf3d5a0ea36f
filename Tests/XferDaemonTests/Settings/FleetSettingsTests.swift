import Testing

@testable import XferDaemon

@Suite struct FleetSettingsTests {
    @Test(
        arguments: [
            "postgresql://xfer:secret@db.test/xfer", "postgresql://db.test/xfer?password=secret",
            "host=db.test password=secret", "host=db.test password = secret", "postgres://u:p@h",
            "postgresql://db.test/xfer?pass%77ord=secret", "host=h sslpassword=secret",
        ])
    func aDatabaseAddressWithAPasswordIsRefusedWithoutRepeatingIt(address: String) throws {
        let found = try problems(of: "fleet:\n  database: \"\(address)\"\n")
        #expect(
            found == [
                "/c.yaml:2:13: fleet.database: it contains a password, which belongs in fleet.password_file"
            ])
    }

    @Test(arguments: ["postgresql://xfer@db.test:5433/xfer", "host=/run/postgresql dbname=xfer", "postgresql:///xfer"])
    func aDatabaseAddressWithoutAPasswordIsTaken(address: String) throws {
        #expect(try load("fleet:\n  database: \"\(address)\"\n").settings.fleet.database == address)
    }

    @Test func faultsOfTheFleetNameTheirLines() throws {
        let found = try problems(
            of: "fleet:\n  node: a b\n  labels: [ok, \"storage:x\"]\n  slots: 0\n  database: db.test\n  nod: a\n")
        #expect(found.count == 5)
        for (line, fault) in zip(
            ["2:9: fleet.node", "3:16: fleet.labels", "4:10: fleet.slots", "5:13: fleet.database"], found)
        {
            #expect(fault.hasPrefix("/c.yaml:\(line): expected"), "\(fault)")
        }
        #expect(found.last == "/c.yaml:6:3: fleet.nod: unknown key, did you mean fleet.node?")
    }

    @Test func theSystemsInstanceFindsItsDaemonAndItsSocketByItself() throws {
        let system = try InstancePaths(environment: ["HOME": "/", "STATE_DIRECTORY": "/var/lib/xferd"], uid: 990)
        #expect(Settings(defaultsFor: system).fleet.socket == "/run/xfer-fleet/xfer-fleet.sock")
        #expect(Settings(defaultsFor: system).fleet.daemon == "/run/xferd/xferd.sock")
        let user = try userInstance()
        #expect(Settings(defaultsFor: user).fleet.socket == "/run/user/1000/xfer-fleet.sock")
        #expect(Settings(defaultsFor: user).fleet.daemon == "/run/user/1000/xferd.sock")
    }
}
