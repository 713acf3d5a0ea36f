import Glibc
import Testing
import XferModel

@testable import XferFiles

@Suite struct PathLimitTests {
    let base: TestDirectory
    let confined: AllowedRoots
    let downloads: String

    init() throws {
        base = try TestDirectory()
        downloads = try base.makeDirectory("home/downloads")
        try base.makeDirectory("home/downloads/sub")
        try base.makeDirectory("home/downloads/.hidden")
        try base.makeDirectory("home/.ssh")
        try base.makeDirectory("home/downloads2")
        confined = AllowedRoots(
            roots: [base.at("home")], forbidden: [], limit: .confined(Confinement(directory: downloads)))
    }

    private func refusal(_ path: String, _ roots: AllowedRoots, createMissing: Bool = true) -> FileError? {
        do throws(FileError) {
            _ = try roots.open(directory: path, createMissing: createMissing)
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: ["", "/", "/sub", "/sub/../sub", "/new/a", "/link/b", "/../downloads/sub"])
    func aConfinedPathMayLeadAnywhereInItsDirectory(path: String) throws {
        try base.link("home/downloads/link", to: "sub")
        #expect(refusal(downloads + path, confined) == nil)
    }

    @Test(arguments: ["/..", "/../.ssh", "/../downloads2", "/out", "/out/new", "/absolute", "/sub/up"])
    func aConfinedPathThatLeadsOutOfItsDirectoryIsRefused(path: String) throws {
        try base.link("home/downloads/out", to: "../.ssh")
        try base.link("home/downloads/absolute", to: base.at("home/.ssh"))
        try base.link("home/downloads/sub/up", to: "../..")
        let found = refusal(downloads + path, confined)
        guard case .outsideConfinement = found else {
            Issue.record("\(String(describing: found))")
            return
        }
        #expect(access(base.at("home/.ssh/new"), F_OK) != 0)
    }

    @Test(arguments: ["/.hidden", "/.new", "/sub/.new/a", "/link"])
    func aConfinedPathWithAHiddenComponentIsRefusedAndNothingIsMade(path: String) throws {
        try base.link("home/downloads/link", to: ".hidden")
        #expect(refusal(downloads + path, confined) == .hidden(path: downloads + path, home: nil))
        #expect(access(downloads + "/.new", F_OK) != 0 && access(downloads + "/sub/.new", F_OK) != 0)
    }

    @Test func theConfinementsOwnHiddenComponentsDoNotCount() throws {
        let directory = try base.makeDirectory("home/.local/downloads")
        let roots = AllowedRoots(
            roots: [base.at("home")], forbidden: [], limit: .confined(Confinement(directory: directory)))
        #expect(refusal(directory + "/a", roots) == nil)
    }

    @Test func aConfinementThatDoesNotExistYetIsMade() throws {
        let directory = base.at("home/later")
        let roots = AllowedRoots(
            roots: [base.at("home")], forbidden: [], limit: .confined(Confinement(directory: directory)))
        #expect(refusal(base.at("home/downloads"), roots) != nil)
        #expect(refusal(directory, roots) == nil)
    }

    @Test func aConfinementOutsideTheRootsAllowsNothing() throws {
        let outside = try base.makeDirectory("outside")
        let roots = AllowedRoots(
            roots: [base.at("home")], forbidden: [], limit: .confined(Confinement(directory: outside)))
        #expect(refusal(outside, roots) == .outsideRoots(path: outside, roots: [base.at("home")]))
        #expect(refusal(downloads, roots) == .outsideConfinement(path: downloads, directory: outside))
    }

    @Test func aUsersPathIsConfinedAsAnOperatorsIs() throws {
        try base.link("home/downloads/out", to: "../.ssh")
        let user = FileUser(uid: geteuid(), gid: getegid(), groups: [])
        let roots = AllowedRoots(
            roots: [base.at("home")], forbidden: [], users: [user],
            limit: .confined(Confinement(directory: downloads)))
        #expect(refusal(downloads + "/sub", roots) == nil)
        #expect(
            refusal(downloads + "/out", roots)
                == .outsideConfinement(path: downloads + "/out", directory: downloads))
        #expect(refusal(downloads + "/.hidden", roots) == .hidden(path: downloads + "/.hidden", home: nil))
    }

    @Test func noConfinedFileHasAHiddenName() throws {
        #expect(throws: FileError.hidden(path: downloads + "/.bashrc", home: nil)) {
            try confined.requireAllowedName(".bashrc", in: downloads)
        }
        try confined.requireAllowedName("a.b", in: downloads)
    }

    // MARK: Homes

    /// The home of the process, as the shell has it.
    private static var home: String? { getenv("HOME").flatMap { ResolvedPath.real(String(cString: $0)) } }

    @Test(.enabled(if: home != nil && home != "/", "needs a home directory"))
    func hiddenNamesDirectlyBeneathAHomeAreRefusedUnlessTheConfigurationNamesThem() throws {
        let home = try #require(Self.home)
        let local = AllowedRoots(roots: ["/"], forbidden: [], limit: .noHiddenNamesInHomes(configured: downloads))
        let missing = "\(home)/.xfer-test-missing/a"
        #expect(refusal(missing, local, createMissing: false) == .hidden(path: missing, home: home))
        #expect(throws: FileError.hidden(path: "\(home)/.bashrc", home: home)) {
            try local.requireAllowedName(".bashrc", in: home)
        }
        // A link leads there as well.
        try base.link("alias", to: home)
        #expect(throws: FileError.hidden(path: base.at("alias/.bashrc"), home: home)) {
            try local.requireAllowedName(".bashrc", in: base.at("alias"))
        }
        #expect(refusal(missing, local.limited(by: .none), createMissing: false) == .missing(path: missing))
    }

    @Test func aHiddenDirectoryThatTheConfigurationNamesIsAllowed() throws {
        let home = base.at("home")
        func isAllowed(_ path: String, roots: [String], configured: String) -> Bool {
            let local = AllowedRoots(roots: roots, forbidden: [], limit: .noHiddenNamesInHomes(configured: configured))
            do throws(FileError) {
                try local.requireWithinLimit(path, asked: path, isHome: { $0 == home }) { directory in directory }
                return true
            } catch {
                return false
            }
        }
        #expect(!isAllowed("\(home)/.ssh/a", roots: [home], configured: downloads))
        #expect(isAllowed("\(home)/.ssh/a", roots: [home, "\(home)/.ssh"], configured: downloads))
        #expect(isAllowed("\(home)/.ssh/a", roots: [home], configured: "\(home)/.ssh"))
        #expect(!isAllowed("\(home)/.bashrc", roots: [home], configured: home))
        #expect(isAllowed("\(home)/downloads/.a", roots: [home], configured: downloads))
    }

    @Test func hiddenNamesElsewhereAreNoConcern() throws {
        let local = AllowedRoots(
            roots: [base.at("home")], forbidden: [], limit: .noHiddenNamesInHomes(configured: downloads))
        #expect(refusal(base.at("home/.ssh"), local) == nil)
        try local.requireAllowedName(".bashrc", in: base.at("home"))
    }
}
