extension SharedTransfer {
    /// How a run of the transfer ended, as a waiting member receives it.
    enum Delivery: Sendable {
        case whole(WholeBody)
        /// The response to a `data` task's request.
        case answered(WholeAnswer)
        /// The server confirmed with 304 that the version the conditions name is current.
        case notModified(Confirmation)
        case failed(any Error)
        /// The member was asked to stop, or did not want the body after it saw the head.
        case left

        /// What the transfer does next.
        ///
        /// - Parameters:
        ///   - wasAskedToStop: whether the run was stopped because no task wanted the body.
        ///   - hasMembers: whether members wait whom this end does not answer, because they joined meanwhile or the
        ///     confirmation is not about their conditions.
        func successor(wasAskedToStop: Bool, hasMembers: Bool) -> Successor {
            switch self {
            case .whole, .answered: .whole
            case .notModified: hasMembers ? .again : .idle
            case .failed: .failed
            case .left: wasAskedToStop && hasMembers ? .again : .idle
            }
        }
    }

    /// What follows a run.
    enum Successor: Hashable {
        /// The body is held for members that join later.
        case whole
        /// Another run, for the members that wait.
        case again
        /// Nothing until a member asks.
        case idle
        /// As `idle`; members that ask get the failure until it is committed.
        case failed
    }
}
