import Glibc
import Testing
import XferModel
import XferSystem

@testable import XferFiles

@Suite struct AllowedRootsTests {
    let base: TestDirectory
    let roots: AllowedRoots

    init() throws {
        base = try TestDirectory()
        try base.makeDirectory("root/inside/deep")
        try base.makeDirectory("root2")
        try base.makeDirectory("outside/secret")
        try base.makeDirectory("root/state/cache")
        try base.write("root/file", "text")
        roots = AllowedRoots(
            roots: [base.at("root")], forbidden: [base.at("root/state"), base.at("root/config")])
    }

    private func refusal(_ path: String, createMissing: Bool = false) -> FileError? {
        do throws(FileError) {
            _ = try roots.open(directory: path, createMissing: createMissing)
            return nil
        } catch {
            return error
        }
    }

    private func outside(_ path: String) -> FileError { .outsideRoots(path: path, roots: roots.roots) }
    private func forbidden(_ path: String) -> FileError { .forbidden(path: path, roots: roots.roots) }

    @Test(
        arguments: [
            ("root", "root"), ("root/inside", "root/inside"), ("root//inside/./deep/", "root/inside/deep"),
            ("root/inside/../inside", "root/inside"), ("outside/../root/inside", "root/inside"),
            ("root/relative", "root/inside"), ("root/absolute/deep", "root/inside/deep"), ("alias", "root/inside"),
        ])
    func theRootAndDirectoriesWithinItAreOpened(asked: String, found: String) throws {
        try base.link("root/relative", to: "inside")
        try base.link("root/absolute", to: base.at("root/inside"))
        try base.link("alias", to: "root/inside")
        let handle = try roots.open(directory: base.at(asked))
        #expect(handle.identity == FileIdentity(ofPath: base.at(found)))
    }

    @Test func theNormalisedPathIsReported() throws {
        #expect(try roots.open(directory: base.at("root//inside/./")).path == base.at("root/inside"))
    }

    @Test func aRootMayBeNamedThroughALink() throws {
        try base.link("alias", to: "root")
        let roots = AllowedRoots(roots: [base.at("alias")], forbidden: [])
        let identity = FileIdentity(ofPath: base.at("root/inside"))
        #expect(try roots.open(directory: base.at("alias/inside")).identity == identity)
        #expect(try roots.open(directory: base.at("root/inside")).identity == identity)
    }

    @Test(
        arguments: [
            "", "/", "outside", "outside/secret", "outside/none", "root2", "root/..", "root/../outside",
            "root/inside/../../outside", "root/leaving", "root/leaving/secret", "root/leaving/none", "root/away",
            "root/inside/up/up/outside", "root/../../../../etc",
        ])
    func directoriesOutsideTheRootsAreRefusedInEverySpelling(relative: String) throws {
        try base.link("root/leaving", to: "../outside")
        try base.link("root/away", to: base.at("outside"))
        try base.link("root/inside/up", to: "..")
        try base.link("root/up", to: "..")
        let path = relative == "/" ? "/" : base.at(relative)
        let asked = ResolvedPath.tidy(path)
        #expect(refusal(path) == outside(asked))
        #expect(refusal(path, createMissing: true) == outside(asked))
        #expect(refusal(path)?.transferError.reason == .destinationDenied)
        #expect(refusal(path)?.description.contains(base.at("root")) == true)
        #expect(try base.names() == ["outside", "root", "root2"])
        #expect(FileIdentity(ofPath: base.at("outside/none")) == nil)
    }

    @Test(
        arguments: ["outside/file", "outside/file/x", "outside/loop", "outside/none"])
    func aRefusalDoesNotRevealWhetherAnOutsidePathExists(relative: String) throws {
        try base.write("outside/file", "")
        try base.link("outside/loop", to: "loop")
        #expect(refusal(base.at(relative)) == outside(base.at(relative)))
    }

