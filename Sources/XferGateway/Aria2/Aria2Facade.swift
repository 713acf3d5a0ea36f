import JSONRPC
import Logging
import NIOConcurrencyHelpers
import StrictJSON
import XferAria2
import XferModel
import XferSystem

/// Answers the methods of aria2's protocol by calling those of the service.
///
/// Each call has the rights of its token. The service stores as tasks the state that aria2 keeps in memory; the facade
/// itself keeps only the set of hidden results.
final class Aria2Facade: Sendable {
    let service: ScopedService
    let tokens: any TokenDirectory
    let seed: Aria2Seed
    /// True if it shows all downloads of a token's user, and not only those that were added through it.
    let showsAll: Bool
    let limits: RPCLimits
    let turns: BulkTurns
    let users: UserConnections
    let hidden = HiddenResults(since: Clocks.wall())
    /// The identity of this run, by which aria2's front-ends notice a restart.
    let sessionID: String
    private let refusals: RefusalRecorder
    private let logger: Logger
    private let reportedOptions = NIOLockedValueBox<Set<String>>([])

    init(
        service: ScopedService, tokens: any TokenDirectory, configuration: Aria2Configuration, limits: RPCLimits,
        turns: BulkTurns, users: UserConnections, refusals: RefusalRecorder, logger: Logger
    ) {
        self.service = service
        self.tokens = tokens
        seed = Aria2Seed(storeID: configuration.storeID)
        showsAll = configuration.showsAll
        self.limits = limits
        self.turns = turns
        self.users = users
        self.refusals = refusals
        self.logger = logger
        let words = [UInt64.random(in: .min ... .max), .random(in: .min ... .max), .random(in: .min ... .max)]
        sessionID = String(words.map { Aria2GID.hex($0) }.joined().prefix(40))
    }

    /// The result of a call.
    struct Outcome: Sendable {
        var result: Result<JSONValue, Aria2Fault>
        /// True if a token was wrong or missing: then the answer is delayed.
        var isUnauthorized = false
    }

    /// Carries out one call.
    func perform(_ method: String, _ params: [JSONValue], for session: Aria2Session) async -> Outcome {
        if method == Aria2Method.multicall.rawValue { return await performAll(params, for: session) }
        let (token, rest) = Aria2Parameters.token(in: params)
        let client: Aria2Client
        do throws(Aria2Fault) {
            client = try self.client(token, session)
        } catch {
            return Outcome(result: .failure(error), isUnauthorized: error == .unauthorized)
        }
        guard let known = Aria2Method(rawValue: method) else { return Outcome(result: .failure(.noSuchMethod(method))) }
        do {
            return Outcome(result: .success(try await client.answer(known, Aria2Parameters(rest))))
        } catch {
            return Outcome(result: .failure(error as? Aria2Fault ?? Aria2Fault("\(error)")))
        }
    }

    /// `system.multicall`: calls one after the other, each with a token of its own. Each result is in an array of one
    /// element.
    private func performAll(_ params: [JSONValue], for session: Aria2Session) async -> Outcome {
        let calls: [Result<(method: String, params: [JSONValue]), Aria2Fault>]
        do throws(Aria2Fault) {
            let rest = Aria2Parameters.token(in: params).rest
            calls = try Aria2Parameters(rest).calls(atMost: limits.batchRequests)
        } catch {
            return Outcome(result: .failure(error))
        }
        var answers: [JSONValue] = []
        var isUnauthorized = false
        var room = limits.messageBytes
        for call in calls {
            let outcome: Outcome
            switch call {
            case _ where room <= 0: outcome = Outcome(result: .failure(.tooLong(limits.messageBytes)))
            case .failure(let fault): outcome = Outcome(result: .failure(fault))
            case .success((Aria2Method.multicall.rawValue, _)):
                outcome = Outcome(result: .failure(Aria2Fault("Recursive system.multicall forbidden.")))
            case .success(let (method, params)): outcome = await perform(method, params, for: session)
            }
            if outcome.isUnauthorized { isUnauthorized = true }
            switch outcome.result {
            case .success(let value):
                room -= value.text.utf8.count
                answers.append([value])
            case .failure(let fault): answers.append(fault.object)
            }
        }
        return Outcome(result: .success(.array(answers)), isUnauthorized: isUnauthorized)
    }

