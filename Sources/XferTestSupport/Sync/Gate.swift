import Dispatch
import NIOConcurrencyHelpers

/// Stops Swift tasks until a test opens the gate. They never continue because time has passed.
///
/// With `arrived(_:)` the test waits until a task has reached the gate.
public final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var nextID = 0
        var arrivals = 0
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var blocked: [DispatchSemaphore] = []
        var observers: [(id: Int, count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = NIOLockedValueBox(State())

    public init() {}

    public var isOpen: Bool { state.withLockedValue(\.isOpen) }

    /// Lets all tasks continue, the waiting ones and later ones.
    public func open() {
        let (woken, unblocked) = state.withLockedValue { state in
            state.isOpen = true
            defer { (state.waiting, state.blocked) = ([:], []) }
            return (Array(state.waiting.values), state.blocked)
        }
        for continuation in woken { continuation.resume() }
        for semaphore in unblocked { semaphore.signal() }
    }

    /// Blocks the calling thread until the gate is open: for servers of tests, which have threads of their own.
    @available(*, noasync)
    public func block() {
        let semaphore = state.withLockedValue { state -> DispatchSemaphore? in
            guard !state.isOpen else { return nil }
            let semaphore = DispatchSemaphore(value: 0)
            state.blocked.append(semaphore)
            return semaphore
        }
        semaphore?.wait()
    }

    /// Returns when the gate is open or the calling Swift task is cancelled.
    public func wait() async {
        let id = state.withLockedValue { state in
            state.nextID += 1
            return state.nextID
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let wokenObservers = state.withLockedValue { state in
                    state.arrivals += 1
                    if state.isOpen || Task.isCancelled {
                        continuation.resume()
                    } else {
                        state.waiting[id] = continuation
                    }
                    let ready = state.observers.filter { $0.count <= state.arrivals }
                    state.observers.removeAll { $0.count <= state.arrivals }
                    return ready.map(\.continuation)
                }
                for observer in wokenObservers { observer.resume() }
            }
        } onCancel: {
            state.withLockedValue { $0.waiting.removeValue(forKey: id) }?.resume()
        }
    }

    /// Returns when `wait` has been called at least `count` times in total.
    ///
    /// After `Patience.long` it returns anyway, so that the test fails at its next expectation instead of waiting for
    /// ever.
    public func arrived(_ count: Int = 1) async {
        let id = state.withLockedValue { state in
            state.nextID += 1
            return state.nextID
        }
        let alarm = Task {
            try await Task.sleep(for: Patience.long)
            forget(observer: id)
        }
        await withCheckedContinuation { continuation in
            let isThere = state.withLockedValue { state in
                if state.arrivals < count { state.observers.append((id, count, continuation)) }
                return state.arrivals >= count
            }
            if isThere { continuation.resume() }
        }
        alarm.cancel()
    }

    private func forget(observer id: Int) {
        let observer = state.withLockedValue { state in
            state.observers.firstIndex { $0.id == id }.map { state.observers.remove(at: $0) }
        }
        observer?.continuation.resume()
    }
}
