import NIOConcurrencyHelpers

/// The result of `work`; nil if it takes longer than `limit`. Then the work continues, and its result is discarded.
///
/// It is meant for work that may hang, such as a path on a file system that does not answer: a task group would wait
/// for it.
func result<Value: Sendable>(
    within limit: Duration, of work: @escaping @Sendable () async throws -> Value
) async throws -> Value? {
    let waiting = NIOLockedValueBox<CheckedContinuation<Value?, any Error>?>(nil)
    let answer: @Sendable (Result<Value?, any Error>) -> Void = { result in
        let continuation = waiting.withLockedValue { waiting in
            defer { waiting = nil }
            return waiting
        }
        continuation?.resume(with: result)
    }
    return try await withCheckedThrowingContinuation { continuation in
        waiting.withLockedValue { $0 = continuation }
        let alarm = Task {
            try await Task.sleep(for: limit)
            answer(.success(nil))
        }
        Task {
            do { answer(.success(try await work())) } catch { answer(.failure(error)) }
            alarm.cancel()
        }
    }
}
