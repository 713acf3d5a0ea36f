import JSONRPC
import StrictJSON
import XferAria2
import XferModel
import XferProtocol

/// One client of the facade, with the rights of its token.
///
/// Its methods throw `Aria2Fault`; only `attempt` throws the service's `RPCError`.
struct Aria2Client: Sendable {
    let facade: Aria2Facade
    let connection: RPCConnection

    var seed: Aria2Seed { facade.seed }

    /// Answers a method. `system.multicall` is not among them.
    func answer(_ method: Aria2Method, _ params: Aria2Parameters) async throws -> JSONValue {
        switch method {
        case .addUri: try await addUri(params)
        case .addTorrent: throw Aria2Fault.torrents
        case .addMetalink: throw Aria2Fault.metalinks
        case .pause, .forcePause: try await perform(.pause, params)
        case .unpause: try await perform(.unpause, params)
        case .remove, .forceRemove: try await perform(.remove, params)
        case .removeDownloadResult: try await removeResult(params)
        case .pauseAll, .forcePauseAll: try await pauseAll()
        case .unpauseAll: try await unpauseAll()
        case .purgeDownloadResult: try await purgeResults()
        case .tellStatus: try await tellStatus(params)
        case .tellActive: try await tellActive(params)
        case .tellWaiting: try await tellWaiting(params)
        case .tellStopped: try await tellStopped(params)
        case .getUris: try await download(params, [.files]).uris
        case .getFiles: try await download(params, [.files]).files
        case .getServers: try await getServers(params)
        case .getPeers: try await getPeers(params)
        case .getOption: try await download(params.string(0), .all).options
        case .changePosition: try await changePosition(params)
        case .changeUri: try await changeUri(params)
        case .changeOption: try await changeOption(params)
        case .getGlobalOption: await getGlobalOption()
        case .changeGlobalOption: try await changeGlobalOption(params)
        case .getGlobalStat: try await getGlobalStat()
        case .getVersion: Self.version
        case .getSessionInfo: ["sessionId": .string(facade.sessionID)]
        // What was answered is durable: there is nothing to save.
        case .saveSession: Self.done
        case .shutdown, .forceShutdown: try await shutDown()
        case .multicall: throw Aria2Fault.noSuchMethod(method.rawValue)
        case .listMethods: .array(Aria2Method.allCases.map { .string($0.rawValue) })
        case .listNotifications: .array(Aria2Notification.allCases.map { .string($0.rawValue) })
        }
    }

    static let done: JSONValue = "OK"

    /// The version of aria2 whose protocol this is. Front-ends derive features from it.
    private static let version: JSONValue = [
        "version": "1.37.0", "enabledFeatures": ["Async DNS", "GZip", "HTTPS", "Message Digest", "XML-RPC"],
    ]

    // MARK: Calls of the service

    /// Calls a method of the service with the rights of the token, in turn if it reads or writes much.
    func attempt<Method: RPCMethod>(
        _ method: Method.Type, _ params: Method.Params
    ) async throws -> Method.Result {
        let isBulk = facade.service.isBulk(Method.name)
        let isPrivileged = facade.service.isPrivileged(connection)
        if isBulk {
            guard await facade.turns.acquire(for: connection, isPrivileged: isPrivileged) else {
                throw Aria2Fault("the connection was closed")
            }
        }
        defer { if isBulk { facade.turns.giveBack() } }
        let answer = try await facade.service.respond(to: Method.name, params: params.wire, on: connection)
        return try Self.read(answer, method)
    }

    private static func read<Method: RPCMethod>(
        _ answer: RPCResult, _ method: Method.Type
    ) throws(RPCError) -> Method.Result {
        do {
            switch answer {
            case .value(let value): return try Method.Result(lenient: value)
            case .encoded(let bytes): return try Method.Result(lenient: try JSONValue(parsing: bytes))
            }
        } catch {
            throw RPCError.internalError("the answer to \(Method.name) is not understood: \(error)")
        }
    }

    /// Calls a method of the service; its error becomes aria2's.
    func call<Method: RPCMethod>(
        _ method: Method.Type, _ params: Method.Params
    ) async throws -> Method.Result {
        do {
            return try await attempt(method, params)
        } catch let error as RPCError {
            throw Aria2Fault(error)
        }
    }

    // MARK: What the client sees

    /// The tasks that the facade shows, in these states.
    func filter(_ states: [TaskState]? = nil) -> TaskFilter {
        var filter = TaskFilter()
        filter.kind = [.download]
        filter.owner = [Owner(uid: connection.peer.userID)]
        if !facade.showsAll { filter.group = [Aria2Marker.group] }
        filter.state = states.map { OneOrMany($0) }
        return filter
    }

    /// True if the facade shows a task. The task has the columns of `Aria2Status.Key.columns`.
    func shows(_ task: TaskRecord) -> Bool {
        guard task.kind?.value == .download, task.owner?.rawValue == connection.peer.userID,
            facade.showsAll || task.group == Aria2Marker.group
        else { return false }
        return !Aria2State(task.state?.value).isStopped || facade.hidden.shows(task, to: connection.peer.userID)
    }
}

extension Aria2Fault {
    init(_ error: RPCError) { self.init(error.message) }
}

extension RPCError {
    var knownCode: ErrorCode? { ErrorCode(rawValue: Int64(clamping: code)) }
}
