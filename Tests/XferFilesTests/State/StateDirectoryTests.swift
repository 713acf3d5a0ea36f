import Glibc
import Testing
import XferSystem
import XferTestSupport

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

    @Test func aRemovedSubdirectoryIsMadeAgainForTheNextFile() throws {
        let state = try StateDirectory(path: base.at("state"))
        let renewals = Locked<[String]>([])
        let place = try StateSubdirectory("spool", in: state) { path in renewals.withLock { $0.append(path) } }
        let spool = SpoolDirectory(place)
        let kept = try spool.makeFile()
        try kept.keep()
        #expect(spool.problem == nil && renewals.withLock { $0.isEmpty })

        // A file that was begun before is kept in the new directory.
        let begun = try spool.makeFile()
        // Without O_TMPFILE its name goes with the directory.
        try #require(try FileTree.names(in: base.at("state/spool")) == [kept.name], "O_TMPFILE is missing")
        FileTree.remove(base.at("state/spool"))
        #expect(throws: FileError.missing(path: base.at("state/spool/\(kept.name)"))) {
            try spool.read(kept.name, at: 0, upTo: 1)
        }
        try begun.write(Array("text".utf8))
        try begun.keep()
        #expect(base.read("state/spool/\(begun.name)") == "text")
        #expect(renewals.withLock { $0 } == [base.at("state/spool")])
        #expect(try mode("state/spool") == 0o700)
        #expect(try spool.settledNames().isEmpty, "both files are still in use")

        // One that was renamed counts as removed: a restart would not find it.
        try #require(rename(base.at("state/spool"), base.at("state/away")) == 0)
        try spool.makeFile(named: "later").keep()
        #expect(try FileTree.names(in: base.at("state/spool")) == ["later"])
    }

    @Test func aSubdirectoryThatCannotBeMadeAgainIsAProblemUntilItCan() throws {
        let state = try StateDirectory(path: base.at("state"))
        let spool = SpoolDirectory(try StateSubdirectory("spool", in: state))
        FileTree.remove(base.at("state/spool"))
        try base.write("state/spool", "")
        #expect(throws: FileError.notADirectory(path: base.at("state/spool"))) { try spool.makeFile() }
        #expect(spool.problem?.contains(base.at("state/spool")) == true)
        unlink(base.at("state/spool"))
        #expect(spool.problem == nil)
        _ = try spool.makeFile()
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
            first.writeHolder(socket: "/run/xferd/xferd.sock")
            let refusal = FileError.alreadyLocked(path: path, pid: getpid(), socket: "/run/xferd/xferd.sock")
            #expect(throws: refusal) { try StateDirectory(path: path) }
            #expect(refusal.description.contains("use that one (XFERD_SOCKET=/run/xferd/xferd.sock)"))
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
