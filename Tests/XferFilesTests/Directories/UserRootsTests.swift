import Glibc
import Testing
import XferModel
import XferSystem
import XferTestSupport

@testable import XferFiles

/// Bob's directories, and Alice's, which are none of his.
@Suite struct UserRootsTests {
    private static let bob: UInt32 = 4711
    private static let alice: UInt32 = 4712
    private let base: TestDirectory

    init() throws {
        base = try TestDirectory()
        chmod(base.path, 0o755)
        for (name, uid) in [("bob", Self.bob), ("alice", Self.alice)] {
            try base.makeDirectory("\(name)/d")
            for directory in [name, "\(name)/d"] { chown(base.at(directory), uid, uid) }
        }
        chmod(base.at("alice"), 0o700)
    }

    private func roots(_ paths: [String], acts: Bool, forbidden: [String] = []) -> AllowedRoots {
        AllowedRoots(
            roots: paths.map(base.at), forbidden: forbidden.map(base.at),
            users: [FileUser(uid: Self.bob, gid: Self.bob, groups: [])], actsAsUser: acts)
    }

    private func refusal(_ path: String, _ roots: AllowedRoots, createMissing: Bool = false) -> FileError? {
        do throws(FileError) {
            _ = try roots.open(directory: base.at(path), createMissing: createMissing)
            return nil
        } catch {
            return error
        }
    }

    /// As root in a thread with Bob's rights, and as a service that only looks.
    private static let ways = isRoot ? [true, false] : []

    @Test(arguments: ways) func aUsersOwnDirectoryIsOpened(acts: Bool) throws {
        let opened = try roots(["bob"], acts: acts).open(directory: base.at("bob/d/../d"))
        #expect(opened.identity == FileIdentity(ofPath: base.at("bob/d")))
    }

    /// Even where her directory lies beneath a root of his.
    @Test(arguments: ways) func aLinkIntoADirectoryClosedToTheUserIsRefused(acts: Bool) throws {
        try base.link("bob/way", to: base.at("alice/d"))
        try base.link("bob/up", to: "../alice/d")
        for path in ["bob/way", "bob/up", "alice/d", "alice"] {
            for allowed in [["bob"], ["bob", "alice"], ["."]] {
                let refusal = refusal(path, roots(allowed, acts: acts))
                #expect(refusal != nil, "\(path) \(allowed)")
                #expect(refusal?.transferError.reason == .destinationDenied, "\(path): \(String(describing: refusal))")
            }
        }
    }

    @Test(arguments: ways) func aDirectoryTheUserMayOnlyReadIsRefusedForWriting(acts: Bool) throws {
        chown(base.at("bob/d"), Self.alice, Self.alice)
        chmod(base.at("bob/d"), 0o755)
        #expect(refusal("bob/d", roots(["bob"], acts: acts)) != nil)
        let read = try roots(["bob"], acts: acts).open(directory: base.at("bob/d"), for: .reading)
        #expect(read.identity == FileIdentity(ofPath: base.at("bob/d")))
    }

