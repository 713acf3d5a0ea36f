import Glibc
import Testing
import XferTestSupport

@testable import JSONRPC

/// Whether the kernel takes one more socket is found out before NIO, which traps when it does not.
@Suite struct WatchProbeTests {
    @Test func aSocketCanBeWatchedRepeatedly() throws {
        var ends: [CInt] = [0, 0]
        try #require(socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &ends) == 0)
        defer { for end in ends { close(end) } }
        let probe = try WatchProbe()
        for _ in 0..<3 { #expect(ends.allSatisfy(probe.canWatch)) }
    }

    @Test func aDescriptorThatEpollRefusesCannotBeWatched() throws {
        let probe = try WatchProbe()
        #expect(!probe.canWatch(-1))
        // epoll refuses regular files (EPERM).
        let file = open("/proc/self/stat", O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        #expect(file >= 0 && !probe.canWatch(file))
    }
}
