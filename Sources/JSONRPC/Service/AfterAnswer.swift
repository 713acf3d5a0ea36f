import NIOConcurrencyHelpers

extension RPCConnection {
    /// Called while a request is answered: has `action` run once the answer to its message (of a batch: to all of it)
    /// stands in line to be sent, so that a notification `action` sends comes behind the answer that announces it.
    ///
    /// Runs at once when no request is being answered or it came over HTTP, and also when the connection has closed
    /// meanwhile.
    public static func afterAnswer(_ action: @escaping @Sendable () -> Void) {
        guard let current = AfterAnswer.current, current.add(action) else {
            action()
            return
        }
    }
}

/// What is to be done once one message is answered.
final class AfterAnswer: Sendable {
    /// Of the message the calling `Task` answers.
    @TaskLocal static var current: AfterAnswer?

    /// Nil once the message is answered.
    private let actions = NIOLockedValueBox<[@Sendable () -> Void]?>([])

    /// False when the message is answered already.
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
