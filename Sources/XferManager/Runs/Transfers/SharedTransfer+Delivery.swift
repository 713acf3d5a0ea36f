import XferCore
import XferFiles
import XferModel

extension SharedTransfer {
    /// The end of a run of the transfer, as a waiting member receives it. Indirect, like `AttemptEvent`.
    indirect enum Delivery: Sendable {
        case whole(WholeBody)
        /// The response to a `data` task's request.
        case answered(WholeAnswer)
        /// The server confirmed with 304 that the version the conditions name is current.
        case notModified(Confirmation)
        case failed(any Error)
        /// The member was requested to stop, or did not want the body after it saw the head.
        case left

        /// The transfer's next state.
        ///
        /// - Parameters:
        ///   - wasAskedToStop: true if the run was stopped because no task wanted the body.
        ///   - hasMembers: true if members wait that this end does not answer, because they joined meanwhile or the
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

    /// The state of the transfer after a run.
    enum Successor: Hashable {
        /// The body is kept for members that join later.
        case whole
        /// Another run, for the members that wait.
        case again
        /// Nothing happens until a member requests the body.
        case idle
        /// Like `idle`, but members that request the body get the failure until it is committed.
        case failed
    }
}

/// A `304` response: the version that the request named is current.
struct Confirmation: Sendable {
    let head: ResponseHead
    let url: HTTPURL
    let times: ExchangeTimes
}

/// A body whose last byte has arrived, not yet verified.
struct WholeBody: Sendable {
    let part: PartialFile
    let length: Int64
    /// Validators, length and segments of the bytes.
    let described: ResumeData
    /// The file's metadata when its last byte had arrived; nil if the file system's metadata is not reliable.
    var facts: FileFacts?

    /// The digest that must match for the bytes to be of one version, and whole; nil where validators and lengths have
    /// proved that.
    let bindingDigest: Checksum?

    /// Throws if the open file has changed since its last byte arrived. Blocks.
    ///
    /// - Throws: `partChanged`, `closed`, `system`.
    func requireUnchanged() throws(FileError) {
        let now = try part.requireWhole(length)
        guard let facts, let now, !now.isSameContent(as: facts) else { return }
        throw .partChanged(path: part.path, problem: "it was changed after its last byte was written")
    }
}