    @Test(arguments: ways) func permissionsRevokedLaterAreObeyed(acts: Bool) throws {
        let opened = try roots(["bob"], acts: acts).open(directory: base.at("bob/d"))
        let part = try PartialFile.create(in: opened, named: "part")
        chown(base.at("bob/d"), Self.alice, Self.alice)
        #expect(throws: FileError.self) { try PartialFile.create(in: opened, named: "other") }
        let intent = PublishIntent(finalName: "final", part: try part.facts())
        #expect(throws: FileError.self) {
            try Publisher(directory: opened).rename("part", as: intent, isReplacing: false)
        }
        chown(base.at("bob/d"), Self.bob, Self.bob)
        #expect(try Publisher(directory: opened).rename("part", as: intent, isReplacing: false) == .published)
        part.handOver()
        var facts = stat()
        #expect(stat(base.at("bob/d/final"), &facts) == 0)
        #expect(facts.st_uid == (acts ? Self.bob : geteuid()))
    }

    @Test(arguments: ways) func endlessLinksAndForbiddenDirectoriesAreRefused(acts: Bool) throws {
        try base.link("bob/loop", to: "loop")
        try base.makeDirectory("bob/state")
        chown(base.at("bob/state"), Self.bob, Self.bob)
        let roots = roots(["bob"], acts: acts, forbidden: ["bob/state"])
        #expect(refusal("bob/loop", roots) != nil)
        #expect(refusal("bob/state", roots) == .forbidden(path: base.at("bob/state"), roots: roots.roots))
        #expect(refusal("bob/none", roots) == .missing(path: base.at("bob/none")))
        #expect(refusal("outside", roots) == .outsideRoots(path: base.at("outside"), roots: roots.roots))
    }

    @Test(arguments: ways) func aDirectoryMadeForAUserIsWritableByThatUser(acts: Bool) throws {
        chmod(base.at("bob/d"), 0o777)
        let roots = roots(["bob"], acts: acts)
        _ = try roots.open(directory: base.at("bob/d/new/deep"), createMissing: true)
        for name in ["bob/d/new", "bob/d/new/deep"] {
            var facts = stat()
            #expect(stat(base.at(name), &facts) == 0)
            #expect(acts ? facts.st_uid == Self.bob : facts.st_mode & 0o777 == 0o777, "\(name)")
        }
        // Where he could not write in it, there is none.
        chmod(base.at("bob/d"), 0o755)
        let refusal = refusal("bob/d/third", roots, createMissing: true)
        #expect((refusal == nil) == acts, "\(String(describing: refusal))")
        #expect(FileTree.exists(base.at("bob/d/third")) == acts)
    }

    /// He exchanges his directory and a link to hers all the time: what is opened is his, or nothing.
    @Test(arguments: ways) func swappedDirectoriesNeverOpenAnotherUsersDirectory(acts: Bool) throws {
        try base.link("bob/other", to: base.at("alice/d"))
        let (his, hers) = (FileIdentity(ofPath: base.at("bob/d")), FileIdentity(ofPath: base.at("alice/d")))
        let isDone = Locked(false)
        let exchanges = Locked(0)
        let (left, right) = (base.at("bob/d"), base.at("bob/other"))
        let ended = ThreadLatch()
        try BackgroundThread.start("exchange") {
            while !isDone.withLock({ $0 }) {
                if exchange(left, right) { exchanges.withLock { $0 += 1 } }
            }
            ended.open()
        }
        var (opened, refused) = (0, 0)
        for _ in 0..<2000 {
            // Her directory lies beneath a root of his, so only her permissions stand between.
            do throws(FileError) {
                let found = try roots(["bob", "alice"], acts: acts).open(directory: left).identity
                #expect(found == his && found != hers)
                opened += 1
            } catch {
                refused += 1
            }
        }
        isDone.withLock { $0 = true }
        ended.wait()
        #expect(exchanges.withLock { $0 } > 0 && opened + refused == 2000)
    }

    @Test(arguments: ways) func swappedDirectoriesNeverReadAnotherUsersFile(acts: Bool) throws {
        try base.write("alice/d/secret", "hers")
        chmod(base.at("alice/d/secret"), 0o644)
        try base.write("bob/d/secret", "his")
        try base.link("bob/other", to: base.at("alice/d"))
        let isDone = Locked(false)
        let (left, right) = (base.at("bob/d"), base.at("bob/other"))
        let ended = ThreadLatch()
        try BackgroundThread.start("exchange") {
            while !isDone.withLock({ $0 }) { _ = exchange(left, right) }
            ended.open()
        }
        let admission = SourceAdmission(roots(["bob", "alice"], acts: acts))
        for _ in 0..<2000 {
            if let source = try? admission.admit(left + "/secret") { #expect(source.length == 3) }
        }
        isDone.withLock { $0 = true }
        ended.wait()
    }
}

/// renameat2(2) with RENAME_EXCHANGE.
private func exchange(_ one: String, _ other: String) -> Bool {
    typealias Call = @convention(c) (Int32, UnsafePointer<CChar>, Int32, UnsafePointer<CChar>, UInt32) -> Int32
    guard let address = dlsym(nil, "renameat2") else { return false }
    return unsafeBitCast(address, to: Call.self)(AT_FDCWD, one, AT_FDCWD, other, 2) == 0
}

/// What a thread's end is waited for with.
private final class ThreadLatch: Sendable {
    private let condition = ThreadCondition()
    private let isOpen = Locked(false)

    func open() {
        isOpen.withLock { $0 = true }
        condition.lock()
        condition.unlock()
        condition.broadcast()
    }

    func wait() {
        condition.lock()
        while !isOpen.withLock({ $0 }) { condition.wait() }
        condition.unlock()
    }
}
