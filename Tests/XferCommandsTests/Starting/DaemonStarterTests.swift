import Testing
import XferSystem
import XferTestSupport

@testable import XferClient
@testable import XferCommands

@Suite struct DaemonStarterTests {
    private func error(_ errors: [(SocketLocator.Origin, ConnectionError)]) -> NoDaemonError {
        NoDaemonError(
            tried: errors.map {
                FailedCandidate(candidate: SocketLocator.Candidate(path: "/s", origin: $0.0), error: $0.1)
            })
    }

    private func mayStart(
        _ errors: [(SocketLocator.Origin, ConnectionError)], isRoot: Bool = false, hasSystemManager: Bool = true,
        own: Set<String> = ["/run/user/1"]
    ) -> Bool {
        DaemonStarter.mayStart(
            after: error(errors), isRoot: isRoot, hasSystemManager: hasSystemManager,
            isOwnDirectory: { own.contains($0) })
    }

    @Test func aDaemonIsStartedWhereTheUserHasNone() {
        let none = ConnectionError.noSocket(path: "/s")
        #expect(mayStart([(.userState, none), (.user, none), (.system, none)]))
        #expect(mayStart([(.user, .notListening(path: "/s"))]))
        #expect(mayStart([(.user, none), (.system, .permissionDenied(path: "/s"))]))
    }

    @Test func noDaemonIsStartedWhereAnotherOneHasTheTasks() {
        let none = ConnectionError.noSocket(path: "/s")
        // The system's daemon is down for a moment.
        #expect(!mayStart([(.user, none), (.system, .notListening(path: "/s"))]))
        #expect(!mayStart([(.user, .permissionDenied(path: "/run/user/1/xferd.sock")), (.system, none)]))
        #expect(!mayStart([(.user, .timedOut), (.system, none)]))
        for origin in [SocketLocator.Origin.flag, .environment, .system, .server, .userFleet] {
            #expect(!mayStart([(origin, none)]), "\(origin)")
        }
    }

    /// su(1) keeps XDG_RUNTIME_DIR unless it makes a login shell.
    @Test func aRuntimeDirectoryOfAnotherUserIsPassedOver() {
        let errors: [(SocketLocator.Origin, ConnectionError)] = [
            (.userState, .noSocket(path: "/s")), (.user, .permissionDenied(path: "/run/user/0/xferd.sock")),
            (.system, .noSocket(path: "/s")),
        ]
        #expect(mayStart(errors))
        let managers = ServiceManagers(hasSystem: true, hasUser: false)
        #expect(error(errors).advice(managers, isRoot: false).hasPrefix("start one with"))
        let systems = error([(.system, .permissionDenied(path: "/run/xferd/xferd.sock"))])
        #expect(systems.advice(ServiceManagers(hasSystem: true, hasUser: false)).hasPrefix("ask the operator"))
    }

    @Test func aStateDirectoryThatCannotBeCreatedNamesTheDirectoryAtFault() throws {
        let scratch = try TemporaryDirectory()
        #expect(DaemonStarter.makeDirectories("\(scratch.path)/a/b") == nil)
        // Directories that exist are no fault.
        #expect(DaemonStarter.makeDirectories("\(scratch.path)/a/b") == nil)
        let failure = DaemonStarter.makeDirectories("/proc/none/state/xferd")
        #expect(failure?.path == "/proc/none")
        #expect(failure?.reason.isEmpty == false)
    }

    @Test func rootStartsOneOnlyWithoutSystemd() {
        let none = ConnectionError.noSocket(path: "/s")
        #expect(!mayStart([(.user, none), (.system, none)], isRoot: true))
        #expect(mayStart([(.user, none), (.system, none)], isRoot: true, hasSystemManager: false))
    }

    /// As systemctl(1) of systemd 252 prints it.
    @Test func theProgramOfAUnitIsReadFromSystemctl() {
        let shown = "{ path=/usr/bin/xferd ; argv[]=/usr/bin/xferd ; ignore_errors=no ; start_time=[n/a] ; pid=0 }\n"
        #expect(DaemonStarter.path(ofExecStart: shown) == "/usr/bin/xferd")
        #expect(DaemonStarter.path(ofExecStart: "\n") == nil)
        #expect(DaemonStarter.path(ofExecStart: "path=") == nil)
    }

    @Test func whatAServiceManagerGaveToTheCallerIsNotPassedOn() {
        let environment = [
            "HOME": "/h", "STATE_DIRECTORY": "/var/lib/cron", "LISTEN_FDS": "1", "JOURNAL_STREAM": "8:1",
            "XFERD_SOCKET": "", "XFERD_QUEUE_MAX_ACTIVE": "3",
        ]
        #expect(DaemonStarter.cleaned(environment) == ["HOME": "/h", "XFERD_QUEUE_MAX_ACTIVE": "3"])
    }

    /// systemctl(1) of systemd 252 fails with "No medium found" without it.
    @Test func theUsersManagerIsFoundWithoutASession() {
        let cron = ["HOME": "/h", "PATH": "/usr/bin:/bin"]
        let places = UserPlaces(environment: cron, uid: 1002)
        #expect(
            UserManager.environment(cron, places)
                == ["HOME": "/h", "PATH": "/usr/bin:/bin", "XDG_RUNTIME_DIR": "/run/user/1002"])
    }

    @Test(arguments: [
        ("0::/system.slice/xferd.service", DaemonKeeper.systemManager),
        ("0::/user.slice/user-1000.slice/user@1000.service/app.slice/xferd.service", .userManager),
        ("0::/user.slice/user-1000.slice/session-3.scope", .unmanaged), ("0::/", .unmanaged),
    ])
    func theKeeperIsReadFromTheControlGroup(line: String, keeper: DaemonKeeper) {
        #expect(DaemonKeeper(cgroup: ["12:cpu:/", line]) == keeper)
    }

    @Test func theTailOfALogHasItsLastLines() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("log")
        try FileTree.write("one\ntwo\nthree\n", to: path)
        #expect(LogTail.lines(of: path, count: 2) == ["two", "three"])
        #expect(LogTail.lines(of: path, count: 9, from: 4) == ["two", "three"])
        #expect(LogTail.lines(of: path, count: 9, from: 100) == [])
        #expect(LogTail.lines(of: directory.file("none"), count: 2) == [])
    }
}
