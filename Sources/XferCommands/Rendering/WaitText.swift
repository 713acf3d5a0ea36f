import XferModel

/// The text about a task's wait, so that every wait has a reason.
enum WaitText {
    /// The reason for which a task waits; nil if there is none.
    ///
    /// - Parameter now: the time from which a known end is counted.
    static func sentence(_ task: TaskSummary, now: Timestamp) -> String? {
        guard let reason = task.waitReason else { return nil }
        let seconds = task.waitUntil.map { max(0, Int64(saturating: now.duration(to: $0).inSeconds.rounded(.up))) }
        let span = seconds.map { " in \(DurationText.short($0))" } ?? ""
        switch WaitReason(rawValue: reason) {
        case .retry:
            let cause = task.failure.map { " after \(FailureText.cause($0))" } ?? ""
            if isForRoom(task) {
                return "until another transfer of its host has ended" + (span.isEmpty ? "" : ", or\(span)") + cause
            }
            return "next attempt\(span.isEmpty ? " soon" : span)\(cause)"
        case .network: return "for the network"
        case .schedule: return "for its time" + span
        case .insufficientSpace:
            let failure = task.failure?.reason == FailureReason.insufficientSpace.rawValue ? task.failure : nil
            let facts = failure.map { ": \(SafeText.sanitised($0.message))" } ?? ""
            return "for space on the disk\(facts)" + (span.isEmpty ? "" : "; checked again\(span)")
        case .destinationUnavailable:
            let failure = task.failure?.reason == FailureReason.destinationUnavailable.rawValue ? task.failure : nil
            let facts = failure.map { ": \(SafeText.sanitised($0.message))" }
            return "for its directory" + (facts ?? ", which is gone (an unmounted disk?)")
        case .sourceExpired: return "for a new URL: its present one has expired"
        case .dependency: return "for another task"
        case .lease: return "for its lease, which has ended"
        case .hostCooldown:
            let cause = task.waitURL.map { " by the answer to \(SafeText.sanitised($0))" } ?? ""
            return "for its host's cooldown\(cause)" + (span.isEmpty ? "" : ", retries\(span)")
        case .storage:
            guard let detail = task.waitDetail else {
                return "because the daemon cannot write its database, or a trust policy in it is damaged; "
                    + "\(SuggestedCommand.text("doctor")) says which"
            }
            return "because \(SafeText.sanitised(detail))"
        case .outOfDescriptors: return "for file descriptors: the daemon has none left"
        case .suspect:
            return "because xferd crashed twice while it ran; \(SuggestedCommand.text("resume")) retries it"
        case .queuePaused:
            return "the queue is paused; \(SuggestedCommand.ofOperator("queue resume")) resumes it"
        case .groupPaused: return "its group is paused; \(SuggestedCommand.text("group resume")) resumes it"
        case .hostFull: return "for a free place at its host"
        case .groupFull: return "for a free place in its group"
        case .profileFull: return "for a free place of its profile"
        case .queueFull: return "for a free place in the queue"
        case .runEnding: return "for the end of its previous run, which is stopping"
        case .noNode:
            guard let detail = task.waitDetail else {
                return "for a node that may take it; `xferctl fleet nodes` lists them"
            }
            return "every node declines it: \(SafeText.sanitised(detail))"
        case .nodeDown: return "for its node, which is down; `xferctl fleet nodes` shows details"
        case nil: return words(reason) + span
        }
    }

    /// True if a refusal may only mean that the host sends other files now: such a 403 is repeated when one has ended.
    private static func isForRoom(_ task: TaskSummary) -> Bool {
        guard let failure = task.failure else { return false }
        return failure.httpStatus == 403 && !failure.isRetriable && task.received == 0
    }

    /// `connect_timeout` as `connect timeout`.
    static func words(_ name: String) -> String {
        SafeText.sanitised(String(name.map { $0 == "_" ? " " : $0 }))
    }
}
