import Testing

@testable import XferDaemon

@Suite struct InstancePathsTests {
    @Test func thePathsDefaultToTheHomeAndRuntimeDirectories() throws {
        let paths = try InstancePaths(environment: ["HOME": "/home/ann"], uid: 1000)
        #expect(paths.kind == .user)
        #expect(paths.stateDirectory == "/home/ann/.local/state/xferd")
        #expect(paths.socket == "/run/user/1000/xferd.sock")
        #expect(paths.configurationFile == "/home/ann/.config/xferd/config.yaml")
        #expect(!paths.isConfigurationFileRequired)
        #expect(paths.downloadDirectory == "/home/ann/Downloads")
        #expect(paths.defaultRoot == "/home/ann")
        #expect(paths.forbiddenDirectories == ["/home/ann/.local/state/xferd", "/home/ann/.config/xferd"])
    }

    @Test func withoutARuntimeDirectoryTheSocketLiesInTheStateDirectory() throws {
        func socket(_ more: [String: String]) throws -> String {
            try InstancePaths(
                environment: more.merging(["HOME": "/home/ann"]) { $1 }, uid: 1000, hasDirectory: { _ in false }
            ).socket
        }
        #expect(try socket([:]) == "/home/ann/.local/state/xferd/xferd.sock")
        #expect(try socket(["XFERD_STATE_DIR": "/x"]) == "/x/xferd.sock")
        // What is named stays.
        #expect(try socket(["XFERD_SOCKET": "/s"]) == "/s")
        #expect(try socket(["RUNTIME_DIRECTORY": "/run/xferd"]) == "/run/xferd/xferd.sock")
    }

    @Test func absoluteXDGDirectoriesAreFollowedAndRelativeOnesIgnored() throws {
        let environment = [
            "HOME": "/home/ann", "XDG_STATE_HOME": "/x/state", "XDG_RUNTIME_DIR": "/x/run/", "XDG_CONFIG_HOME": "conf",
        ]
        let paths = try InstancePaths(environment: environment, uid: 1000)
        #expect(paths.stateDirectory == "/x/state/xferd")
        #expect(paths.socket == "/x/run/xferd.sock")
        #expect(paths.configurationFile == "/home/ann/.config/xferd/config.yaml")
    }

    @Test(arguments: [
        "/var/lib/xferd/state:/var/lib/xferd/downloads",
        // systemd 251 and later sort them.
        "/var/lib/xferd/downloads:/var/lib/xferd/state",
    ])
    func theDirectoriesOfTheSystemsServiceManagerAreDistinguishedInAnyOrder(directories: String) throws {
        let environment = [
            "HOME": "/var/lib/xferd", "STATE_DIRECTORY": directories,
            "CREDENTIALS_DIRECTORY": "/run/credentials/xferd.service", "RUNTIME_DIRECTORY": "/run/xferd",
            "CONFIGURATION_DIRECTORY": "/etc/xferd",
        ]
        let paths = try InstancePaths(environment: environment, uid: 990)
        #expect(paths.kind == .system)
        #expect(paths.stateDirectory == "/var/lib/xferd/state")
        #expect(paths.socket == "/run/xferd/xferd.sock")
        #expect(paths.configurationFile == "/etc/xferd/config.yaml")
        #expect(paths.downloadDirectory == "/var/lib/xferd/downloads")
        #expect(paths.defaultRoot == "/var/lib/xferd/downloads")
        #expect(!paths.isConfigurationFileRequired)
        #expect(
            paths.forbiddenDirectories == ["/var/lib/xferd/state", "/etc/xferd", "/run/credentials/xferd.service"])
    }

    @Test func aSystemUnitWithOneStateDirectoryKeepsDownloadsWithinIt() throws {
        let paths = try InstancePaths(environment: ["HOME": "/", "STATE_DIRECTORY": "/var/lib/xferd"], uid: 990)
        #expect(paths.downloadDirectory == "/var/lib/xferd/downloads")
        #expect(paths.defaultRoot == "/var/lib/xferd/downloads")
        #expect(paths.forbiddenDirectories == ["/var/lib/xferd/cache", "/var/lib/xferd/spool", "/.config/xferd"])
    }

    @Test func aUsersServiceManagerDoesNotMakeASystemInstance() throws {
        let environment = ["HOME": "/home/ann", "STATE_DIRECTORY": "/home/ann/.config/xferd"]
        let paths = try InstancePaths(environment: environment, uid: 1000)
        #expect(paths.kind == .user)
        #expect(paths.stateDirectory == "/home/ann/.config/xferd")
        #expect(paths.downloadDirectory == "/home/ann/Downloads")
    }

    @Test func flagsOverrideVariablesAndVariablesTheServiceManager() throws {
        let environment = [
            "HOME": "/h", "STATE_DIRECTORY": "/var/lib/xferd", "RUNTIME_DIRECTORY": "/run/xferd",
            "XFERD_STATE_DIR": "/e/state", "XFERD_SOCKET": "/e/sock", "XFERD_CONFIG": "/e/c.yaml",
        ]
        let fromEnvironment = try InstancePaths(environment: environment, uid: 1)
        #expect(fromEnvironment.stateDirectory == "/e/state")
        #expect(fromEnvironment.socket == "/e/sock")
        #expect(fromEnvironment.configurationFile == "/e/c.yaml")
        #expect(fromEnvironment.isConfigurationFileRequired)
        let flags = InstancePaths.Flags(
            configurationFile: "c.yaml", stateDirectory: "./state/", socket: "/f/sock", currentDirectory: "/cwd")
        let fromFlags = try InstancePaths(flags: flags, environment: environment, uid: 1)
        #expect(fromFlags.stateDirectory == "/cwd/state")
        #expect(fromFlags.socket == "/f/sock")
        #expect(fromFlags.configurationFile == "/cwd/c.yaml")
        // The current directory holds more than a configuration.
        #expect(fromFlags.forbiddenDirectories == ["/cwd/state"])
        let own = InstancePaths.Flags(configurationFile: "/etc/xferd/other.yaml")
        #expect(
            try InstancePaths(flags: own, environment: ["HOME": "/h"], uid: 1).forbiddenDirectories.last == "/etc/xferd"
        )
    }

    @Test func withoutHOMEThePasswordDatabaseProvidesTheHome() throws {
        #expect(try InstancePaths(environment: [:], uid: 7, accountHome: "/home/seven").home == "/home/seven")
        let named = try InstancePaths(environment: ["XFERD_STATE_DIR": "/state"], uid: 7)
        #expect(named.stateDirectory == "/state" && named.home == "/state")
        #expect(throws: InstancePathsError.noHome(uid: 7)) { try InstancePaths(environment: [:], uid: 7) }
        #expect(throws: InstancePathsError.noHome(uid: 7)) { try InstancePaths(environment: ["HOME": "x"], uid: 7) }
    }

    @Test func aSocketPathThatIsTooLongIsRefusedBeforeBinding() throws {
        let fits = "/" + String(repeating: "s", count: 106)
        #expect(try InstancePaths(environment: ["HOME": "/h", "XFERD_SOCKET": fits], uid: 1).socket == fits)
        #expect(throws: InstancePathsError.socketPathTooLong(fits + "s")) {
            try InstancePaths(environment: ["HOME": "/h", "XFERD_SOCKET": fits + "s"], uid: 1)
        }
    }
}
