/// The turns of requests, and the bytes of users. All endpoints of a daemon share them, so that a user gains nothing by
/// using several.
public final class RequestTurns: Sendable {
    /// The turns of bulk requests (`RPCService.isBulk`).
    public let bulk: BulkTurns
    /// The turns in which messages of unprivileged clients are parsed and the calls of their batches begin. However many
    /// there are, few of them wait for a thread of the executor, so that they do not delay the requests of others.
    let parsing: BulkTurns
    /// The turns of unprivileged users' requests. Without them the requests of many connections, and of batches, would
    /// wait for the database in front of the requests of others.
    let ordinary: UserTurns
    /// The turns of requests that may have long answers, in place of `ordinary`.
    let longAnswers: UserTurns
    /// The turns of unprivileged users' messages, by length. Parsed, a message takes many times its length, and what a
    /// long one requests may keep a thread busy.
    private let long = UserTurns(limit: 1)
    private let medium = UserTurns(limit: 8)
    private let short: UserTurns

    /// The bytes in memory of each user.
    let bytes: UserByteTable

    public init(_ limits: RPCLimits) {
        bytes = UserByteTable(limits)
        bulk = BulkTurns(limit: limits.bulkRequests)
        parsing = BulkTurns(limit: limits.parsedMessages, reserved: 0)
        ordinary = UserTurns(limit: limits.requestsPerUser)
        longAnswers = UserTurns(limit: min(limits.longAnswersPerUser, limits.requestsPerUser))
        short = UserTurns(limit: limits.requestsPerUser)
    }

    /// The turns in which messages of this length are parsed and carried out.
    func messages(ofLength count: Int) -> UserTurns {
        if count > Dispatcher.longMessage { return long }
        return count > Dispatcher.shortMessage ? medium : short
    }
}
