import Glibc
import XferSystem

/// A connection to the first daemon that accepts one.
public struct LocatedConnection {
    public let connection: XferConnection
    public let candidate: SocketLocator.Candidate
    /// The sockets that were tried before `candidate`, with the error of each.
    public let passedOver: [FailedCandidate]

    /// A sentence for people if an earlier candidate failed, else nil.
    public var fallbackNotice: String? {
        // Few users have an agent of their own, so its absence is not reported.
        let reported = passedOver.filter {
            candidate.origin != .systemFleet || $0.error != .noSocket(path: $0.candidate.path)
        }
        guard !reported.isEmpty else { return nil }
        return reported.map { "\($0.error)" }.joined(separator: "; ")
            + "; using \(candidate.origin.rawValue) on \(candidate.path)"
    }
}

/// A socket that did not answer.
public struct FailedCandidate: Hashable, Sendable {
    public let candidate: SocketLocator.Candidate
    public let error: ConnectionError
}

/// No daemon answers: the sockets that were tried, with the error of each.
public struct NoDaemonError: Error, Hashable, Sendable, CustomStringConvertible {
    public let tried: [FailedCandidate]

    /// Says which sockets were tried, and what the user can do.
    public var description: String {
        let reasons = tried.map { "\($0.error) (\($0.candidate.origin.rawValue))" }.joined(separator: ", ")
        return "no daemon answers: \(reasons); \(advice)"
    }

    /// What the user can do: start a daemon, or ask for access.
    public var advice: String {
        if tried.contains(where: { $0.candidate.origin == .server }) {
            return "see to the URL, the token and the server's certificate"
        }
        if tried.contains(where: { if case .permissionDenied = $0.error { true } else { false } }) {
            return "ask the operator to list you under access.users in its configuration"
        }
        if tried.contains(where: { [.fleetEnvironment, .userFleet, .systemFleet].contains($0.candidate.origin) }) {
            return "start one with \"sudo systemctl enable --now xfer-fleet\" or \"xfer-fleet run &\""
        }
        return tried.contains { $0.candidate.origin == .user }
            ? "start one with \"systemctl --user enable --now xferd\" or \"xferd &\""
            : tried.contains { $0.candidate.origin == .system }
                ? "start it with \"sudo systemctl enable --now xferd\"" : "start one with \"xferd --socket PATH &\""
    }
}

extension NoDaemonError {
    /// How long a client waits for a daemon that is starting: one that holds the lock of its socket, or one that has
    /// been started by the same script a moment ago and has no lock yet.
    var patience: Duration {
        let passing = tried.filter(\.error.mayPass)
        if passing.contains(where: { SocketLock.isHeld(forSocket: $0.candidate.path) }) { return .seconds(2) }
        return passing.isEmpty ? .zero : .milliseconds(500)
    }
}

extension SocketLocator {
    /// A locator with the environment and the uid of this process.
    public static func ofThisProcess() -> SocketLocator {
        var environment: [String: String] = [:]
        for name in ["XFERD_SOCKET", "XFERD_FLEET_SOCKET", "XDG_RUNTIME_DIR"] {
            if let value = getenv(name) { environment[name] = String(cString: value) }
        }
        return SocketLocator(environment: environment, uid: getuid())
    }

    /// Connects to the first candidate that answers.
    ///
    /// - Parameter waitsForStart: whether to wait, for at most two seconds, for a daemon that is starting.
    public func connect(
        to instance: Instance = .automatic, timeout: Duration? = .seconds(10), waitsForStart: Bool = true
    ) throws(NoDaemonError) -> LocatedConnection {
        guard waitsForStart else { return try connectOnce(to: instance, timeout: timeout) }
        let start = ContinuousClock.now
        while true {
            do throws(NoDaemonError) {
                return try connectOnce(to: instance, timeout: timeout)
            } catch {
                guard ContinuousClock.now - start < error.patience else { throw error }
            }
            usleep(10_000)
        }
    }

    private func connectOnce(to instance: Instance, timeout: Duration?) throws(NoDaemonError) -> LocatedConnection {
        var failed: [FailedCandidate] = []
        for candidate in candidates(for: instance) {
            do throws(ConnectionError) {
                let connection: XferConnection
                if case .server(let server) = instance {
                    connection = try XferConnection.connect(to: server, timeout: timeout)
                } else {
                    connection = try XferConnection.connect(to: candidate.path, timeout: timeout)
                }
                return LocatedConnection(connection: connection, candidate: candidate, passedOver: failed)
            } catch {
                failed.append(FailedCandidate(candidate: candidate, error: error))
            }
        }
        throw NoDaemonError(tried: failed)
    }
}
