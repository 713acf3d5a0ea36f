package import JSONRPC
import Logging
import NIOConcurrencyHelpers
package import StrictJSON
import XferManager
import XferModel
package import XferProtocol
import XferSystem

/// Answers RPC calls: finds the caller's permissions and the method's handler.
package final class DaemonService: RPCService {
    private struct Method {
        let handler: Handler
        let figures = NIOLockedValueBox(CallFigures())
    }

    private let methods: [String: Method]
    private let access: NIOLockedValueBox<AccessPolicy>
    private let memory: MemoryCare

    /// Every one of `required` has to have exactly one handler.
    package init(
        handlers: [Handler], access: AccessPolicy, memory: MemoryCare,
        required: [any RPCMethod.Type] = MethodRegistry.all
    ) {
        methods = Dictionary(uniqueKeysWithValues: handlers.map { ($0.name, Method(handler: $0)) })
        self.access = NIOLockedValueBox(access)
        self.memory = memory
        let missing = required.map { $0.name }.filter { methods[$0] == nil }
        precondition(missing.isEmpty, "methods without a handler: \(missing)")
    }

    /// Takes effect with the next call.
    func setAccess(_ policy: AccessPolicy) { access.withLockedValue { $0 = policy } }

    package func refusal(of peer: PeerCredentials) -> RPCError? {
        // The thread is NIO's.
        FaultStack.prepare()
        do throws(AccessPolicy.Refusal) {
            _ = try caller(peer)
            return nil
        } catch {
            return Self.denied(error.description)
        }
    }

    package func isPrivileged(_ peer: PeerCredentials) -> Bool { (try? caller(peer))?.isOperator ?? false }

    package func isBulk(_ method: String) -> Bool { methods[method]?.handler.isBulk ?? false }

    package func isWaiting(_ method: String) -> Bool { methods[method]?.handler.isWaiting ?? false }

    package func hasLongAnswer(_ method: String) -> Bool { methods[method]?.handler.hasLongAnswer ?? false }

    package func isBrief(_ method: String) -> Bool { methods[method]?.handler.isBrief ?? false }

    package func respond(
        to method: String, params: JSONValue?, on connection: RPCConnection
    ) async throws(RPCError) -> RPCResult {
        guard let known = methods[method] else { throw Self.unknown(method) }
        let (handler, begunAt) = (known.handler, Clocks.monotonic())
        var hasFailed = true
        defer {
            memory.scheduleRelease()
            let duration = begunAt.duration(to: Clocks.monotonic())
            known.figures.withLockedValue { $0.record(duration, hasFailed: hasFailed) }
        }
        do {
            let caller = try caller(connection)
            guard caller.mayCall(handler.access) else { throw Self.denied("\(method) is for operators only") }
            let result = try await handler.respond(params, CallContext(caller: caller, connection: connection))
            hasFailed = false
            return .encoded(result)
        } catch let refusal as AccessPolicy.Refusal {
            throw Self.denied(refusal.description)
        } catch {
            throw ErrorAnswers.answer(to: error)
        }
    }

    /// The calls so far, by method.
    var samples: [MetricSample] {
        methods.flatMap { name, method -> [MetricSample] in
            let figures = method.figures.withLockedValue { $0 }
            guard figures.latency.count > 0 else { return [] }
            return [
                Metric.rpcCalls.sample(figures.latency.count - figures.failureCount, name, "ok"),
                Metric.rpcCalls.sample(figures.failureCount, name, "error"),
                Metric.rpcDuration.sample(figures.latency, name),
            ]
        }
    }

    /// The caller of a connection. A client on the network has its user's rights, and those of an operator only if its
    /// token's scope has them.
    package func caller(_ connection: RPCConnection) throws(AccessPolicy.Refusal) -> Caller {
        let caller = try caller(connection.peer, isLocal: connection.remote == nil)
        guard let remote = connection.remote, !remote.isPrivileged else { return caller }
        return caller.confined(to: remote.directory)
    }

    func caller(_ peer: PeerCredentials, isLocal: Bool = false) throws(AccessPolicy.Refusal) -> Caller {
        let policy = access.withLockedValue { $0 }
        return try policy.caller(
            Peer(uid: peer.userID, gid: peer.groupID, groups: peer.supplementaryGroupIDs), isLocal: isLocal)
    }

    private static func denied(_ message: String) -> RPCError {
        RPCError(
            Int(ErrorCode.permissionDenied.rawValue), message, data: ErrorData(reason: "permission_denied").wire)
    }

    private static func unknown(_ method: String) -> RPCError {
        if MethodRegistry.fleet.contains(where: { $0.name == method }) {
            return RPCError(
                RPCError.methodNotFoundCode,
                "\(method) is answered by xfer-fleet on its own socket: xferctl --fleet calls it",
                data: ErrorData(reason: "method_not_found").wire)
        }
        guard let near = MethodRegistry.suggestion(for: method) else { return .methodNotFound(method) }
        return RPCError(
            RPCError.methodNotFoundCode, "there is no method \"\(method)\", did you mean \(near)?",
            data: ErrorData(reason: "method_not_found", expected: near).wire)
    }
}

/// The calls of one method.
private struct CallFigures {
    var latency = Distribution(bounds: Metric.rpcDuration.bounds)
    var failureCount: Int64 = 0

    mutating func record(_ duration: Duration, hasFailed: Bool) {
        latency.record(duration)
        if hasFailed { failureCount = failureCount.addingSaturated(1) }
    }
}

extension Caller {
    /// The caller as a principal for the manager.
    var principal: Principal {
        var principal = Principal(
            owner: owner, isOperator: isOperator, groups: [peer.gid] + peer.groups, roots: roots, maxTasks: maxTasks,
            maxPriority: maxPriority)
        principal.confinement = confinement
        return principal
    }
}

/// Converts all errors into answers on the wire.
enum ErrorAnswers {
    static func answer(to error: any Error) -> RPCError {
        switch error {
        case let error as RPCError: error
        case let error as RPCFailure: answer(error)
        case let error as WireError: answer(RPCFailure(error))
        case let error as ManagerError: answer(error.failure)
        case is CancellationError: RPCError.internalError("the call was cancelled")
        default: RPCError.internalError("\(error)")
        }
    }

    private static func answer(_ failure: RPCFailure) -> RPCError {
        RPCError(Int(clamping: failure.code), failure.message, data: failure.data?.wire)
    }
}
