import Glibc
import NIOConcurrencyHelpers
import StrictJSON
import Testing
import XferTestSupport

/// Bob's tasks go where Bob may go, Alice's where Alice may go, at every moment of their lives.
@Suite(.enabled(if: Guest.isPossible, "needs root and setpriv")) struct GuestRightsTests {
    /// Makes a directory that belongs to this guest and group, with these permissions.
    private func makeDirectory(_ path: String, of guest: Guest, group: Int64? = nil, mode: mode_t) {
        #expect(mkdir(path, 0o700) == 0)
        #expect(chown(path, uid_t(guest.uid), gid_t(group ?? guest.uid)) == 0 && chmod(path, mode) == 0)
    }

    private func owner(of path: String) -> Int64? {
        var facts = stat()
        return lstat(path, &facts) == 0 ? Int64(facts.st_uid) : nil
    }

    /// A directory of Alice's that the service could write in, and Bob could not.
    private func makeKeys(of alice: Guest) -> String {
        let path = "\(alice.root)/.ssh"
        makeDirectory(path, of: alice, group: ServiceUser.ordinaryUID, mode: 0o770)
        return path
    }

    @Test(arguments: ServiceUser.allCases)
    func aDirectoryReplacedByALinkToAnotherUsersDirectoryReceivesNoFile(user: ServiceUser) async throws {
        let server = try await FaultServer()
        server.serve("/f", .tagged(900, length: 3000))
        try await withGuests(2, as: user) { daemon, guests in
            let (bob, alice) = (guests[0], guests[1])
            let (own, keys) = ("\(bob.root)/d", makeKeys(of: alice))
            makeDirectory(own, of: bob, mode: 0o777)
            let fields: JSONObject = [
                "url": .string(server.url("/f")), "dir": .string(own), "output": "authorized_keys", "paused": true,
            ]
            let id = try await bob.add(.object(fields))
            #expect(rename(own, own + ".away") == 0 && symlink(keys, own) == 0)
            let resumed = try await bob.call("task.resume", ["ids": [.integer(id)]])
            #expect(resumed.result != nil, "\(resumed.error)")
            let view = try await daemon.finish(id)
            #expect(view.state == "failed" && view.errorReason == "destination_denied", "\(view.json.text)")
            #expect(try FileTree.entries(below: keys).isEmpty)

            // The same holds during a transfer: staged files, commits and reads use the same path.
            #expect(unlink(own) == 0 && rename(own + ".away", own) == 0)
            var staged = fields
            staged["paused"] = false
            staged["finalize"] = "manual"
            let second = try await bob.add(.object(staged))
            try await daemon.wait(second, for: "staged")
            #expect(rename(own, own + ".away") == 0 && symlink(keys, own) == 0)
            for (method, params) in [
                ("task.commit", ["ids": [.integer(second)]]), ("task.read", ["id": .integer(second)]),
            ] as [(String, JSONValue)] {
                let answer = try await bob.call(method, params)
                #expect(answer.result == nil && !answer.error.isEmpty, "\(method): \(answer)")
            }
            _ = try await bob.call("task.cancel", ["ids": [.integer(second)]])
            #expect(try FileTree.entries(below: keys).isEmpty)
        }
    }

    @Test(arguments: ServiceUser.allCases)
    func noFileReachesAnotherUsersDirectoryWhileDirectoriesAreSwapped(user: ServiceUser) async throws {
        let server = try await FaultServer()
        server.serve("/f", .tagged(901, length: 200_000))
        try await withGuests(2, as: user) { daemon, guests in
            let (bob, alice) = (guests[0], guests[1])
            let (own, other, keys) = ("\(bob.root)/d", "\(bob.root)/other", makeKeys(of: alice))
            makeDirectory(own, of: bob, mode: 0o777)
            #expect(symlink(keys, other) == 0)
            var ids: [Int64] = []
            for number in 0..<20 {
                ids.append(
                    try await bob.add([
                        "url": .string(server.url("/f")), "dir": .string(own), "output": .string("f\(number)"),
                        "paused": true, "coalesce": false, "max_retries": 1,
                    ]))
            }
            let isDone = NIOLockedValueBox(false)
            let racing = Task {
                while !isDone.withLockedValue(\.self) {
                    exchange(own, other)
                    await Task.yield()
                }
            }
            _ = try await bob.call("task.resume", ["ids": .array(ids.map { .integer($0) })])
            var ends: [String] = []
            for id in ids {
                let view = try await eventually("task \(id) settles", within: Patience.long) { () -> TaskView? in
                    let view = try await daemon.view(id)
                    // A directory that is not the admitted one may come back.
                    return view.isTerminal || view.waitReason == "destination_unavailable" ? view : nil
                }
                ends.append(view.state ?? "")
            }
            isDone.withLockedValue { $0 = true }
            await racing.value
            #expect(try FileTree.entries(below: keys).isEmpty, "\(ends)")
            _ = try await bob.call("task.cancel", ["ids": .array(ids.map { .integer($0) })])
        }
    }

    @Test(arguments: ServiceUser.allCases)
    func aPublishedFileOfARootServiceBelongsToTheTasksOwner(user: ServiceUser) async throws {
        let server = try await FaultServer()
        let source = SourceVersion.tagged(902, length: 3000)
        server.serve("/f", source)
        try await withGuests(1, as: user) { daemon, guests in
            let bob = guests[0]
            let owners = user == .root ? bob.uid : ServiceUser.ordinaryUID
            let direct = try await bob.add(["url": .string(server.url("/f")), "dir": .string("\(bob.root)/new/deep")])
            let path = try #require(try await daemon.complete(direct).finalPath)
            #expect(try source.equals(file: path) && owner(of: path) == owners)
            if user == .root { #expect(owner(of: "\(bob.root)/new") == bob.uid) }
            let staged = try await bob.add([
                "url": .string(server.url("/f")), "dir": .string(bob.root), "output": "s", "finalize": "manual",
            ])
            try await daemon.wait(staged, for: "staged")
            _ = try await bob.call("task.commit", ["ids": [.integer(staged)]])
            #expect(try source.equals(file: "\(bob.root)/s") && owner(of: "\(bob.root)/s") == owners)
            // It may replace its own.
            let again = try await bob.add([
                "url": .string(server.url("/f")), "dir": .string(bob.root), "output": "s", "on_conflict": "overwrite",
            ])
            try await daemon.complete(again)
            #expect(owner(of: "\(bob.root)/s") == owners)
        }
    }

    @Test(arguments: ServiceUser.allCases)
    func aDirectoryThatAGuestMayNotWriteIsRefusedAtOnce(user: ServiceUser) async throws {
        try await withGuests(1, as: user) { daemon, guests in
            let bob = guests[0]
            let closed = "\(bob.root)/closed"
            #expect(mkdir(closed, 0o700) == 0 && chown(closed, uid_t(ServiceUser.ordinaryUID), 0) == 0)
            #expect(mkdir(closed + "/in", 0o700) == 0 && chmod(closed + "/in", 0o777) == 0)
            let answer = try await bob.call(
                "task.add", ["url": "http://127.0.0.1:9/f", "dir": .string(closed + "/in")])
            #expect(answer.result == nil && answer.error.contains("may not search"), "\(answer)")
            _ = daemon
        }
    }

    @Test(arguments: ServiceUser.allCases)
    func aReadableFileInAClosedDirectoryIsNotSent(user: ServiceUser) async throws {
        let server = try await FaultServer()
        server.onAnyOther { _ in Reply(200, text: "ok") }
        try await withGuests(2, as: user) { daemon, guests in
            let (bob, alice) = (guests[0], guests[1])
            let closed = "\(bob.root)/alices"
            makeDirectory(closed, of: alice, group: ServiceUser.ordinaryUID, mode: 0o750)
            try FileTree.write("hers", to: "\(closed)/file", mode: 0o644)
            chmod("\(closed)/file", 0o644)
            let file = JSONValue.string("\(closed)/file")
            for (fields, field) in [
                (["kind": "upload", "source": file], "source"),
                (["kind": "data", "method": "POST", "body": ["file": file]], "body.file"),
                (["kind": "data", "method": "POST", "parts": [["name": "f", "file": file]]], "parts[0].file"),
                (["kind": "upload", "source": file, "spool": true], "source"),
            ] as [(JSONObject, String)] {
                var params = fields
                params["url"] = .string(server.url("/x"))
                let answer = try await bob.call("task.add", .object(params))
                #expect(answer.result == nil && answer.error.contains(field), "\(field): \(answer)")
            }
            // What it could read when it added it, and cannot now.
            let own = "\(bob.root)/own"
            makeDirectory(own, of: bob, mode: 0o755)
            try FileTree.write("his", to: "\(own)/file", mode: 0o644)
            let id = try await bob.add([
                "url": .string(server.url("/x")), "kind": "upload", "source": .string("\(own)/file"), "paused": true,
            ])
            #expect(chown(own, uid_t(alice.uid), gid_t(ServiceUser.ordinaryUID)) == 0 && chmod(own, 0o750) == 0)
            _ = try await bob.call("task.resume", ["ids": [.integer(id)]])
            let view = try await daemon.finish(id)
            #expect(view.errorReason == "source_file_changed", "\(view.json.text)")
            #expect(server.requests(to: "/x").isEmpty)
        }
    }
}

/// renameat2(2) with RENAME_EXCHANGE.
private func exchange(_ one: String, _ other: String) {
    typealias Call = @convention(c) (Int32, UnsafePointer<CChar>, Int32, UnsafePointer<CChar>, UInt32) -> Int32
    guard let address = dlsym(nil, "renameat2") else { return }
    _ = unsafeBitCast(address, to: Call.self)(AT_FDCWD, one, AT_FDCWD, other, 2)
}
