import Glibc
import StrictJSON
import Testing
import XferTestSupport

/// One guest's connections are its own share: others and the operator get theirs.
@Suite(.enabled(if: Guest.isPossible, "needs root and setpriv")) struct GuestShareTests {
    /// Connects from a thread with the guest's uid, which the daemon sees as the peer's.
    private func connect(_ count: Int, as guest: Guest, to path: String) async throws -> [UnixSocket] {
        try await offThread {
            // setresuid(2) by number is for this thread alone, which ends here.
            typealias Call = @convention(c) (Int, Int, Int, Int) -> Int
            guard let address = dlsym(nil, "syscall") else { throw TimedOut("no syscall(2)") }
            #if arch(x86_64)
                let number = 117
            #else
                let number = 147
            #endif
            let uid = Int(guest.uid)
            guard unsafeBitCast(address, to: Call.self)(number, uid, uid, uid) == 0 else {
                throw PosixError("setresuid")
            }
            return try (0..<count).map { _ in try UnixSocket(connectedTo: path) }
        }
    }

    @Test func idleConnectionsOfOneGuestDoNotLockOutOtherUsers() async throws {
        try await withGuests(2) { daemon, guests in
            let idle = try await connect(256, as: guests[0], to: daemon.socket)
            // The daemon refuses the first connection beyond the share.
            let told = try await idle[100].readLine()
            #expect(told?.contains("too_many_clients") == true && told?.contains("64") == true, "\(told ?? "nothing")")
            #expect(try await daemon.call("daemon.status")["version"] != nil)
            #expect(try await guests[1].call("task.list").result != nil)
            let more = try await guests[0].call("task.list")
            #expect(more.result == nil && more.error.contains("this user has 64 connections"), "\(more)")
            withExtendedLifetime(idle) {}
        }
    }

    @Test func anIncompleteRequestIsEndedByTheRequestTimeout() async throws {
        try await withGuests(1, DaemonFixture.Options(settings: ["rpc": ["request_timeout": "1"]])) { daemon, guests in
            let sockets = try await connect(2, as: guests[0], to: daemon.socket)
            try await sockets[0].send("{")
            try await sockets[1].send("GET /healthz HT")
            #expect(try await sockets[0].readLine()?.contains("request_timeout") == true)
            #expect(try await sockets[1].readLine()?.hasPrefix("HTTP/1.1 408 ") == true)
        }
    }

    /// A hundred streams whose client never reads, and ten thousand events: the daemon queues a bounded amount.
    @Test func subscribersThatNeverReadCostLittleMemory() async throws {
        var options = DaemonFixture.Options(settings: [
            "rpc": ["max_waiting": "1Mi", "max_waiting_per_user": "4Mi", "max_clients_per_user": "128"]
        ])
        options.settings["queue"] = ["max_active": "1"]
        try await withGuests(1, options) { daemon, guests in
            let guest = guests[0]
            let readers = try await connect(100, as: guest, to: daemon.socket)
            for reader in readers {
                try await reader.send(#"{"jsonrpc":"2.0","id":1,"method":"events.subscribe","params":{}}"# + "\n")
            }
            for reader in readers { #expect(try await reader.readLine()?.contains("subscription") == true) }
            let before = try daemon.residentKibibytes
            for _ in 0..<10 {
                let tasks = (0..<500).map { _ in
                    JSONValue.object(["url": "http://127.0.0.1:9/f", "dir": .string(guest.root), "paused": true])
                }
                let added = try await guest.call("batch.add", ["tasks": .array(tasks)])
                #expect(added.result != nil, "\(added.error.prefix(500))")
            }
            let grown = try daemon.residentKibibytes - before
            // The tasks alone take 11 MiB. Queues of 350 KB a subscriber would take 35 more.
            let most = Patience.factor > 1 ? 120 : 32
            #expect(grown < most << 10, "\(grown >> 10) MiB")
            withExtendedLifetime(readers) {}
        }
    }
}