    @Test func withoutRootsEveryDirectoryIsRefused() {
        #expect(throws: FileError.outsideRoots(path: base.path, roots: [])) {
            try AllowedRoots(roots: [], forbidden: []).open(directory: base.path)
        }
    }

    @Test func aTextThatIsNoDirectoryPathIsRefused() throws {
        #expect(refusal("") == .notAbsolute(path: ""))
        #expect(refusal("root/inside") == .notAbsolute(path: "root/inside"))
        #expect(refusal(base.at("root/a\0b")) == .containsNUL(path: base.at("root/a\0b")))
        #expect(refusal(base.at("root/file")) == .notADirectory(path: base.at("root/file")))
        #expect(refusal(base.at("root/file/x"), createMissing: true) == .notADirectory(path: base.at("root/file/x")))
        let long = base.at("root/" + String(repeating: "x", count: 300))
        #expect(refusal(long, createMissing: true)?.transferError.reason == .destinationDenied)
        try base.link("root/loop", to: "loop")
        #expect(refusal(base.at("root/loop"))?.transferError.reason == .destinationDenied)
    }

    @Test func missingDirectoriesAreCreatedOnRequest() throws {
        let path = base.at("root/inside/a/b c/ü")
        #expect(refusal(path) == .missing(path: path))
        let handle = try roots.open(directory: path, createMissing: true)
        #expect(handle.isSame(asPath: path))
        #expect(try roots.open(directory: path, createMissing: true).identity == handle.identity)
        let winding = base.at("root/none/../x")
        #expect(refusal(winding, createMissing: true) == .missing(path: winding))
        #expect(FileIdentity(ofPath: base.at("root/none")) == nil)
    }

    @Test func aDanglingLinkIsNotFollowedToCreateItsTarget() throws {
        try base.link("root/dangling", to: "../outside/new")
        #expect(refusal(base.at("root/dangling"), createMissing: true) == outside(base.at("root/dangling")))
        #expect(refusal(base.at("root/dangling/x"), createMissing: true) == outside(base.at("root/dangling/x")))
        #expect(FileIdentity(ofPath: base.at("outside/new")) == nil)
    }

    @Test func aMissingRootMakesTheDestinationUnavailableAndIsNotCreated() throws {
        let roots = AllowedRoots(roots: [base.at("disk")], forbidden: [])
        #expect(throws: FileError.missing(path: base.at("disk"))) {
            try roots.open(directory: base.at("disk/downloads"), createMissing: true)
        }
        #expect(FileError.missing(path: "x").transferError.reason == .destinationUnavailable)
        #expect(FileIdentity(ofPath: base.at("disk")) == nil)
    }

    @Test(
        arguments: [
            "root/state", "root/state/cache", "root/state/new/er", "root/config", "root/config/sub", "root/door/cache",
        ])
    func theServicesOwnDirectoriesAreRefused(relative: String) throws {
        try base.link("root/door", to: "state")
        let path = base.at(relative)
        #expect(refusal(path, createMissing: true) == forbidden(path))
        #expect(refusal(path)?.transferError.reason == .destinationDenied)
        #expect(FileIdentity(ofPath: base.at("root/state/new")) == nil)
        #expect(FileIdentity(ofPath: base.at("root/config")) == nil)
    }

    @Test(.enabled(if: canMount, "this process may not mount"))
    func theServicesOwnDirectoriesAreRefusedIfMountedElsewhere() throws {
        let door = try base.makeDirectory("root/mounted")
        try withBindMount(base.at("root/state"), at: door) {
            #expect(refusal(door) == forbidden(door))
            #expect(refusal(door + "/cache") == forbidden(door + "/cache"))
        }
        #expect(refusal(door) == nil)
    }

    @Test func anUnwritableDirectoryIsReportedAtOnce() async throws {
        try base.makeDirectory("root/sealed/sub")
        chmod(base.at("root/sealed"), 0o555)
        chmod(base.path, 0o755)
        defer { chmod(base.at("root/sealed"), 0o755) }
        await withoutPrivileges {
            let path = base.at("root/sealed")
            #expect(refusal(path) == .notWritable(path: path, code: EACCES))
            #expect(refusal(path + "/new", createMissing: true) == .notWritable(path: path, code: EACCES))
            #expect(refusal(path)?.transferError.reason == .destinationDenied)
        }
    }

    @Test func aLinkSwappedDuringTheOpeningNeverLeadsOutOfTheRoots() async throws {
        try base.makeDirectory("root/inside/target")
        try base.makeDirectory("outside/target")
        try base.link("root/link", to: "inside")
        let stop = Locked(false)
        let swapper = BlockingPool(threadCount: 1)
        async let swapping: Void = swapper.run { [base] in
            var turn = 0
            while !stop.withLock({ $0 }) {
                turn += 1
                symlink(turn.isMultiple(of: 2) ? "inside" : "../outside", base.at("root/next"))
                rename(base.at("root/next"), base.at("root/link"))
            }
        }
        let inside = FileIdentity(ofPath: base.at("root/inside/target"))
        var opened = 0
        for _ in 0..<4000 {
            guard let handle = try? roots.open(directory: base.at("root/link/target")) else { continue }
            opened += 1
            #expect(handle.identity == inside)
        }
        stop.withLock { $0 = true }
        await swapping
        #expect(opened > 0)
    }
}
