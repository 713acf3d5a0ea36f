import XferManager
import XferModel
import XferProtocol

/// Handles `group.*`: decodes, authorises, calls and encodes. Every caller has groups of its own; operators may specify
/// another user's.
struct GroupHandlers: Sendable {
    let groups: GroupCommands

    var all: [Handler] {
        [
            Handler(GroupList.self, list),
            Handler(GroupGet.self) { params, context in
                GroupGet.Result(
                    try await groups.get(params.name, of: params.owner, for: context.caller.principal))
            },
            Handler(GroupSet.self, set),
            Handler(GroupPause.self) { params, context in
                GroupGet.Result(
                    try await groups.pause(
                        params.name, of: params.owner, stopsRunning: params.running, for: context.caller.principal))
            },
            Handler(GroupResume.self) { params, context in
                GroupGet.Result(
                    try await groups.resume(params.name, of: params.owner, for: context.caller.principal))
            },
            Handler(GroupRemove.self) { params, context in
                GroupRemove.Result(
                    removed: try await groups.reset(
                        params.name, of: params.owner, for: context.caller.principal))
            },
        ]
    }

    private func list(_ params: GroupList.Params, _ context: CallContext) async throws -> GroupList.Result {
        let after = try params.cursor.map(Self.key)
        // One more than requested, to know whether there is another page.
        let groups = try await groups.list(
            after: after, limit: params.limit + 1, for: context.caller.principal)
        let page = groups.prefix(params.limit)
        let next = groups.count > params.limit ? page.last.map { "\($0.key.owner):\($0.key.name)" } : nil
        return GroupList.Result(page.map { GroupRecord($0) }, nextCursor: next)
    }

    private static func key(_ cursor: String) throws -> GroupKey {
        let parts = cursor.split(separator: ":", maxSplits: 1)
        guard parts.count == 2, let uid = UInt32(parts[0], radix: 10) else {
            throw ManagerError.invalidField(
                path: "cursor", reason: "it is not from a list of groups", expected: "the next_cursor of an answer")
        }
        return GroupKey(owner: Owner(uid: uid), name: String(parts[1]))
    }

    private func set(_ params: GroupSet.Params, _ context: CallContext) async throws -> GroupGet.Result {
        GroupGet.Result(
            try await groups.setLimits(ofGroup: params.name, of: params.owner, for: context.caller.principal) {
                $0.maxActive = params.maxActive.applied(to: $0.maxActive)
                $0.maxReceiveRate = params.maxReceiveRate.applied(to: $0.maxReceiveRate)
                $0.maxSendRate = params.maxSendRate.applied(to: $0.maxSendRate)
            })
    }
}
