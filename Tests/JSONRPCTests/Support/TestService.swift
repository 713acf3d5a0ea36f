import JSONRPC
import NIOConcurrencyHelpers
import NIOPosix
import StrictJSON
import XferTestSupport

/// A service with one method for each thing a server has to cope with. It notes how many calls run at the same time.
final class TestService: RPCService {
    private struct State {
        var running = 0
        var maxRunning = 0
        var begun: [String] = []
        var maxWaiting = 0
        var cancelled = 0
        var released = 0
        var connections: [RPCConnection] = []
    }

    private let state = NIOLockedValueBox(State())
    private let refused: RPCError?
    /// What `hold` waits at.
    let gate = Gate()

    private let bulk: Set<String>
    private let waiting: Set<String>
    private let longAnswers: Set<String>
    private let brief: Set<String>

    private let isEverybodyPrivileged: Bool

    init(
        refusing refused: RPCError? = nil, bulk: Set<String> = [], waiting: Set<String> = [],
        longAnswers: Set<String> = [], brief: Set<String> = [], isPrivileged: Bool = false
    ) {
        self.refused = refused
        isEverybodyPrivileged = isPrivileged
        self.bulk = bulk
        self.waiting = waiting
        self.longAnswers = longAnswers
        self.brief = brief
    }

    /// The most calls that ever ran at the same time.
    var maxRunning: Int { state.withLockedValue { $0.maxRunning } }
    /// The methods called so far.
    var begun: [String] { state.withLockedValue { $0.begun } }
    /// The most bytes that waited for a client when a call began.
    var maxWaiting: Int { state.withLockedValue { $0.maxWaiting } }
    /// Calls of `hold` that ended because they were cancelled.
    var cancelled: Int { state.withLockedValue { $0.cancelled } }
    /// Calls of `hold` that ended because the gate was opened.
    var released: Int { state.withLockedValue { $0.released } }
    /// Every connection that called.
    var connections: [RPCConnection] { state.withLockedValue { $0.connections } }

    func refusal(of peer: PeerCredentials) -> RPCError? { refused }

    func isPrivileged(_ peer: PeerCredentials) -> Bool { isEverybodyPrivileged }

    func isBulk(_ method: String) -> Bool { bulk.contains(method) }

    func isWaiting(_ method: String) -> Bool { waiting.contains(method) }

    func hasLongAnswer(_ method: String) -> Bool { longAnswers.contains(method) }

    func isBrief(_ method: String) -> Bool { brief.contains(method) }

    func respond(
        to method: String, params: JSONValue?, on connection: RPCConnection
    ) async throws(RPCError) -> RPCResult {
        begin(method, on: connection)
        defer { state.withLockedValue { $0.running -= 1 } }
        switch method {
        case "echo": return .value(params ?? .null)
        case "encoded": return .encoded(Array(#"{"ready":true}"#.utf8))
        case "broken": return .encoded(Array("[\n]".utf8))
        case "big": return .value(.string(String(repeating: "x", count: Int(params?["bytes"]?.integerValue ?? 0))))
        case "fail": throw RPCError(-32001, "no such thing", data: ["reason": "not_found"])
        case "hold":
            await gate.wait()
            let isCancelled = Task.isCancelled
            state.withLockedValue { state in
                if isCancelled { state.cancelled += 1 } else { state.released += 1 }
            }
            return .value("held")
        case "linger":
            for _ in 0..<20 { await Task.yield() }
            return .value("done")
        case "place":
            await Task.yield()
            return .value(MultiThreadedEventLoopGroup.currentEventLoop == nil ? "elsewhere" : "event loop")
        case "peer": return .value(.integer(Int64(connection.peer.userID)))
        case "notify": return .value(notify(params, on: connection))
        case "subscribe":
            RPCConnection.afterAnswer { connection.notify("event", params: params ?? .null) }
            return .value("subscribed")
        default: throw .methodNotFound(method)
        }
    }

    private func begin(_ method: String, on connection: RPCConnection) {
        let waiting = connection.backlog.bytes
        state.withLockedValue { state in
            state.begun.append(method)
            state.running += 1
            state.maxRunning = max(state.maxRunning, state.running)
            state.maxWaiting = max(state.maxWaiting, waiting)
            if !state.connections.contains(where: { $0 === connection }) { state.connections.append(connection) }
        }
    }

    /// Sends `count` numbered notifications and tells what became of the last.
    private func notify(_ params: JSONValue?, on connection: RPCConnection) -> JSONValue {
        var outcome = RPCNotification.accepted
        for number in 0..<(params?["count"]?.integerValue ?? 1) {
            outcome = connection.notify("event", params: ["number": .integer(number)])
        }
        return .string("\(outcome)")
    }
}
