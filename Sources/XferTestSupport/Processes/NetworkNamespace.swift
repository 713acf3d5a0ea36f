import Foundation
import Glibc
import NIOConcurrencyHelpers

/// A network of its own (network_namespaces(7)) with only `lo`, connected only to the namespaces that it was linked
/// with. It is removed with the last reference, once its processes have ended.
public final class NetworkNamespace: Sendable {
    /// True if namespaces can be created here, tested once: it needs root and ip(8).
    public static let isPossible: Bool = {
        guard geteuid() == 0, let ip = Command.find("ip"), Command.find("nsenter") != nil else { return false }
        let name = "xfer-probe-\(getpid())"
        return system("(\(ip) netns add \(name) && \(ip) netns del \(name)) >/dev/null 2>&1") == 0
    }()

    /// The reason why a test is skipped without a namespace.
    public static let requirement: String = "needs root and iproute2: network namespaces"

    public let name: String
    private static let count = NIOLockedValueBox(0)

    public init() async throws {
        let number = Self.count.withLockedValue { count in
            count += 1
            return count
        }
        name = "xfer-\(getpid())-\(number)"
        try await Self.run("netns", "add", name)
        try await ip("link", "set", "lo", "up")
    }

    deinit { _ = system("\(Command.find("ip") ?? "ip") netns del \(name) >/dev/null 2>&1") }

    /// The file that represents the namespace.
    public var path: String { "/run/netns/\(name)" }

    /// Runs ip(8) within it.
    public func ip(_ arguments: String...) async throws { try await Self.run(["-n", name] + arguments) }

    /// Runs several commands of ip(8) as closely together as possible.
    public func ip(together commands: [String]) async throws {
        let directory = try TemporaryDirectory("xfer-ip")
        let file = directory.file("commands")
        try commands.joined(separator: "\n").write(toFile: file, atomically: false, encoding: .utf8)
        try await ip("-batch", file)
    }

    /// A pair of links, each end in one of the namespaces and up.
    public func tie(_ interface: String, to other: NetworkNamespace, _ otherInterface: String) async throws {
        try await Self.run(
            "link", "add", interface, "netns", name, "type", "veth", "peer", "name", otherInterface, "netns", other.name
        )
        try await ip("link", "set", interface, "up")
        try await other.ip("link", "set", otherInterface, "up")
    }

    /// The command that runs a process in the namespace: a program with arguments before those of the process.
    ///
    /// - Parameter resolvConf: path of a file that is /etc/resolv.conf to that process.
    public func launcher(resolvConf: String? = nil) throws -> [String] {
        guard let nsenter = Command.find("nsenter"), let unshare = Command.find("unshare") else {
            throw TimedOut("nsenter and unshare are not installed")
        }
        let enter = [nsenter, "--net=\(path)"]
        guard let resolvConf else { return enter }
        let mount = #"mount --bind "$0" /etc/resolv.conf && exec "$@""#
        return [unshare, "--mount", "/bin/sh", "-c", mount, resolvConf] + enter
    }

    /// Runs `body` on a thread of its own that is in the namespace; so are the threads and sockets it makes.
    public func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        let path = path
        return try await offThread {
            let descriptor = open(path, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { throw PosixError("open \(path)") }
            defer { close(descriptor) }
            typealias Enter = @convention(c) (Int32, Int32) -> Int32
            // Glibc hides sched.h's setns(2) from Swift.
            guard let symbol = dlsym(nil, "setns"), unsafeBitCast(symbol, to: Enter.self)(descriptor, 0x4000_0000) == 0
            else { throw PosixError("setns \(path)") }
            return try body()
        }
    }

    private static func run(_ arguments: String...) async throws { try await run(arguments) }

    private static func run(_ arguments: [String]) async throws {
        guard let ip = Command.find("ip") else { throw TimedOut("ip is not installed: apt-get install iproute2") }
        let result = try await Command.run(ip, arguments)
        guard result.isSuccess else { throw TimedOut("ip \(arguments.joined(separator: " ")): \(result)") }
    }
}
