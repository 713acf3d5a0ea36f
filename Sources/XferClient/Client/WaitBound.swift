import XferModel
import XferProtocol

/// The bound of a wait for tasks.
enum WaitBound {
    /// The longest duration of one call of `task.wait`: proxies end connections that are silent for long.
    static let longestCall = Duration.seconds(45)

    /// The time after its timeout at which a wait returns if the daemon does not answer.
    private static let grace = Duration.seconds(2)

    /// Runs a wait with the deadline that a timeout sets; nil is none. The wait observes the deadline itself, as long as
    /// the daemon answers.
    ///
    /// - Parameters:
    ///   - timeout: at most ten years.
    ///   - id: the task of the error `TaskError.timedOut`, if the daemon does not answer.
    static func wait<Value: Sendable>(
        for timeout: Duration?, of id: TaskID,
        _ body: @escaping @Sendable (_ deadline: ContinuousClock.Instant?) async throws -> Value
    ) async throws -> Value {
        guard let timeout else { return try await body(nil) }
        return try await withThrowingTaskGroup(of: Value?.self) { group in
            defer { group.cancelAll() }
            let deadline = ContinuousClock.now + min(timeout, .seconds(TaskLimits.longestWait))
            group.addTask { try await body(deadline) }
            group.addTask {
                try await Task.sleep(until: deadline + grace, clock: .continuous)
                return nil
            }
            guard let value = try await group.next() ?? nil else { throw TaskError.timedOut(id) }
            return value
        }
    }
}
