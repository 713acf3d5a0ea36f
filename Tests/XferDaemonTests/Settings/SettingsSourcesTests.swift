import Logging
import Testing
import XferManager
import XferModel

@testable import XferDaemon

@Suite struct SettingsSourcesTests {
    @Test func aFlagOverridesTheEnvironmentThatTheFileAndThatTheDefault() throws {
        let yaml = "queue: { max_active: 2, max_active_per_host: 2, retry_for: 2 }"
        let environment = ["XFERD_QUEUE_MAX_ACTIVE": "3", "XFERD_QUEUE_MAX_ACTIVE_PER_HOST": "3"]
        let loaded = try load(yaml, environment: environment, flags: ["queue.max_active": "4"])
        #expect(loaded.settings.service.maxActive == 4)
        #expect(loaded.settings.service.maxActivePerHost == 3)
        #expect(loaded.settings.service.retryFor == .seconds(2))
        #expect(loaded.settings.service.order == .fifo)
        let origins = SettingKey.all.prefix(4).map { loaded.origin(of: $0).description }
        #expect(
            origins == ["command line", "environment XFERD_QUEUE_MAX_ACTIVE_PER_HOST", "default", "/c.yaml:1"])
    }

    @Test(
        arguments: SettingKey.all.map(\.path))
    func everyKeyCanBeSetThroughItsVariableWithItsPrintedValue(path: String) throws {
        let key = try #require(SettingKey.named(path))
        let changed = try load(everyKeyChanged).settings
        var text = key.write(changed)
        if key.isScalar, text.hasPrefix("\"") { text = String(text.dropFirst().dropLast()) }
        var environment = [key.environmentName: text]
        // The directory has to lie beneath the roots, so they go together.
        environment["XFERD_DOWNLOAD_ROOTS"] = environment["XFERD_DOWNLOAD_ROOTS"] ?? "~:/srv/data"
        let loaded = try LoadedSettings(environment: environment, instance: userInstance())
        #expect(key.isEqual(loaded.settings, changed))
        #expect(loaded.origin(of: key) == .environment(variable: key.environmentName))
    }

    @Test func namesOfKeysAndVariablesAreDistinctAndFollowOnePattern() {
        #expect(Set(SettingKey.all.map(\.path)).count == SettingKey.all.count)
        #expect(Set(SettingKey.all.map(\.environmentName)).count == SettingKey.all.count)
        #expect(SettingKey.named("queue.max_active")?.environmentName == "XFERD_QUEUE_MAX_ACTIVE")
    }

    @Test func aBadVariableOrFlagIsNamedInTheError() throws {
        let variable = try problems(of: "", environment: ["XFERD_RPC_MAX_CLIENTS": "many"])
        #expect(
            variable == [
                "environment XFERD_RPC_MAX_CLIENTS: rpc.max_clients: expected an integer from 1 to 65536, found \"many\""
            ])
        let flag = try problems(of: "", flags: ["queue.max_activ": "1"])
        #expect(flag == ["command line: queue.max_activ: unknown key, did you mean queue.max_active?"])
        let flow = try problems(of: "", environment: ["XFERD_ACCESS_USERS": "{bob: "])
        #expect(flow.first?.hasPrefix("environment XFERD_ACCESS_USERS: access.users: not YAML") == true)
    }

    @Test func emptyVariablesAreUnsetAndMisspeltOnesWarnedAbout() throws {
        let environment = [
            "XFERD_QUEUE_ORDER": "", "XFERD_QUEUE_MAXACTIVE": "3", "XFERD_SOCKET": "/s", "QUEUE_ORDER": "x",
        ]
        let loaded = try load("", environment: environment)
        #expect(loaded.settings == Settings(defaultsFor: try userInstance()))
        #expect(
            loaded.warnings == [
                "the environment variable XFERD_QUEUE_MAXACTIVE is unknown, did you mean XFERD_QUEUE_MAX_ACTIVE?"
            ])
    }

    @Test func printedSettingsAreReadBackUnchanged() throws {
        let loaded = try load(everyKeyChanged)
        #expect(try load(loaded.yaml).settings == loaded.settings)
        let defaults = try LoadedSettings(instance: userInstance())
        #expect(try load(defaults.yaml).settings == defaults.settings)
        #expect(try load(SettingKey.reference(for: userInstance())).settings == defaults.settings)
    }

    @Test func printedSettingsNameTheSourceOfEachValue() throws {
        let loaded = try load("queue:\n  max_active: 2\n", environment: ["XFERD_LOG_LEVEL": "error"])
        let lines = loaded.yaml.split(separator: "\n").map(String.init)
        #expect(
            lines.prefix(3) == ["queue:", "  max_active: 2  # /c.yaml:2", "  max_active_per_host: auto  # default"])
        #expect(lines.contains("  level: error  # environment XFERD_LOG_LEVEL"))
        #expect(lines.contains("  reserve: 256Mi  # default"))
    }

    @Test func pathsWithQuotesAndLineBreaksSurvivePrinting() throws {
        let root = "/srv/a \"b\"\\\n\t: #é"
        let loaded = try load("", flags: ["download.dir": root + "/x", "download.roots": "[\(YAMLText.quoted(root))]"])
        #expect(loaded.settings.service.roots == [root])
        #expect(try load(loaded.yaml).settings == loaded.settings)
    }

    @Test func aReloadAppliesWhatItCanAndKeepsTheRestUntilARestart() throws {
        let before = try load("")
        let after = try load(everyKeyChanged)
        let reload = before.reload(to: after)
        #expect(
            reload.waitingForRestart == [
                "download.checkpoint_bytes", "download.checkpoint_interval", "download.segments",
                "download.min_recv_rate", "download.min_recv_time", "trust.ca_file",
                "engine.loops", "rpc.max_line", "rpc.max_clients", "rpc.max_clients_per_user", "rpc.reserved_clients",
                "rpc.request_timeout", "rpc.max_waiting", "rpc.max_waiting_per_user", "rpc.max_in_flight",
                "listen", "gateway.max_clients", "gateway.aria2", "redaction.names", "log.format",
                "fleet.database", "fleet.password_file", "fleet.node", "fleet.labels", "fleet.storages", "fleet.slots",
                "fleet.socket", "fleet.listen", "fleet.daemon",
            ])
        #expect(reload.applied.count + reload.waitingForRestart.count == SettingKey.all.count)
        #expect(reload.inForce.settings.service.order == after.settings.service.order)
        #expect(reload.inForce.settings.service.engineLoops == before.settings.service.engineLoops)
        #expect(reload.inForce.settings.rpc == before.settings.rpc)
        #expect(reload.inForce.settings.log.level == .debug)
        #expect(reload.inForce.settings.log.format == .auto)
        #expect(reload.inForce.origins["rpc.max_line"] == nil)
        #expect(reload.inForce.origins["queue.order"] == after.origins["queue.order"])
        // Nothing new the second time, but what waits still waits.
        let again = reload.inForce.reload(to: after)
        #expect(again.applied == [])
        #expect(again.waitingForRestart == reload.waitingForRestart)
    }
}
