import NIOConcurrencyHelpers
package import XferModel
package import XferStore

/// The tokens in memory: a request with a token reads no table.
package final class TokenRegistry: Sendable {
    private struct State {
        var byDigest: [[UInt8]: AccessToken] = [:]
        var byID: [Int64: StoredToken] = [:]
        var onRevocation: (@Sendable (Int64) -> Void)?
    }

    private let state = NIOLockedValueBox(State())

    package init() {}

    /// Replaces the tokens; those that are missing are revoked.
    package func replaceAll(_ tokens: [StoredToken]) {
        let (gone, notify) = state.withLockedValue { state in
            let before = Set(state.byID.keys)
            state.byDigest = Dictionary(tokens.map { ($0.digest, $0.token) }) { $1 }
            state.byID = Dictionary(tokens.map { ($0.token.id, $0) }) { $1 }
            return (before.subtracting(state.byID.keys), state.onRevocation)
        }
        for id in gone { notify?(id) }
    }

    package func insert(_ stored: StoredToken) {
        state.withLockedValue { state in
            state.byDigest[stored.digest] = stored.token
            state.byID[stored.token.id] = stored
        }
    }

    package func remove(_ id: Int64) {
        let notify = state.withLockedValue { state in
            if let stored = state.byID.removeValue(forKey: id) { state.byDigest[stored.digest] = nil }
            return state.onRevocation
        }
        notify?(id)
    }

    package var all: [AccessToken] { state.withLockedValue { $0.byID.values.map(\.token) } }

    /// The token that `text` is; nil if there is none, or it has expired or was revoked.
    ///
    /// Looking a digest up takes a time that depends on stored digests, which reveals nothing of a token.
    package func token(for text: String, at now: Timestamp) -> AccessToken? {
        guard TokenText.isPlausible(text), let digest = try? TokenText.digest(text),
            let token = state.withLockedValue({ $0.byDigest[digest] }), !token.isExpired(at: now)
        else { return nil }
        return token
    }

    /// The token with this id; nil if it has expired or was revoked.
    package func token(_ id: Int64, at now: Timestamp) -> AccessToken? {
        state.withLockedValue { $0.byID[id]?.token }.flatMap { $0.isExpired(at: now) ? nil : $0 }
    }

    /// Calls `body` with the id of each token that is revoked, after it is revoked.
    package func onRevocation(_ body: @escaping @Sendable (Int64) -> Void) {
        state.withLockedValue { $0.onRevocation = body }
    }
}
