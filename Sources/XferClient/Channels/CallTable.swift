import NIOConcurrencyHelpers
import StrictJSON
import XferProtocol

/// The calls of one connection that the daemon has not answered.
///
/// A call that is no longer waited for keeps its entry until the answer, because the daemon still works on it.
final class CallTable: Sendable {
    /// A call, from before it is sent.
    struct Entry: Sendable {
        let id: Int64
        let answer: Arrival<JSONValue>
    }

    /// The highest number of calls of a connection. The daemon reads no more of a connection on which 64 are under way
    /// (`rpc.max_in_flight`).
    static let capacity = 32

    private struct State {
        var lastID: Int64 = 0
        var answers: [Int64: Arrival<JSONValue>] = [:]
        /// The calls in `answers` that may end unanswered.
        var abandoned: Set<Int64> = []
        /// The reason why the connection has ended.
        var end: CallError?
        var isRetired = false
    }

    private let state = NIOLockedValueBox(State())

    /// True if the connection has ended or takes no further calls.
    var isRetired: Bool { state.withLockedValue { $0.isRetired || $0.end != nil } }
    /// The reason why the connection has ended; nil before that.
    var end: CallError? { state.withLockedValue(\.end) }
    /// True if closing the connection harms no call.
    var isIdle: Bool { state.withLockedValue { $0.answers.count == $0.abandoned.count } }
    var isFull: Bool { state.withLockedValue { $0.answers.count >= Self.capacity } }

    /// Enters a call; nil if there is no room.
    func insert() -> Entry? {
        state.withLockedValue { state in
            guard !state.isRetired, state.end == nil, state.answers.count < Self.capacity else { return nil }
            state.lastID += 1
            let answer = Arrival<JSONValue>()
            state.answers[state.lastID] = answer
            return Entry(id: state.lastID, answer: answer)
        }
    }

    /// Removes a call that was not sent.
    func remove(_ entry: Entry) {
        _ = state.withLockedValue { $0.answers.removeValue(forKey: entry.id) }
    }

    /// Records that no Swift task waits for the answer, and the call changes nothing.
    func abandon(_ entry: Entry) {
        state.withLockedValue { state in
            if state.answers[entry.id] != nil { state.abandoned.insert(entry.id) }
        }
    }

    /// Takes no further calls: on this connection the daemon has been silent for too long.
    func retire() { state.withLockedValue { $0.isRetired = true } }

    /// Passes an answer to its call. An error without an id is about a message that the daemon could not read, or about
    /// the connection: it ends all calls.
    func apply(_ id: Int64?, _ answer: Result<JSONValue, RPCFailure>) {
        guard let id else {
            if case .failure(let failure) = answer { end(.refused(failure)) }
            return
        }
        let call = state.withLockedValue { state in
            state.abandoned.remove(id)
            return state.answers.removeValue(forKey: id)
        }
        call?.complete(answer.mapError { CallError.refused($0) })
    }

    /// Ends all calls. The first error is the one that counts.
    func end(_ error: CallError) {
        let ended = state.withLockedValue { state in
            if state.end == nil { state.end = error }
            defer { (state.answers, state.abandoned) = ([:], []) }
            return Array(state.answers.values)
        }
        for call in ended { call.complete(.failure(error)) }
    }
}
