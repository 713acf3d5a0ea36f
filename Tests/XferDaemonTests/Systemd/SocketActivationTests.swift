import Glibc
import Testing
import XferTestSupport

@testable import XferDaemon

@Suite struct SocketActivationTests {
    /// A listening Unix stream socket, inheritable as the manager would leave it.
    private func listener(at path: String) throws -> Int32 {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        try #require(bindUnix(descriptor, to: path) == 0)
        try #require(listen(descriptor, 5) == 0)
        return descriptor
    }

    private func take(_ descriptor: Int32, _ more: [String: String] = [:]) throws -> [InheritedSocket] {
        let environment = ["LISTEN_FDS": "1", "LISTEN_PID": "42"].merging(more) { $1 }
        return try SocketActivation.sockets(environment: environment, processID: 42, firstDescriptor: descriptor)
    }

    @Test func aListeningUnixSocketIsTakenWithNameAndPathAndIsNotInherited() throws {
        let directory = try TemporaryDirectory()
        let descriptor = try listener(at: directory.file("s"))
        defer { close(descriptor) }
        let sockets = try take(descriptor, ["LISTEN_FDNAMES": "xferd.socket"])
        #expect(
            sockets == [InheritedSocket(descriptor: descriptor, name: "xferd.socket", path: directory.file("s"))])
        #expect(fcntl(descriptor, F_GETFD) == FD_CLOEXEC)
    }

    @Test func severalSocketsAreTakenInOrderAndMissingNamesAreUnknown() throws {
        let directory = try TemporaryDirectory()
        // Two neighbours that no test running beside this one uses.
        var limit = rlimit()
        try #require(getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
        let highest = Int32(clamping: min(limit.rlim_cur, 65_536)) - 2
        let first = try #require(
            (highest - 100...highest).last { [$0, $0 + 1].allSatisfy { fcntl($0, F_GETFD) == -1 } })
        let numbers = [first, first + 1]
        for number in numbers {
            let descriptor = try listener(at: directory.file("s\(number)"))
            try #require(dup2(descriptor, number) == number)
            close(descriptor)
        }
        defer { for number in numbers { close(number) } }
        let sockets = try take(first, ["LISTEN_FDS": "2", "LISTEN_FDNAMES": "first"])
        #expect(sockets.map(\.descriptor) == numbers)
        #expect(sockets.map(\.name) == ["first", "unknown"])
        #expect(sockets.map(\.path) == numbers.map { directory.file("s\($0)") })
    }

    @Test(
        arguments: [[:], ["LISTEN_FDS": "1"], ["LISTEN_FDS": "1", "LISTEN_PID": "41"], ["LISTEN_PID": "42"]]
            as [[String: String]])
    func socketsForAnotherProcessAreLeftAlone(environment: [String: String]) throws {
        #expect(try SocketActivation.sockets(environment: environment, processID: 42) == [])
    }

    @Test func aDescriptorThatCannotBeServedIsRefusedWithTheReason() throws {
        let directory = try TemporaryDirectory()
        let closed = fcntl(0, F_DUPFD, 960)
        close(closed)
        #expect(throws: SocketActivationError.notOpen(closed)) { try take(closed) }

        let datagram = try DatagramReceiver(directory.file("d"))
        #expect(throws: SocketActivationError.notStream(datagram.descriptor)) { try take(datagram.descriptor) }

        let silent = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(silent) }
        #expect(throws: SocketActivationError.notListening(silent)) { try take(silent) }

        let tcp = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(tcp) }
        #expect(throws: SocketActivationError.notUnix(tcp)) { try take(tcp) }

        let file = open(directory.file("f"), O_CREAT | O_RDWR, 0o600)
        defer { close(file) }
        #expect(throws: SocketActivationError.notUnix(file)) { try take(file) }
    }

    @Test(arguments: ["-1", "many", "100000"])
    func anInvalidDescriptorCountIsRefused(text: String) {
        #expect(throws: SocketActivationError.badCount(text)) { try take(3, ["LISTEN_FDS": text]) }
    }
}
