import Glibc
import Testing
import XferFiles
import XferTestSupport

@testable import XferManager

/// Each add is judged by what was there after it came, however many came before it.
@Suite struct DirectoryAdmissionTests {
    private let base: TemporaryDirectory
    private let roots: AllowedRoots
    private let admission = DirectoryAdmission(paths: PathPools(service: BlockingPool(threadCount: 1)))
    private var path: String { base.file("destination") }

    init() throws {
        base = try TemporaryDirectory("admission")
        roots = AllowedRoots(roots: [base.path], forbidden: [])
    }

    @Test func theSameDirectoryIsAdmittedAgain() async throws {
        let first = try await admission.identity(of: path, in: roots)
        #expect(try await admission.identity(of: path, in: roots) == first)
    }

    @Test func aRemovedDirectoryIsCreatedAgain() async throws {
        _ = try await admission.identity(of: path, in: roots)
        #expect(rmdir(path) == 0)
        let made = try await admission.identity(of: path, in: roots)
        #expect(try DirectoryHandle(ofService: path).identity == made)
    }

    @Test func aDirectoryThatReplacedAnotherIsAdmitted() async throws {
        let first = try await admission.identity(of: path, in: roots)
        #expect(rename(path, base.file("former")) == 0)
        let second = try await admission.identity(of: path, in: roots)
        #expect(second != first)
        #expect(try await admission.identity(of: path, in: roots) == second)
    }

    @Test func otherRootsJudgeTheDirectoryAgain() async throws {
        _ = try await admission.identity(of: path, in: roots)
        let others = AllowedRoots(roots: [base.file("other")], forbidden: [])
        await #expect(throws: FileError.self) { _ = try await admission.identity(of: path, in: others) }
    }

    /// A guest may make its path lead to a file system that never answers.
    @Test func aGuestsPathIsOpenedOnlyInTheBackground() async throws {
        #expect(mkdir(path, 0o755) == 0)
        let user = FileUser(uid: geteuid(), gid: getegid(), groups: [])
        let roots = AllowedRoots(roots: [base.path], forbidden: [], users: [user])
        let identity = try DirectoryHandle(ofService: path).identity
        #expect(!admission.takesFiles(path, identity, roots))
        try await eventually("it was opened") { admission.takesFiles(path, identity, roots) }
        #expect(rmdir(path) == 0)
        // It was opened a moment ago, and its path is not touched.
        #expect(admission.takesFiles(path, identity, roots))
        // An add opens it with the guest's rights each time, and makes it again.
        let made = try await admission.identity(of: path, in: roots)
        #expect(admission.takesFiles(path, made, roots) && FileTree.exists(path))
    }
}
