import Glibc
import Testing

@testable import XferFiles

@Suite struct StateDirectoryTests {
    let base: TestDirectory

    init() throws { base = try TestDirectory() }

    private func mode(_ relative: String) throws -> UInt16? {
        let directory = try DirectoryHandle(ofService: base.at(relative))
        return FileStatus(try status(of: directory.descriptor, path: relative)).mode
    }

    @Test func theStateDirectoryIsCreatedPrivateWithItsParents() throws {
        let state = try StateDirectory(path: base.at("a/b/state/"))
        #expect(state.path == base.at("a/b/state"))
        #expect(try mode("a/b/state") == 0o700)
        #expect(try state.directory.status(of: "lock")?.mode == 0o600)
        #expect(state.path(of: "xferd.sqlite") == base.at("a/b/state/xferd.sqlite"))
        let cache = try state.subdirectory("cache")
        #expect(try mode("a/b/state/cache") == 0o700)
        #expect(try state.subdirectory("cache").identity == cache.identity)
    }

    @Test func aSecondDaemonIsRefusedWithTheFirstOnesPIDUntilItEnds() throws {
        let path = base.at("state")
        do {
            let first = try StateDirectory(path: path)
            // Nothing is written before it is known that the daemon can run.
            #expect(throws: FileError.alreadyLocked(path: path, pid: nil)) { try StateDirectory(path: path) }
            first.writeHolder()
            #expect(throws: FileError.alreadyLocked(path: path, pid: getpid())) { try StateDirectory(path: path) }
            #expect(first.path == path)
        }
        _ = try StateDirectory(path: path)
        #expect(FileError.alreadyLocked(path: path, pid: 7).description.contains("pid 7"))
    }

    @Test(arguments: [0o770, 0o777, 0o702] as [mode_t])
    func aDirectoryThatOthersCanChangeIsRefused(mode: mode_t) throws {
        let path = try base.makeDirectory("state")
        chmod(path, mode)
        #expect { try StateDirectory(path: path) } throws: {
            guard case FileError.insecureStateDirectory(path, _) = $0 else { return false }
            return true
        }
    }

    @Test(.enabled(if: isRoot, "only root may give files away"))
    func anotherUsersDirectoryIsRefused() throws {
        let path = try base.makeDirectory("state")
        chown(path, 65534, 65534)
        #expect { try StateDirectory(path: path) } throws: {
            guard case FileError.insecureStateDirectory(path, let problem) = $0 else { return false }
            return problem.contains("65534")
        }
    }

    @Test func aLinkedLockAFileAsDirectoryAndARelativePathAreRefused() throws {
        try base.write("file", "")
        #expect(throws: FileError.notADirectory(path: base.at("file"))) { try StateDirectory(path: base.at("file")) }
        #expect(throws: FileError.notAbsolute(path: "state")) { try StateDirectory(path: "state") }
        let path = try base.makeDirectory("state")
        try base.link("state/lock", to: base.at("file"))
        #expect(throws: FileError.system(operation: "open", path: path + "/lock", code: ELOOP)) {
            try StateDirectory(path: path)
        }
    }

    @Test func aStateDirectoryThatCannotBeCreatedIsReported() async throws {
        chmod(base.path, 0o555)
        defer { chmod(base.path, 0o755) }
        await withoutPrivileges {
            #expect(throws: FileError.notWritable(path: base.at("state"), code: EACCES)) {
                try StateDirectory(path: base.at("state"))
            }
        }
    }
}
