import Foundation
import Testing
import XferSystem
import XferTestSupport

@testable import XferClient

struct SocketLocatorTests {
    private func paths(_ environment: [String: String], _ instance: SocketLocator.Instance = .automatic) -> [String] {
        SocketLocator(environment: environment, uid: 1000).candidates(for: instance).map(\.path)
    }

    @Test func theUsersDaemonComesBeforeTheSystems() {
        #expect(paths(["XDG_RUNTIME_DIR": "/run/user/7"]) == ["/run/user/7/xferd.sock", "/run/xferd/xferd.sock"])
        #expect(paths([:]) == ["/run/user/1000/xferd.sock", "/run/xferd/xferd.sock"])
        // XDG Base Directory Specification: relative paths are to be ignored.
        #expect(paths(["XDG_RUNTIME_DIR": "tmp"]).first == "/run/user/1000/xferd.sock")
    }

    @Test func anExplicitlyNamedSocketHasNoFallback() {
        let environment = ["XFERD_SOCKET": "/e", "XDG_RUNTIME_DIR": "/r"]
        #expect(paths(environment) == ["/e"])
        #expect(paths(environment, .socket("/f")) == ["/f"])
        #expect(paths(environment, .user) == ["/r/xferd.sock"])
        #expect(paths(environment, .system) == ["/run/xferd/xferd.sock"])
        #expect(paths(["XFERD_SOCKET": "", "XDG_RUNTIME_DIR": "/r"]).first == "/r/xferd.sock")
    }

    @Test func aConnectionReportsTheSocketItUses() throws {
        let server = try ScriptedServer { $0.awaitClose() }
        let located = try SocketLocator(environment: ["XFERD_SOCKET": server.path], uid: 1000).connect()
        #expect(located.candidate.origin == .environment)
        #expect(located.connection.path == server.path)
        #expect(located.fallbackNotice() == nil)
    }

    @Test func aMissingDaemonErrorListsTheTriedSocketsAndTheRemedy() throws {
        let locator = SocketLocator(environment: ["XDG_RUNTIME_DIR": "/nonexistent"], uid: 1000)
        let error = #expect(throws: NoDaemonError.self) { try locator.connect(to: .user) }
        #expect(error?.tried.map(\.error) == [.noSocket(path: "/nonexistent/xferd.sock")])
        let text = try #require(error?.description)
        #expect(text.contains("/nonexistent/xferd.sock"))
        #expect(text.contains("xferctl daemon start"))
    }

    @Test func theDaemonWithoutASessionIsTriedFirst() {
        let environment = ["HOME": "/home/ann", "XDG_RUNTIME_DIR": "/run/user/7"]
        #expect(
            paths(environment) == [
                "/home/ann/.local/state/xferd/xferd.sock", "/run/user/7/xferd.sock", "/run/xferd/xferd.sock",
            ])
        #expect(paths(["HOME": "/home/ann", "XDG_STATE_HOME": "/s"]).first == "/s/xferd/xferd.sock")
        #expect(paths(["HOME": "/home/ann", "XFERD_STATE_DIR": "/x"], .user).first == "/x/xferd.sock")
        let locator = SocketLocator(environment: [:], uid: 1000, accountHome: "/home/bob")
        #expect(locator.candidates(for: .user).first?.path == "/home/bob/.local/state/xferd/xferd.sock")
    }

    @Test func theAdviceNamesOnlyWhatCanWorkHere() throws {
        func advice(
            _ origin: SocketLocator.Instance, _ system: Bool, _ user: Bool, isRoot: Bool = false
        ) -> String {
            let tried = SocketLocator(environment: ["HOME": "/h"], uid: 7).candidates(for: origin)
                .map { FailedCandidate(candidate: $0, error: .noSocket(path: $0.path)) }
            let managers = ServiceManagers(hasSystem: system, hasUser: user)
            return NoDaemonError(tried: tried).advice(managers, isRoot: isRoot)
        }
        #expect(advice(.user, true, true).contains("systemctl --user enable --now xferd.socket xferd.service"))
        #expect(advice(.user, true, false) == "start one with \"xferctl daemon start\"")
        #expect(advice(.automatic, false, false) == "start one with \"xferctl daemon start\"")
        #expect(advice(.system, true, false).contains("sudo systemctl enable --now xferd.socket xferd.service"))
        #expect(!advice(.system, false, false).contains("systemctl"))
        let systems = "start it with \"sudo systemctl enable --now xferd.socket xferd.service\""
        #expect(advice(.automatic, true, true, isRoot: true) == systems)
        #expect(advice(.automatic, true, false) == "start one with \"xferctl daemon start\"")
        #expect(advice(.automatic, false, false, isRoot: true) == "start one with \"xferctl daemon start\"")
        #expect(advice(.user, true, false, isRoot: true) == "start one with \"xferctl daemon start\"")
        #expect(advice(.fleet, false, false) == "start one with \"xfer-fleet run &\"")
    }

    @Test func theAbsenceOfADaemonWithoutASessionIsNotReported() throws {
        let locator = SocketLocator(environment: ["HOME": "/nonexistent", "XDG_RUNTIME_DIR": "/none"], uid: 1000)
        let error = #expect(throws: NoDaemonError.self) { try locator.connect(to: .user) }
        let text = try #require(error?.description)
        #expect(text.contains("/none/xferd.sock") && !text.contains("/nonexistent/"), "\(text)")
    }

    @Test func withoutASessionThePlaceInTheStateDirectoryIsReported() throws {
        let home = try TemporaryDirectory("home")
        let locator = SocketLocator(environment: ["HOME": home.path], uid: 4_000_000_000)
        let error = #expect(throws: NoDaemonError.self) { try locator.connect(to: .user) }
        let text = try #require(error?.description)
        #expect(text.contains("\(home.path)/.local/state/xferd/xferd.sock"), "\(text)")
        #expect(!text.contains("/run/user"), "\(text)")
    }

    /// Under cron, with a daemon of the user's systemd.
    @Test func theUsersOwnDaemonIsUsedWithoutANotice() throws {
        let server = try ScriptedServer { $0.awaitClose() }
        let connection = try XferConnection.connect(to: server.path)
        for error in [ConnectionError.noSocket(path: "/s"), .notListening(path: "/s")] {
            let located = LocatedConnection(
                connection: connection, candidate: .init(path: "/run/user/7/xferd.sock", origin: .user),
                passedOver: [FailedCandidate(candidate: .init(path: "/s", origin: .userState), error: error)])
            #expect(located.fallbackNotice() == nil)
        }
    }

    @Test func rootIsNotRemindedThatTheSystemsDaemonIsItsOwn() throws {
        let server = try ScriptedServer { $0.awaitClose() }
        let connection = try XferConnection.connect(to: server.path)
        func notice(_ error: ConnectionError, isRoot: Bool) -> String? {
            let own = FailedCandidate(candidate: .init(path: "/r/xferd.sock", origin: .user), error: error)
            return LocatedConnection(
                connection: connection, candidate: .init(path: "/run/xferd/xferd.sock", origin: .system),
                passedOver: [own]
            ).fallbackNotice(isRoot: isRoot)
        }
        #expect(notice(.noSocket(path: "/r/xferd.sock"), isRoot: true) == nil)
        #expect(notice(.noSocket(path: "/r/xferd.sock"), isRoot: false)?.contains("using the system's daemon") == true)
        // A daemon of root's own that does not answer is no such case.
        #expect(notice(.notListening(path: "/r/xferd.sock"), isRoot: true) != nil)
    }
}
