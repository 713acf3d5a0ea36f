import Foundation
import Testing
import XferClient

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
        #expect(located.fallbackNotice == nil)
    }

    @Test func aMissingDaemonErrorListsTheTriedSocketsAndTheRemedy() throws {
        let locator = SocketLocator(environment: ["XDG_RUNTIME_DIR": "/nonexistent"], uid: 1000)
        let error = #expect(throws: NoDaemonError.self) { try locator.connect(to: .user) }
        #expect(error?.tried.map(\.error) == [.noSocket(path: "/nonexistent/xferd.sock")])
        let text = try #require(error?.description)
        #expect(text.contains("/nonexistent/xferd.sock"))
        #expect(text.contains("systemctl --user enable --now xferd"))
    }
}
