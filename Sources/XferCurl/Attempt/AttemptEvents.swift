import NIOConcurrencyHelpers

/// The events of one attempt in order, for a single consumer. They end after `finished`.
///
/// They are kept in an array until the consumer creates an iterator. Most brief runs end without a consumer, so they
/// need no stream.
public final class AttemptEvents: AsyncSequence, Sendable {
    public typealias Element = AttemptEvent
    public typealias Failure = Never

    private enum State {
        case gathered([AttemptEvent], areAll: Bool)
        case followed(AsyncStream<AttemptEvent>.Continuation)
    }

    private let state = NIOLockedValueBox(State.gathered([], areAll: false))

    func yield(_ event: AttemptEvent) {
        let follower = state.withLockedValue { state -> AsyncStream<AttemptEvent>.Continuation? in
            switch state {
            case .followed(let continuation):
                return continuation
            case .gathered(var events, let areAll):
                // No second reference to the array, so that it is not copied.
                state = .gathered([], areAll: areAll)
                events.append(event)
                state = .gathered(events, areAll: areAll)
                return nil
            }
        }
        follower?.yield(event)
    }

    func finish() {
        let follower = state.withLockedValue { state -> AsyncStream<AttemptEvent>.Continuation? in
            switch state {
            case .followed(let continuation):
                return continuation
            case .gathered(let events, _):
                state = .gathered(events, areAll: true)
                return nil
            }
        }
        follower?.finish()
    }

    public func makeAsyncIterator() -> AsyncStream<AttemptEvent>.Iterator {
        let (stream, continuation) = AsyncStream<AttemptEvent>.makeStream()
        state.withLockedValue { state in
            guard case .gathered(let events, let areAll) = state else { return continuation.finish() }
            for event in events { continuation.yield(event) }
            if areAll { continuation.finish() }
            state = .followed(continuation)
        }
        return stream.makeAsyncIterator()
    }
}
