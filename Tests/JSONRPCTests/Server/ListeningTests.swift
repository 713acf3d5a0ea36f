import Glibc
import JSONRPC
import StrictJSON
import Testing
import XferTestSupport

@Suite struct ListeningTests {
    private let directory: TemporaryDirectory
    private var path: String { directory.file("s.sock") }

    init() throws { directory = try TemporaryDirectory("rpc") }

    private func mode(_ path: String) -> mode_t? {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_mode & 0o777 : nil
    }

    private func withServer(on endpoint: RPCEndpoint, body: () async throws -> Void) async throws {
        let server = RPCServer(service: TestService())
        defer { #expect(server.clientCount == 0) }
        do {
            try await server.start(on: endpoint)
            try await body()
            await server.shutdown(grace: .zero)
        } catch {
            await server.shutdown(grace: .zero)
            throw error
        }
    }

    private func expectAnswer(from path: String) async throws {
        #expect(try await UnixSocket(connectedTo: path).call("echo")["id"] == "call")
    }

    @Test(arguments: [0o600, 0o660, 0o666] as [UInt32])
    func aSocketHasItsConfiguredMode(mode wanted: UInt32) async throws {
        try await withServer(on: .path(path, mode: wanted, group: getegid())) {
            #expect(mode(path) == wanted)
            try await expectAnswer(from: path)
        }
        #expect(mode(path) == nil)
    }

    @Test func aSocketWithoutAListenerIsReplaced() async throws {
        let stale = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0)
        try #require(UnixSocket.withAddress(path) { bind(stale, $0, $1) } == 0)
        close(stale)
        try await withServer(on: .path(path)) {
            try await expectAnswer(from: path)
        }
    }

    @Test func aSocketWithAListenerIsLeftAlone() async throws {
        try await withServer(on: .path(path)) {
            let second = RPCServer(service: TestService())
            await #expect(throws: RPCServerError.alreadyListening(path: path)) {
                try await second.start(on: .path(path))
            }
            await second.shutdown()
            try await expectAnswer(from: path)
        }
    }

    @Test func aFileThatIsNoSocketIsLeftAlone() async throws {
        let descriptor = open(path, O_CREAT | O_WRONLY, 0o644)
        try #require(descriptor >= 0)
        close(descriptor)
        await #expect(throws: RPCServerError.notASocket(path: path)) { try await withServer(on: .path(path)) {} }
        #expect(mode(path) == 0o644)
    }

    @Test func aPathThatDoesNotFitASocketAddressIsRefused() async throws {
        for path in ["relative.sock", "/" + String(repeating: "x", count: 107), "/a\0b"] {
            await #expect(throws: RPCServerError.invalidPath(path)) { try await withServer(on: .path(path)) {} }
        }
    }

    @Test func aMissingSocketDirectoryIsNamed() async throws {
        let missing = directory.file("none/s.sock")
        let error = await #expect(throws: RPCServerError.self) { try await withServer(on: .path(missing)) {} }
        #expect(error?.description == "cannot listen: bind \(missing): No such file or directory")
    }

    @Test func aListeningSocketIsTakenOver() async throws {
        let inherited = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0)
        try #require(UnixSocket.withAddress(path) { bind(inherited, $0, $1) } == 0)
        try #require(listen(inherited, 5) == 0)
        // A client that came before we did is served too.
        let early = try UnixSocket(connectedTo: path)
        try await withServer(on: .inherited(descriptor: inherited)) {
            let answer = try await early.call("echo")
            #expect(answer["id"] == "call")
            #expect(fcntl(inherited, F_GETFD) == FD_CLOEXEC)
        }
        #expect(mode(path) != nil)
        #expect(throws: PosixError.self) { try UnixSocket(connectedTo: path) }
    }

    @Test func aDescriptorThatIsNoListeningUnixSocketIsRefused() async throws {
        let unbound = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0)
        let datagrams = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue), 0)
        let internet = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        let file = open("/dev/null", O_RDONLY)
        for descriptor in [unbound, datagrams, internet, file, 9_999] {
            let error = await #expect(throws: RPCServerError.self) {
                try await withServer(on: .inherited(descriptor: descriptor)) {}
            }
            #expect(error?.description == "descriptor \(descriptor) is not a listening Unix stream socket")
        }
        for descriptor in [unbound, datagrams, internet, file] { #expect(close(descriptor) == 0) }
    }

    @Test func theServerRemovesOnlyItsOwnSocketFile() async throws {
        try await withServer(on: .path(path)) {
            unlink(path)
            let descriptor = open(path, O_CREAT | O_WRONLY, 0o644)
            try #require(descriptor >= 0)
            close(descriptor)
        }
        #expect(mode(path) == 0o644)
    }

    @Test func theServerListensInTwoPlacesAtOnce() async throws {
        try await withServer(on: .path(path)) {}
        let server = RPCServer(service: TestService())
        let other = directory.file("t.sock")
        try await server.start(on: .path(path))
        try await server.start(on: .path(other))
        try await expectAnswer(from: path)
        try await expectAnswer(from: other)
        await server.shutdown(grace: .zero)
        #expect(mode(path) == nil)
        #expect(mode(other) == nil)
    }
}
