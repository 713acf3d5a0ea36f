import Glibc
import Testing
import XferModel
import XferTestSupport

@testable import XferFiles

@Suite struct SourceTests {
    let base: TestDirectory
    let mine: SourceAdmission

    init() throws {
        base = try TestDirectory()
        try base.makeDirectory("root/state")
        try base.makeDirectory("outside")
        try base.write("root/file", "12345")
        try base.write("root/state/secret", "s")
        try base.write("outside/file", "o")
        chmod(base.path, 0o755)
        mine = SourceAdmission(
            AllowedRoots(
                roots: [base.at("root")], forbidden: [base.at("root/state")],
                users: [FileUser(uid: 4711, gid: 4712, groups: [])]))
    }

    private func refusal(_ path: String, by admission: SourceAdmission? = nil) -> SourceError? {
        #expect(throws: SourceError.self) { try (admission ?? mine).admit(path) }
    }

    @Test func anAdmittedSourceRecordsPathLengthIdentityAndTime() throws {
        let source = try mine.admit(base.at("root/../root/file"))
        #expect(source.path == base.at("root/../root/file"))
        #expect(source.length == 5)
        #expect(source.identity == FileIdentity(ofPath: base.at("root/file")))
        var facts = stat()
        #expect(stat(base.at("root/file"), &facts) == 0)
        #expect(source.modifiedAt == Int64(facts.st_mtim.tv_sec) * 1_000_000_000 + Int64(facts.st_mtim.tv_nsec))
    }

    @Test func linksAreFollowedWhileTheyStayBeneathTheRoot() throws {
        try base.link("root/inside", to: "file")
        try base.link("root/out", to: base.at("outside/file"))
        #expect(try mine.admit(base.at("root/inside")).length == 5)
        #expect(refusal(base.at("root/out")) == .outsideRoots(path: base.at("root/out")))
        #expect(refusal(base.at("outside/file")) == .outsideRoots(path: base.at("outside/file")))
        #expect(refusal(base.at("root/../outside/file"))?.isPermission == true)
    }

    @Test func theServicesOwnFilesAreForbiddenToEveryUser() {
        let path = base.at("root/state/secret")
        #expect(refusal(path) == .forbidden(path: path))
        #expect(refusal(path, by: SourceAdmission(forbidden: [base.at("root/state")])) == .forbidden(path: path))
    }

    /// tmpfs has sparse files of up to 2^63 − 1 bytes.
    @Test func aFileTooLongToComputeWithIsRefused() throws {
        let directory = try TemporaryDirectory("xfer-source", in: "/dev/shm")
        try FileTree.write("", to: directory.file("long"))
        let anywhere = SourceAdmission(forbidden: [])
        for length in [1 << 60, (1 << 60) + 1, Int.max] {
            try #require(truncate(directory.file("long"), length) == 0)
            guard length > 1 << 60 else {
                #expect(try anywhere.admit(directory.file("long")).length == 1 << 60)
                continue
            }
            #expect(
                refusal(directory.file("long"), by: anywhere)
                    == .unreadable(path: directory.file("long"), code: EFBIG))
        }
    }

    @Test func aSourceThatIsNoRegularFileIsRefusedWithItsKind() throws {
        #expect(mkfifo(base.at("root/pipe"), 0o666) == 0)
        close(try UnixSocket.listen(at: base.at("root/sock")))
        for (name, kind) in [("state/..", "a directory"), ("pipe", "a pipe"), ("sock", "a socket")] {
            #expect(refusal(base.at("root/\(name)")) == .notAFile(path: base.at("root/\(name)"), kind: kind))
        }
        let anywhere = SourceAdmission(forbidden: [])
        #expect(refusal("/dev/null", by: anywhere) == .notAFile(path: "/dev/null", kind: "a device"))
        #expect(refusal(base.at("root/none")) == .missing(path: base.at("root/none")))
        #expect(refusal("file") == .notAbsolute(path: "file"))
        #expect(refusal("/a\0b") == .containsNUL(path: "/a\0b"))
    }

    @Test func aFileInADirectoryThatItsUserMayNotSearchIsRefused() throws {
        try base.makeDirectory("root/closed")
        try base.write("root/closed/file", "12345")
        chmod(base.at("root/closed"), isRoot ? 0o700 : 0)
        let path = base.at("root/closed/file")
        for acts in isRoot ? [true, false] : [false] {
            let roots = AllowedRoots(
                roots: [base.at("root")], forbidden: [], users: [FileUser(uid: 4711, gid: 4712, groups: [])],
                actsAsUser: acts)
            let refusal = refusal(path, by: SourceAdmission(roots))
            #expect(refusal?.isPermission == true, "\(acts): \(String(describing: refusal))")
            #expect(refusal?.description.contains("may not search") == true, "\(String(describing: refusal))")
        }
        chmod(base.at("root/closed"), 0o755)
        #expect(try mine.admit(path).length == 5)
    }

    /// What was in reach when it was added need not be later.
    @Test func aLaterOpeningUsesThePermissionsOfThatTime() throws {
        try base.makeDirectory("root/open")
        try base.write("root/open/file", "12345")
        let source = try mine.admit(base.at("root/open/file"))
        #expect(try SendableFile(source, by: mine).source == source)
        chmod(base.at("root/open"), isRoot ? 0o700 : 0)
        let refusal = #expect(throws: FileError.self) { try SendableFile(source, by: mine) }
        guard case .sourceChanged(_, let problem)? = refusal else {
            Issue.record("\(String(describing: refusal))")
            return
        }
        #expect(problem.contains("may not search"), "\(problem)")
        chmod(base.at("root/open"), 0o755)
    }

    @Test func operatorsMayReadAnyOtherFile() throws {
        #expect(try SourceAdmission(forbidden: []).admit(base.at("outside/file")).length == 1)
    }

    @Test(
        .enabled(if: isRoot),
        arguments: [
            (4711, 0, 0o400, true), (4711, 0, 0o044, false), (0, 4712, 0o040, true), (0, 4712, 0o404, false),
            (0, 0, 0o004, true), (0, 0, 0o660, false),
        ] as [(UInt32, UInt32, UInt16, Bool)])
    func theCallerMustBeAbleToReadTheInode(owner: UInt32, group: UInt32, mode: UInt16, isReadable: Bool) throws {
        let path = base.at("root/file")
        #expect(chown(path, owner, group) == 0)
        #expect(chmod(path, mode_t(mode)) == 0)
        if isReadable {
            #expect(try mine.admit(path).length == 5)
        } else {
            #expect(refusal(path) == .unreadable(path: path, code: EACCES))
        }
    }
}
