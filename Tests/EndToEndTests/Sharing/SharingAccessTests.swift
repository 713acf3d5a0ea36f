import StrictJSON
import Testing
import XferTestSupport

/// A user sees and empties only their own slots and failed URLs, and only their own failed URLs block them.
///
/// An operator sees the failed URLs of all users.
@Suite(.enabled(if: Guest.isPossible)) struct SharingAccessTests {
    @Test func failedURLsOfAnotherUserAreNotVisibleRemovableOrBlocking() async throws {
        let server = try await FaultServer()
        try await withGuest { daemon, guest in
            try await daemon.fails(try await daemon.add(server.url("/a")), "http_status")
            let meek = ["add", "--wait", "--no-retry-failed", "-d", ".", server.url("/a")]
            // The operator's failure does not block the guest; the guest's own does.
            let first = try await guest(meek)
            #expect(first.output.contains("http_status"), "\(first)")
            let second = try await guest(meek)
            #expect(second.output.contains("blocked_url"), "\(second)")
            #expect(server.requests.count == 2)

            #expect(try await guest(["failed-url"]).output.split(separator: "\n").count == 2)
            let all = try await daemon.call("failed_url.list", ["order": "asc"])["entries"]?.arrayValue ?? []
            #expect(all.map { $0["owner"] } == [0, .integer(guest.uid)])
            let operators = try #require(all.first?["id"]?.integerValue)
            let refused = try await guest(["failed-url", "remove", "\(operators)"])
            #expect(refused.exit == .code(3) && refused.errors.contains("no entry \(operators)"), "\(refused)")
            #expect(try await guest(["failed-url", "remove", server.url("/a")]).output == "1 removed\n")
            #expect(try await guest(["failed-url", "clear"]).output == "nothing removed: no such URL is on the list\n")
            #expect(try await daemon.ctl("failed-url", "clear").output == "1 removed\n")
        }
    }

    @Test func everyUserHasSlotsOfItsOwn() async throws {
        let server = try await FaultServer()
        try await withGuest { daemon, guest in
            let mine = try await daemon.add(server.url("/a"), ["slot": "s", "paused": true])
            let added = try await guest(["add", "--paused", "--slot", "s", "-d", ".", server.url("/a")])
            #expect(added.exit == .code(0), "\(added)")
            #expect(try await daemon.view(mine).state == "paused")
            #expect(try await daemon.call("slot.get", ["slot": "s"])["task"]?["id"] == .integer(mine))
            let cancelled = try await guest(["slot", "cancel", "s"])
            #expect(cancelled.exit == .code(0) && cancelled.output != "cancelled: #\(mine)\n", "\(cancelled)")
            #expect(try await guest(["slot", "detach", "s"]).output == "nothing is in s\n")
            #expect(try await daemon.view(mine).state == "paused")
        }
    }
}