    /// The client that a call is for: that of its token, else that of the request's `Authorization`.
    private func client(_ text: String?, _ session: Aria2Session) throws(Aria2Fault) -> Aria2Client {
        let token: GatewayToken?
        if let text {
            token = tokens.token(for: text)
        } else {
            token = session.connection.remote.flatMap { tokens.token($0.tokenID) }
        }
        guard let token else {
            refusals.record(text == nil ? .missingToken : .wrongToken)
            throw .unauthorized
        }
        guard token.scope != .metrics, service.refusal(of: token.user) == nil else {
            refusals.record(token.scope == .metrics ? .scope : .user)
            throw .unauthorized
        }
        guard let connection = session.connection(for: token) else {
            refusals.record(.tooManyClients)
            throw users.fault
        }
        return Aria2Client(facade: self, connection: connection)
    }

    /// The highest number of names of options that are logged, and the longest of them: clients must not fill the
    /// journal.
    private static let maxReported = 300
    private static let maxNameBytes = 64

    /// Logs options without effect, each once.
    func report(ignored options: Set<String>) {
        guard !options.isEmpty else { return }
        let new = reportedOptions.withLockedValue { reported in
            let new = options.subtracting(reported).filter { $0.utf8.count <= Self.maxNameBytes }
                .prefix(max(0, Self.maxReported - reported.count))
            reported.formUnion(new)
            return new
        }
        guard !new.isEmpty else { return }
        logger.notice(
            "options of aria2 have no effect", metadata: ["options": "\(new.sorted().joined(separator: " "))"])
    }
}

/// A request or WebSocket by which clients of the facade call, perhaps with several tokens.
final class Aria2Session: Sendable {
    let connection: RPCConnection
    private let users: UserConnections
    /// Called for each token that is seen for the first time.
    private let onToken: @Sendable (GatewayToken, RPCConnection) -> Void
    private let sink: (@Sendable ([UInt8]) -> RPCNotification)?
    private let acting = NIOLockedValueBox<[Int64: RPCConnection]>([:])

    init(
        _ connection: RPCConnection, _ users: UserConnections,
        sink: (@Sendable ([UInt8]) -> RPCNotification)? = nil,
        onToken: @escaping @Sendable (GatewayToken, RPCConnection) -> Void = { _, _ in }
    ) {
        self.connection = connection
        self.users = users
        self.sink = sink
        self.onToken = onToken
    }

    /// Returns the connection that has the rights of a token; nil if the token's user has too many.
    func connection(for token: GatewayToken) -> RPCConnection? {
        // A request or WebSocket that was opened with a token counts already.
        let counts = connection.remote?.tokenID == HTTPClient.anonymousToken
        let (found, isNew) = acting.withLockedValue { acting -> (RPCConnection?, Bool) in
            if let found = acting[token.id] { return (found, false) }
            if counts, !users.admits(token) { return (nil, false) }
            let remote = RPCRemote(
                tokenID: token.id, isPrivileged: token.scope == .operate,
                isEncrypted: connection.remote?.isEncrypted ?? false, directory: token.directory)
            let new = connection.acting(for: HTTPClient(user: token.user, remote: remote), sink: sink)
            acting[token.id] = new
            return (new, true)
        }
        guard let found, isNew else { return found }
        if counts { users.add(found) }
        onToken(token, found)
        return found
    }
}

/// The configuration of aria2's protocol.
public struct Aria2Configuration: Hashable, Sendable {
    /// The name of the database, as `daemon.status` answers it: GIDs of tasks follow from it.
    public var storeID: String
    /// True if clients see all downloads of their token's user, and not only those that were added through the dialect.
    public var showsAll: Bool

    public init(storeID: String, showsAll: Bool = false) {
        self.storeID = storeID
        self.showsAll = showsAll
    }
}
