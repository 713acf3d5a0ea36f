import Glibc
public import XferSystem

/// A connection to the first daemon that accepts one.
public struct LocatedConnection {
    public let connection: XferConnection
    public let candidate: SocketLocator.Candidate
    /// The sockets that were tried before `candidate`, with the error of each.
    public let passedOver: [FailedCandidate]

    /// A sentence for people if an earlier candidate failed, else nil.
    ///
    /// - Parameter isRoot: true if the caller is root, whose daemon is the system's.
    public func fallbackNotice(isRoot: Bool = false) -> String? {
        // Few users have an agent of their own, so its absence is not reported.
        let isUsual = candidate.origin == .systemFleet || candidate.origin == .system && isRoot
        // The user's daemon has one of two places, whichever service manager or session it was started by.
        let isOwn = [.user, .userState].contains(candidate.origin)
        let reported = passedOver.filter {
            !$0.isQuiet && !(isOwn && $0.error.mayPass)
                && !(isUsual && $0.error == .noSocket(path: $0.candidate.path))
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

    /// True if messages leave it out.
    var isQuiet: Bool { candidate.isUnusual && error.mayPass }
}

/// The error that no daemon answers, with the sockets that were tried and the error of each.
public struct NoDaemonError: Error, Hashable, Sendable, CustomStringConvertible {
    public let tried: [FailedCandidate]

    /// A description of the sockets that were tried, and advice for the user.
    public var description: String {
        if case .rejected? = tried.first?.error, tried.count == 1 { return "\(reasons); \(advice())" }
        return "no daemon answers: \(reasons); \(advice())"
    }

    /// True if a daemon answers, but refuses the token.
    public var isRefusal: Bool {
        guard tried.count == 1, case .rejected(_, let status, _)? = tried.first?.error else { return false }
        return status == 401 || status == 403
    }

    private var serverAdvice: String {
        if case .rejected(_, 401, _)? = tried.first?.error {
            return "the token is unknown, revoked or expired; `xferctl token list` on the daemon's machine shows the "
                + "tokens, `xferctl token add` makes one"
        }
        if case .server(_, let reason)? = tried.first?.error, !reason.contains("certificate") {
            return "check the URL, and that the daemon listens there (`listen` in its configuration)"
        }
        return "check the URL and the server's certificate; --server-ca FILE trusts an authority of your own"
    }

    /// The sockets that were tried, with the error of each.
    public var reasons: String {
        let loud = tried.filter { !$0.isQuiet }
        return (loud.isEmpty ? tried : loud).map { "\($0.error) (\($0.candidate.origin.rawValue))" }
            .joined(separator: ", ")
    }

    /// The user's next step: start a daemon, or request access.
    public func advice(_ managers: ServiceManagers = .ofThisMachine(), isRoot: Bool? = nil) -> String {
        let isRoot = isRoot ?? (geteuid() == 0)
        let origins = tried.map(\.candidate.origin)
        if origins.contains(.server) { return serverAdvice }
        // The runtime directory is another user's: a daemon of the caller's own lies in the state directory.
        let denied = tried.filter { $0.candidate.origin != .user }
        if denied.contains(where: { if case .permissionDenied = $0.error { true } else { false } }) {
            let own = origins.contains(.user) ? ", or start your own with \"xferctl daemon start\"" : ""
            return "ask the operator to list you under access.users in its configuration, and to add you to the group "
                + "of the socket\(own)"
        }
        let fleets: Set<SocketLocator.Origin> = [.fleetEnvironment, .userFleet, .systemFleet]
        if !fleets.isDisjoint(with: origins) {
            let unit = managers.hasSystem ? "\"sudo systemctl enable --now xfer-fleet\" or " : ""
            return "start one with \(unit)\"xfer-fleet run &\""
        }
        // On a machine with systemd the system's daemon is root's, unless root asked for its own with --user.
        if origins.contains(.user), !(isRoot && managers.hasSystem && origins.contains(.system)) {
            let unit = managers.hasUser ? " or \"systemctl --user enable --now xferd.socket xferd.service\"" : ""
            return "start one with \"xferctl daemon start\"\(unit)"
        }
        guard origins.contains(.system) else { return "start one with \"xferd --socket PATH &\"" }
        return managers.hasSystem
            ? "start it with \"sudo systemctl enable --now xferd.socket xferd.service\""
            : "systemd does not run here: start one of your own with \"xferctl daemon start\", and leave out --system"
    }
}

extension NoDaemonError {
    /// The time for which a client waits for a daemon that is starting: one that has the lock of its socket, or one
    /// that the same script started a moment ago and that has no lock yet.
    var patience: Duration {
        let passing = tried.filter(\.error.mayPass)
        if passing.contains(where: { SocketLock.isTaken(forSocket: $0.candidate.path) }) { return .seconds(2) }
        return passing.isEmpty ? .zero : .milliseconds(500)
    }
}

extension SocketLocator {
    /// A locator with the environment and the uid of this process.
    public static func ofThisProcess() -> SocketLocator {
        var environment: [String: String] = [:]
        for name in ["XFERD_SOCKET", "XFERD_FLEET_SOCKET"] + UserPlaces.environmentNames {
            if let value = getenv(name) { environment[name] = String(cString: value) }
        }
        // The account database, which may be on the network, only where it is needed.
        let home = environment["HOME"]?.hasPrefix("/") == true ? nil : UserPlaces.accountHome
        return SocketLocator(environment: environment, uid: getuid(), accountHome: home)
    }

    /// Connects to the first candidate that answers.
    ///
    /// - Parameter waitsForStart: true to wait, for at most two seconds, for a daemon that is starting.
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
