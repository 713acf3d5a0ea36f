import Testing

@testable import XferCommands

@Suite struct DaemonLaunchTests {
    private func launch(
        _ words: [String], environment: [String] = [], own: [String: String] = [:], cgroup: String = "0::/"
    ) -> DaemonLaunch {
        let files = [
            "/proc/7/cmdline": words.map { $0 + "\0" }.joined(),
            "/proc/7/environ": environment.map { $0 + "\0" }.joined(), "/proc/7/cgroup": cgroup + "\n",
        ]
        return DaemonLaunch(processID: 7, text: { files[$0] }, own: own)
    }

    @Test func aDaemonWithFilesOfItsOwnIsRestartedAsItWasStarted() {
        let daemon = launch(["xferd", "--config", "/my conf", "--state-dir", "/s", "--socket", "/r"])
        #expect(!daemon.isOrdinary)
        #expect(
            daemon.restart
                == "stop it and start it again as it was started: xferd --config '/my conf' --state-dir /s --socket /r")
        #expect(daemon.keeperText.hasSuffix("start it again: xferd --config '/my conf' --state-dir /s --socket /r"))
    }

    @Test func theVariablesThatSelectTheDaemonsFilesAreShownUnlessTheyAreTheCallers() {
        let environment = ["HOME=/root", "XFERD_STATE_DIR=/s"]
        let other = launch(["xferd"], environment: environment)
        #expect(other.restart == "stop it and start it again as it was started: XFERD_STATE_DIR=/s xferd")
        let same = launch(["xferd", "--foreground-log"], environment: environment, own: ["XFERD_STATE_DIR": "/s"])
        #expect(same.restart == "xferctl daemon stop, then xferctl daemon start")
        #expect(same.keeperText.contains("`xferctl add` starts it"))
        #expect(!launch(["xferd"], own: ["XFERD_STATE_DIR": "/s"]).isOrdinary)
    }

    @Test func aUnitIsRestartedByItsServiceManager() {
        let system = launch(["/usr/bin/xferd"], cgroup: "0::/system.slice/xferd.service")
        #expect(system.restart == "sudo systemctl restart xferd")
        let user = launch(["/usr/bin/xferd"], cgroup: "0::/user.slice/user@7.service/app.slice/xferd.service")
        #expect(user.restart == "systemctl --user restart xferd")
    }

    @Test func aDaemonThatCannotBeInspectedGetsTheGeneralAdvice() {
        let daemon = launch([])
        #expect(!daemon.isOrdinary && daemon.command == nil && daemon.restart == DaemonLaunch.anyRestart)
    }
}
