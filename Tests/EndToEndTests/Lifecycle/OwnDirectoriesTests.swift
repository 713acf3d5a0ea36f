import Glibc
import StrictJSON
import Testing
import XferTestSupport

/// Where a user's own daemon writes for its user.
@Suite struct OwnDirectoriesTests {
    @Test func aDaemonWithoutConfiguredRootsWritesWhereverItsUserMay() async throws {
        let server = try await FaultServer()
        let source = SourceVersion.tagged(191, length: 1000)
        server.serve("/f", source)
        let elsewhere = try TemporaryDirectory()
        var options = DaemonFixture.Options()
        options.configuration = ""
        try await withDaemon(options) { daemon in
            let id = try await daemon.add(server.url("/f"), ["dir": .string(elsewhere.path)])
            try await daemon.wait(id, for: "completed")
            #expect(try source.equals(file: elsewhere.file("f")))
            // The home's hidden names stay refused.
            let hidden = try await daemon.ctl("add", "-d", "\(daemon.directory.path)/.ssh", server.url("/f"))
            #expect(hidden.exit == .code(3) && hidden.errors.contains("allow_hidden"), "\(hidden)")
        }
    }

    @Test func aLinkInPlaceOfTheDownloadDirectoryIsFollowed() async throws {
        let server = try await FaultServer()
        let source = SourceVersion.tagged(192, length: 1000)
        server.serve("/f", source)
        let disk = try TemporaryDirectory()
        var options = DaemonFixture.Options()
        options.configuration = ""
        try await withDaemon(
            options, prepare: { #expect(symlink(disk.path, "\($0.directory.path)/Downloads") == 0) }
        ) { daemon in
            try await daemon.wait(try await daemon.add(server.url("/f")), for: "completed")
            #expect(try source.equals(file: disk.file("f")))
        }
    }

    @Test func configuredRootsBindTheOwnUserAndTheRefusalSaysWhatToWrite() async throws {
        let elsewhere = try TemporaryDirectory()
        try await withDaemon { daemon in
            let refused = try await daemon.ctl("add", "-d", elsewhere.path, "http://127.0.0.1:9/f")
            #expect(refused.exit == .code(3), "\(refused)")
            let line = "write in \(daemon.configurationFile): download: { roots: [\"\(daemon.downloads)\", "
            #expect(refused.errors.contains(line), "\(refused)")
        }
    }
}
