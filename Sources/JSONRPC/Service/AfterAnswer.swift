import NIOConcurrencyHelpers

extension RPCConnection {
    /// Runs `action` once the answer to the current request (for a batch, the whole answer) is queued, so that a
    /// notification from `action` follows the answer that announces it. Call it while the request is answered.
    ///
    /// Runs `action` at once when no request is being answered or it came over HTTP, and also when the connection has
    /// closed meanwhile.
    public static func afterAnswer(_ action: @escaping @Sendable () -> Void) {
        guard let current = AfterAnswer.current, current.add(action) else {
            action()
            return
        }
    }
}

/// Actions to run once one message is answered.
final class AfterAnswer: Sendable {
    /// The actions of the message that the calling `Task` answers.
    @TaskLocal static var current: AfterAnswer?

    /// The actions that wait for the answer, or nil once the message is answered.
    private let actions = NIOLockedValueBox<[@Sendable () -> Void]?>([])

    /// Adds an action for the time after the answer; false if the message is answered already.
    func add(_ action: @escaping @Sendable () -> Void) -> Bool {
        actions.withLockedValue { actions in
            actions?.append(action)
            return actions != nil
        }
    }

    func run() {
        let actions = actions.withLockedValue { actions in
            defer { actions = nil }
            return actions ?? []
        }
        for action in actions { action() }
    }
}
